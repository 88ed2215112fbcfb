import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import type { ModelTurn } from './model.ts';
import { ModelError } from './model-error.ts';
import type { Assembly } from './wire/assembly.ts';
import { providerError, readFault } from './wire/classify.ts';
import { readEvents, type ServerEvent } from './wire/sse.ts';

/** Of a body that is no stream. */
const bodyBytesMax = 64 * 1024;
const messageBytesMax = 64 * 1024 * 1024;

/** Reads at most so much of a body, whatever its length. */
export async function readStart(body: AsyncIterable<Uint8Array> | null, bytesMax: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    size += piece.length;
    if (size >= bytesMax) break;
  }
  return Buffer.concat(pieces).subarray(0, bytesMax).toString('utf8');
}

export const parseJson = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
};

/** One turn out of an event stream. `touch` is called for each piece of meaning. */
export async function readStream(response: Response, assembly: Assembly, touch: () => void): Promise<ModelTurn> {
  const body = await mustStream(response);
  let sawDone = false;
  let events = 0;
  for await (const event of readEvents(body)) {
    if (event === undefined || event.data.trim() === '') continue;
    events += 1;
    if (event.data.trim() === '[DONE]') {
      sawDone = true;
      break;
    }
    if (assembly.push(chunkOf(event, assembly))) touch();
  }
  if (events === 0) throw new ModelError('transport', 'the stream ended before it began', { status: response.status });
  return assembly.finish(sawDone);
}

/** One turn out of an answer that was asked for in one piece. */
export async function readWhole(response: Response, assembly: Assembly): Promise<ModelTurn> {
  const text = await readStart(response.body, messageBytesMax);
  const value = parseJson(text);
  if (!isJsonObject(value)) throw notAStream(response, text, 'a chat completion');
  assembly.push(value);
  return assembly.finish(true);
}

/** The client takes any 200 for a stream and then yields nothing: checked here, by what the body is where its type says nothing. */
async function mustStream(response: Response): Promise<AsyncIterable<Uint8Array>> {
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/event-stream\b/i.test(type) && response.body !== null) return response.body;
  if (response.body !== null && !/\b(json|html)\b/i.test(type)) {
    const [start, whole] = await peek(response.body);
    if (/^(\uFEFF|\s)*(data|event|id|retry)?:/.test(start)) return whole;
    throw notAStream(response, start, 'a stream');
  }
  throw notAStream(response, await readStart(response.body, bodyBytesMax), 'a stream');
}

/** The first piece, and all of it again. */
async function peek(body: AsyncIterable<Uint8Array>): Promise<[string, AsyncIterable<Uint8Array>]> {
  const iterator = body[Symbol.asyncIterator]();
  const first = await iterator.next();
  const start = first.done === true ? '' : Buffer.from(first.value).toString('utf8').slice(0, 1000);
  return [start, rejoin(first, iterator)];
}

async function* rejoin(
  first: IteratorResult<Uint8Array>,
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** Some send their errors as JSON with status 200. */
function notAStream(response: Response, text: string, wanted: string): ModelError {
  const value = parseJson(text);
  if (isJsonObject(value) && value['error'] !== undefined && value['error'] !== null) {
    return providerError(readFault(value, undefined), 'error with status 200');
  }
  const type = response.headers.get('content-type') ?? 'no content type';
  const start = text.slice(0, 200).replace(/\s+/g, ' ');
  return new ModelError('not-a-stream', `the endpoint answered with ${type} where ${wanted} was asked for: ${start}`, {
    status: response.status,
  });
}

function chunkOf({ name, data }: ServerEvent, assembly: Assembly): JsonObject {
  const chunk = parseJson(data);
  const { spent } = assembly;
  if (name === 'error') throw providerError(readFault(chunk ?? data, undefined), 'error inside the stream', { spent });
  if (isJsonObject(chunk)) return chunk;
  const start = data.slice(0, 100);
  throw new ModelError('malformed-stream', `a line of the stream is no JSON object: ${start}`, { spent });
}
