import { afterEach, expect, test } from 'vitest';
import { ModelError } from './model-error.ts';
import type { Model, ModelRequest, ModelTurn } from './model.ts';
import { OpenAiModel } from './openai-model.ts';
import { serveModel, type ModelServer } from './serve-model.ts';

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Takes down what it was asked and answers one turn. */
async function serve(turn: ModelTurn | ModelError): Promise<{ model: Model; url: string; asked: ModelRequest[] }> {
  const asked: ModelRequest[] = [];
  const server = await serveModel({
    name: 'echo',
    complete: (request) => {
      asked.push(request);
      return turn instanceof ModelError ? Promise.reject(turn) : Promise.resolve(turn);
    },
  });
  servers.push(server);
  const retry = { attemptsMax: 1 };
  return { model: new OpenAiModel({ baseURL: server.url, model: 'worker', retry }), url: server.url, asked };
}

const turn: ModelTurn = {
  text: 'a 😀 text',
  calls: [
    { id: 'call_0_0', name: 'commit', arguments: { message: '😀😀', changes: [{ path: 'ä', content: null }] } },
    { id: 'call_0_1', name: 'finish', arguments: {} },
  ],
  usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 3, estimated: false },
  finish: 'stop',
};
const request: ModelRequest = {
  role: 'ignored on the wire',
  messages: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
    { role: 'assistant', content: '', calls: [{ id: 'x', name: 'read', arguments: { path: 'p' } }] },
    { role: 'tool', callId: 'x', name: 'read', content: '{"ok":true}' },
    { role: 'assistant', content: 'only text', calls: [] },
  ],
  tools: [{ name: 'read', description: 'd', parameters: { type: 'object', properties: {} } }],
};
const live = new AbortController().signal;

test('a turn and a request come through the wire as they are', async () => {
  const { model, asked } = await serve(turn);
  expect(await model.complete(request, live)).toMatchObject(turn);
  expect(asked).toEqual([{ ...request, role: 'worker' }]);
});

test('an estimate is not passed on as the provider said it', async () => {
  const { model } = await serve({ ...turn, usage: { ...turn.usage, inputTokens: 99_999, estimated: true } });
  const { usage } = await model.complete(request, live);
  expect(usage.estimated).toBe(true);
  expect(usage.inputTokens).toBeLessThan(100);
});

test('a model that fails is an error of the endpoint', async () => {
  const { model } = await serve(new ModelError('script-missing', 'no script'));
  await expect(model.complete(request, live)).rejects.toMatchObject({ code: 'provider', status: 500 });
});

test('what is no streaming chat completion is refused', async () => {
  const { url } = await serve(turn);
  const post = (body: string): Promise<Response> => fetch(`${url}/chat/completions`, { method: 'POST', body });
  const statuses = await Promise.all([
    fetch(`${url}/models`).then(({ status }) => status),
    post('{').then(({ status }) => status),
    post(JSON.stringify({ model: 'm', messages: [] })).then(({ status }) => status),
    post(JSON.stringify({ model: 'm', messages: 1, stream: true })).then(({ status }) => status),
  ]);
  expect(statuses).toEqual([404, 400, 400, 400]);
  expect(new URL(url).hostname).toBe('127.0.0.1');
});

test('closing the server ends what is open', async () => {
  const server = await serveModel({ name: 'deaf', complete: () => new Promise(() => undefined) });
  const retry = { attemptsMax: 1 };
  const answer = new OpenAiModel({ baseURL: server.url, model: 'm', retry }).complete(request, live);
  setTimeout(() => void server.close(), 50);
  await expect(answer).rejects.toMatchObject({ code: 'transport' });
});
