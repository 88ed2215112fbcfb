import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { History } from './history.ts';
import type { ModelRequest } from './model.ts';
import { OpenAiModel } from './openai-model.ts';

/** Against somebody else's idea of a provider, so that not all servers in the tests are our own. */

let mock: LLMock;
beforeEach(async () => {
  mock = new LLMock({ port: 0, logLevel: 'silent' });
  await mock.start();
});
afterEach(() => mock.stop());

const live = new AbortController().signal;
const model = (): OpenAiModel =>
  new OpenAiModel({
    baseURL: `${mock.url}/v1`,
    model: 'gpt-4o-mini',
    retry: { attemptsMax: 3, delayMs: 1, delayMsMax: 5 },
  });
const asking = (content: string): ModelRequest => ({
  role: 'worker',
  messages: [{ role: 'user', content }],
  tools: [{ name: 'read', description: 'r', parameters: { type: 'object', properties: { path: { type: 'string' } } } }],
});

test('text, its usage and its finish reason', async () => {
  mock.onMessage('hello', { content: 'Hi there, 北京 🌍!' });
  const turn = await model().complete(asking('hello'), live);
  expect(turn).toMatchObject({ text: 'Hi there, 北京 🌍!', calls: [], finish: 'stop' });
  expect(turn.usage.inputTokens).toBeGreaterThan(0);
  expect(turn.usage.estimated).toBe(false);
});

test('two calls, then their results, then the last word', async () => {
  mock.on(
    { userMessage: 'look', hasToolResult: false },
    {
      toolCalls: [
        { name: 'read', arguments: '{"path":"a"}' },
        { name: 'read', arguments: '{"path":"b"}' },
      ],
    },
  );
  mock.on({ userMessage: 'look', hasToolResult: true }, { content: 'done' });
  const history = new History(...asking('look').messages);
  const turn = await model().complete(asking('look'), live);
  const calls = history.turn(turn);
  expect(calls.map((call) => call.arguments)).toEqual([{ path: 'a' }, { path: 'b' }]);
  for (const call of calls) history.answer(call, '{"ok":true}');
  expect(await model().complete({ ...asking(''), messages: history.messages() }, live)).toMatchObject({ text: 'done' });
});

test('a server error, a rate limit and a broken stream are asked again', async () => {
  mock.onMessage('again', { content: 'fine' });
  for (const status of [500, 503, 429]) {
    mock.nextRequestError(status, { message: 'no', type: 'server_error' });
    expect(await model().complete(asking('again'), live)).toMatchObject({ text: 'fine' });
  }
  mock.nextRequestError(401, { message: 'Incorrect API key', code: 'invalid_api_key' });
  await expect(model().complete(asking('again'), live)).rejects.toMatchObject({ code: 'refused', status: 401 });
});
