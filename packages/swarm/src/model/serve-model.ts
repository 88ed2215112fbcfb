import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { JsonValue } from '../core/json.ts';
import { ModelError } from './model-error.ts';
import type { Message, Model, ModelRequest, ModelTurn } from './model.ts';

export interface ModelServer {
  /** Base URL for a client, up to and with `/v1`. */
  readonly url: string;
  /** Ends open connections. */
  close(): Promise<void>;
}

/** Larger requests are refused. */
const requestBytesMax = 64 * 1024 * 1024;

const wireRequest = z.object({
  model: z.string(),
  stream: z.literal(true, { error: 'this server only streams: set stream to true' }),
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.string().nullish(),
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
        .optional(),
    }),
  ),
  tools: z
    .array(
      z.object({
        function: z.object({
          name: z.string(),
          description: z.string().default(''),
          parameters: z.record(z.string(), z.unknown()).default({}),
        }),
      }),
    )
    .default([]),
});

/**
 * Any model as an OpenAI-compatible streaming endpoint on 127.0.0.1. The
 * `model` of a request is handed on as the role that asks.
 */
export async function serveModel(model: Model): Promise<ModelServer> {
  const server = createServer((request, response) => {
    answer(model, request, response).catch((error: unknown) => fail(response, error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(model: Model, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    request.resume();
    return refuse(response, 404, `no such endpoint: ${request.method} ${request.url}`);
  }
  const parsed = wireRequest.safeParse(await readJson(request));
  if (!parsed.success) return refuse(response, 400, z.prettifyError(parsed.error));
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const turn = await model.complete(fromWire(parsed.data), gone.signal);
  stream(response, turn, parsed.data.model);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > requestBytesMax) throw new ModelError('refused', 'the request is too large', { status: 413 });
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch (cause) {
    throw new ModelError('refused', 'the request is no JSON', { status: 400, cause });
  }
}

function fromWire(wire: z.output<typeof wireRequest>): ModelRequest {
  const names = new Map<string, string>();
  const messages = wire.messages.map((message): Message => {
    const content = message.content ?? '';
    if (message.role === 'tool') {
      const callId = message.tool_call_id ?? '';
      return { role: 'tool', callId, name: names.get(callId) ?? '', content };
    }
    if (message.role !== 'assistant') return { role: message.role === 'system' ? 'system' : 'user', content };
    const calls = (message.tool_calls ?? []).map((call) => {
      names.set(call.id, call.function.name);
      return {
        id: call.id,
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments) as JsonValue,
      };
    });
    return { role: 'assistant', content, calls };
  });
  return { role: wire.model, messages, tools: wire.tools.map((tool) => tool.function) };
}

function stream(response: ServerResponse, turn: ModelTurn, name: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const send = (chunk: object): void => {
    response.write(
      `data: ${JSON.stringify({ id: 'chatcmpl-0', object: 'chat.completion.chunk', model: name, ...chunk })}\n\n`,
    );
  };
  const delta = (value: object, reason: string | null = null): void =>
    send({ choices: [{ index: 0, delta: value, finish_reason: reason }] });
  delta({ role: 'assistant', content: turn.text });
  for (const [index, call] of turn.calls.entries()) {
    const text = call.fault === undefined ? JSON.stringify(call.arguments) : '';
    delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] });
    // In two pieces, as providers do.
    for (const piece of [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]) {
      delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  delta({}, turn.finish === 'length' ? 'length' : turn.calls.length > 0 ? 'tool_calls' : 'stop');
  const { inputTokens, outputTokens, cachedTokens } = turn.usage;
  // An estimate is not passed on as the provider's word.
  if (!turn.usage.estimated) {
    send({
      choices: [],
      usage: {
        prompt_tokens: inputTokens,
        completion_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
        prompt_tokens_details: { cached_tokens: cachedTokens },
      },
    });
  }
  response.end('data: [DONE]\n\n');
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'mound', code: null } }));
}

function fail(response: ServerResponse, error: unknown): void {
  refuse(response, error instanceof ModelError ? (error.status ?? 500) : 500, String(error));
}
