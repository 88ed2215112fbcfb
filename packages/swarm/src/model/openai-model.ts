import OpenAI, { APIError } from 'openai';
import { isJsonObject } from '../core/json.ts';
import { StreamAssembly } from './assembly.ts';
import { ModelError } from './model-error.ts';
import type { Model, ModelRequest, ModelTurn } from './model.ts';
import { defaultRetryPolicy, withRetry, type RetryPolicy } from './retry.ts';
import { readEvents } from './sse.ts';
import { toWireMessage, toWireTool } from './wire.ts';

export interface OpenAiModelOptions {
  /** Up to and with `/v1`. */
  readonly baseURL: string;
  readonly model: string;
  /** NAME of the environment variable that holds the key; no key is sent without it. */
  readonly apiKeyEnv?: string;
  /** Longest silence between two pieces of an answer; pings do not count. Default 60 s. */
  readonly idleMs?: number;
  /** Longest time for one answer. Default 10 min. */
  readonly totalMs?: number;
  readonly retry?: Partial<RetryPolicy>;
}

const charactersOf = (request: ModelRequest): number =>
  request.messages.reduce((sum, message) => sum + message.content.length, 0);

/** Any OpenAI-compatible endpoint: chat completions, streamed, with own assembly and own timers. */
export class OpenAiModel implements Model {
  readonly name: string;
  readonly #client: OpenAI;
  readonly #idleMs: number;
  readonly #totalMs: number;
  readonly #retry: RetryPolicy;

  /** Errors: `key-missing`. */
  constructor(options: OpenAiModelOptions) {
    const key = options.apiKeyEnv === undefined ? 'none' : process.env[options.apiKeyEnv];
    if (key === undefined || key === '') {
      throw new ModelError('key-missing', `the environment variable ${String(options.apiKeyEnv)} holds no key`);
    }
    this.name = options.model;
    this.#idleMs = options.idleMs ?? 60_000;
    this.#totalMs = options.totalMs ?? 600_000;
    this.#retry = { ...defaultRetryPolicy, ...options.retry };
    // Given by name, so that the client takes nothing else from the environment.
    const account = { organization: null, project: null };
    this.#client = new OpenAI({
      ...account,
      apiKey: key,
      baseURL: options.baseURL,
      maxRetries: 0,
      timeout: this.#totalMs,
      logLevel: 'off',
    });
  }

  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelTurn> {
    return withRetry(this.#retry, signal, () => this.#once(request, signal));
  }

  async #once(request: ModelRequest, signal: AbortSignal): Promise<ModelTurn> {
    const timers = new AnswerTimers(signal, this.#idleMs, this.#totalMs);
    const assembly = new StreamAssembly();
    try {
      const response = await this.#client.chat.completions
        .create(
          {
            model: this.name,
            stream: true,
            stream_options: { include_usage: true },
            messages: request.messages.map(toWireMessage),
            ...(request.tools.length > 0 && { tools: request.tools.map(toWireTool) }),
          },
          { signal: timers.signal },
        )
        .asResponse();
      const body = await mustStream(response);
      let sawDone = false;
      for await (const data of readEvents(body)) {
        if (data === undefined) continue;
        if (data.trim() === '[DONE]') {
          sawDone = true;
          break;
        }
        if (assembly.push(parseChunk(data, assembly))) timers.touch();
      }
      return assembly.finish(sawDone, charactersOf(request));
    } catch (error) {
      throw timers.cause(assembly) ?? toModelError(error, assembly);
    } finally {
      timers.clear();
    }
  }
}

/** One abort signal out of three reasons: the caller, silence, and too long in all. */
class AnswerTimers {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #idleMs: number;
  readonly #onAbort = (): void => this.#controller.abort();
  readonly #total: NodeJS.Timeout;
  #idle: NodeJS.Timeout;
  #reason: 'idle-timeout' | 'total-timeout' | undefined;

  constructor(outer: AbortSignal, idleMs: number, totalMs: number) {
    this.#outer = outer;
    this.#idleMs = idleMs;
    this.#total = setTimeout(() => this.#stop('total-timeout'), totalMs);
    this.#idle = setTimeout(() => this.#stop('idle-timeout'), idleMs);
    if (outer.aborted) this.#controller.abort();
    outer.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something of meaning came. */
  touch(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#stop('idle-timeout'), this.#idleMs);
  }

  /** Why the request was aborted, or undefined where it was not. */
  cause(assembly: StreamAssembly): ModelError | undefined {
    const usage = assembly.usage;
    if (this.#outer.aborted) return new ModelError('aborted', 'aborted by the caller', { usage });
    if (this.#reason === 'idle-timeout') {
      return new ModelError('idle-timeout', `nothing of meaning came for ${this.#idleMs} ms`, { usage });
    }
    return this.#reason && new ModelError(this.#reason, 'the answer took too long', { usage });
  }

  clear(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
    this.#outer.removeEventListener('abort', this.#onAbort);
  }

  #stop(reason: 'idle-timeout' | 'total-timeout'): void {
    this.#reason ??= reason;
    this.#controller.abort();
  }
}

/** The client takes any 200 for a stream and then yields nothing: checked here. */
async function mustStream(response: Response): Promise<AsyncIterable<Uint8Array>> {
  const type = response.headers.get('content-type') ?? 'no content type';
  if (/^text\/event-stream\b/i.test(type) && response.body !== null) {
    return response.body;
  }
  const start = (await response.text()).slice(0, 200).replace(/\s+/g, ' ');
  throw new ModelError('not-a-stream', `the endpoint answered with ${type} where a stream was asked for: ${start}`, {
    status: response.status,
  });
}

function parseChunk(data: string, assembly: StreamAssembly): Parameters<StreamAssembly['push']>[0] {
  try {
    const chunk: unknown = JSON.parse(data);
    if (isJsonObject(chunk)) return chunk;
  } catch {
    // Falls through to the typed error below.
  }
  const start = data.slice(0, 100);
  throw new ModelError('malformed-stream', `a line of the stream is no JSON object: ${start}`, {
    usage: assembly.usage,
  });
}

function toModelError(error: unknown, assembly: StreamAssembly): ModelError {
  if (error instanceof ModelError) return error;
  const usage = assembly.usage;
  if (!(error instanceof APIError) || error.status === undefined) {
    const said = error instanceof Error ? error.message : String(error);
    return new ModelError('transport', `the connection failed: ${said}`, { usage, cause: error });
  }
  const status = Number(error.status);
  const code =
    status === 429 && error.code !== 'insufficient_quota'
      ? 'rate-limited'
      : status >= 500 || status === 408 || status === 409
        ? 'provider'
        : 'refused';
  const headers: unknown = error.headers;
  const wait = headers instanceof Headers ? Number(headers.get('retry-after') ?? Number.NaN) : Number.NaN;
  return new ModelError(code, error.message, {
    status,
    retryAfterMs: Number.isFinite(wait) && wait >= 0 ? wait * 1000 : undefined,
    usage,
    cause: error,
  });
}
