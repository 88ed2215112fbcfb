import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { ModelError } from './model-error.ts';
import type { AskOptions, ModelRequest, ModelTurn } from './model.ts';
import { OpenAiModel, type OpenAiModelOptions } from './openai-model.ts';

export type Answer = (response: ServerResponse, request: IncomingMessage, body: string) => void;

export interface FaultServer {
  readonly url: string;
  /** Bodies, parsed. */
  readonly requests: Record<string, unknown>[];
  /** Requests that are being answered now, and the most that were at once. */
  readonly live: { now: number; max: number };
  answers: readonly Answer[];
}

/** A server on loopback that gives its answers in turn, the last one for ever. */
export async function faultServer(...answers: Answer[]): Promise<FaultServer> {
  const live = { now: 0, max: 0 };
  const fault: FaultServer = { url: '', requests: [], live, answers };
  const server = createServer((request, response) => {
    // The list of models.
    if (request.method === 'GET') return void response.writeHead(200).end('{}');
    const pieces: Buffer[] = [];
    live.now += 1;
    live.max = Math.max(live.max, live.now);
    response.once('close', () => (live.now -= 1));
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      const answer = fault.answers[Math.min(fault.requests.length, fault.answers.length - 1)];
      fault.requests.push(JSON.parse(body) as Record<string, unknown>);
      answer?.(response, request, body);
    });
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(fault, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
}

export const sse = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
export const line = (chunk: object | string): string =>
  `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`;
export const delta = (value: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});
export const call = (value: object): object => delta({ tool_calls: [value] });
export const streamOf =
  (...chunks: (object | string)[]): Answer =>
  (response) =>
    sse(response).end(chunks.map(line).join(''));
/** A whole good answer. */
export const says = (text: string, more: object = {}): Answer =>
  streamOf(delta({ role: 'assistant', content: text }), delta({}, 'stop'), { choices: [], ...more }, '[DONE]');
export const status =
  (code: number, body: object | string = {}, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    response
      .writeHead(code, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
export const every = (response: ServerResponse, text: string, ms = 5): void => {
  const timer = setInterval(() => response.write(text), ms);
  response.once('close', () => clearInterval(timer));
};

export const live = (): AbortSignal => new AbortController().signal;
export const request: ModelRequest = {
  role: 'worker',
  messages: [{ role: 'user', content: 'go' }],
  tools: [
    { name: 'read', description: 'r', parameters: { type: 'object' } },
    { name: 'list', description: 'l', parameters: { type: 'object' } },
  ],
};
const once = { attemptsMax: 1, delayMs: 1, delayMsMax: 5 };

export async function ask(options: Partial<OpenAiModelOptions>, ...answers: Answer[]): Promise<ModelTurn> {
  const { url } = await faultServer(...answers);
  return askAt(url, options);
}

export const askAt = (url: string, options: Partial<OpenAiModelOptions>, more: AskOptions = {}): Promise<ModelTurn> =>
  new OpenAiModel({ baseURL: url, model: 'm', retry: once, ...options }).complete(request, live(), more);

export async function failureOf(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
}

export const failure = (options: Partial<OpenAiModelOptions>, ...answers: Answer[]): Promise<ModelError> =>
  failureOf(ask(options, ...answers));

/** Waits (in real time, short) until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn++) {
    if (turn > 5000) throw new Error('it never came to hold');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
