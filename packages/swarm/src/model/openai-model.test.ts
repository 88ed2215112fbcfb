import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ModelError } from './model-error.ts';
import type { ModelRequest, ModelTurn } from './model.ts';
import { OpenAiModel, type OpenAiModelOptions } from './openai-model.ts';

/** Each row is one of `provider-wire`: what servers really send. */

type Answer = (response: ServerResponse, request: IncomingMessage, body: string) => void;

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server on loopback that gives its answers in turn, the last one for ever. */
async function faultServer(...answers: Answer[]): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push(body);
      answer?.(response, request, body);
    });
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

const sse = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const line = (chunk: object | string): string =>
  `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`;
const delta = (value: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});
const call = (value: object): object => delta({ tool_calls: [value] });
const streamOf =
  (...chunks: (object | string)[]): Answer =>
  (response) =>
    sse(response).end(chunks.map(line).join(''));

const silent: Answer = (response) => void sse(response).write(line(delta({ content: 'a' })));
const every = (response: ServerResponse, text: string): void => {
  const timer = setInterval(() => response.write(text), 15);
  response.once('close', () => clearInterval(timer));
};
const never: Answer = () => undefined;
const html: Answer = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Login</h1>');
const json: Answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
const status =
  (code: number, body: object = {}): Answer =>
  (response) =>
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const pings: Answer = (response) => every(sse(response), `: ping\n\n${line(delta({}))}`);
const endless: Answer = (response) => every(sse(response), line(delta({ content: 'a' })));
const request: ModelRequest = { role: 'worker', messages: [{ role: 'user', content: 'go' }], tools: [] };
const live = (): AbortSignal => new AbortController().signal;

async function ask(options: Partial<OpenAiModelOptions>, ...answers: Answer[]): Promise<ModelTurn> {
  const { url } = await faultServer(...answers);
  const retry = { attemptsMax: 1, delayMs: 1, delayMsMax: 5 };
  return new OpenAiModel({ baseURL: url, model: 'm', retry, ...options }).complete(request, live());
}

async function failure(options: Partial<OpenAiModelOptions>, ...answers: Answer[]): Promise<ModelError> {
  const error = await ask(options, ...answers).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
}

const attempts = async (answer: Answer): Promise<[string, number]> => {
  const { url, requests } = await faultServer(answer);
  const retry = { attemptsMax: 3, delayMs: 1, delayMsMax: 5 };
  const error = await new OpenAiModel({ baseURL: url, model: 'm', retry })
    .complete(request, live())
    .catch((thrown: unknown) => thrown as ModelError);
  return [(error as ModelError).code, requests.length];
};

test('a whole answer: text, a call, the usage, over pieces cut anywhere', async () => {
  const bytes = Buffer.from(
    [
      delta({ role: 'assistant', content: 'hé' }),
      delta({ content: 'llo' }),
      call({ index: 0, id: 'a', function: { name: 'read', arguments: '{"pa' } }),
      call({ index: 0, function: { arguments: 'th":"x"}' } }),
      delta({}, 'tool_calls'),
      {
        choices: [],
        usage: { prompt_tokens: 90, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 80 } },
      },
      '[DONE]',
    ]
      .map(line)
      .join('')
      .replaceAll('\n', '\r\n'),
  );
  const turn = await ask({}, (response) => {
    sse(response);
    const send = (at: number): void => {
      if (at >= bytes.length) return void response.end();
      response.write(bytes.subarray(at, at + 7));
      setImmediate(send, at + 7);
    };
    send(0);
  });
  expect(turn).toEqual({
    text: 'héllo',
    calls: [{ id: 'a', name: 'read', arguments: { path: 'x' } }],
    usage: { inputTokens: 90, outputTokens: 9, cachedTokens: 80, estimated: false },
    finish: 'stop',
  });
});

test('row 1: arguments cut off under finish reason tool_calls are never run', async () => {
  const turn = await ask(
    {},
    streamOf(
      call({ index: 0, id: 'a', function: { name: 'read', arguments: '{"path":"src/' } }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
  );
  expect(turn.calls).toEqual([
    { id: 'a', name: 'read', arguments: {}, fault: expect.stringContaining('not complete') },
  ]);
});

test('row 2: a prefix that parses is not the call', async () => {
  const turn = await ask(
    {},
    streamOf(
      call({ index: 0, id: 'a', function: { name: 'run', arguments: '{"cmd":"rm"}' } }),
      call({ index: 0, function: { arguments: ' -i"}' } }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
  );
  expect(turn.calls[0]?.fault).toBeDefined();
  expect(turn.calls[0]?.arguments).toEqual({});
});

test('row 4: parallel calls without an index are told apart by id, or by a new name', async () => {
  const byId = await ask(
    {},
    streamOf(
      call({ id: 'a', function: { name: 'read', arguments: '{"path":' } }),
      call({ id: 'b', function: { name: 'read', arguments: '{"path":' } }),
      call({ id: 'a', function: { arguments: '"1"}' } }),
      call({ id: 'b', function: { arguments: '"2"}' } }),
      delta({}, 'tool_calls'),
    ),
  );
  expect(byId.calls.map((made) => made.arguments)).toEqual([{ path: '1' }, { path: '2' }]);
  const byName = await ask(
    {},
    streamOf(
      call({ function: { name: 'read', arguments: '{"path":' } }),
      call({ function: { arguments: '"1"}' } }),
      call({ function: { name: 'list', arguments: '{}' } }),
      delta({}, 'tool_calls'),
    ),
  );
  expect(byName.calls.map(({ name, arguments: given }) => [name, given])).toEqual([
    ['read', { path: '1' }],
    ['list', {}],
  ]);
  const sameIndex = await ask(
    {},
    streamOf(
      call({ index: 0, id: 'a', function: { name: 'read', arguments: '{"path":"1"}' } }),
      call({ index: 0, id: 'b', function: { name: 'read', arguments: '{"path":"2"}' } }),
      delta({}, 'tool_calls'),
    ),
  );
  expect(sameIndex.calls.map((made) => made.arguments)).toEqual([{ path: '1' }, { path: '2' }]);
});

test('row 7: calls with finish reason stop are calls', async () => {
  const turn = await ask(
    {},
    streamOf(call({ index: 0, id: 'a', function: { name: 'list', arguments: '{}' } }), delta({}, 'stop'), '[DONE]'),
  );
  expect(turn.calls).toHaveLength(1);
});

test('a call cut at the length limit is faulty even where it parses', async () => {
  const turn = await ask(
    {},
    streamOf(call({ index: 0, id: 'a', function: { name: 'list', arguments: '{}' } }), delta({}, 'length'), '[DONE]'),
  );
  expect(turn.calls[0]?.fault).toContain('length');
});

test('row 14: a stream without finish reason and [DONE] is a transport error, and asked again', async () => {
  const cut: Answer = (response) => {
    sse(response).write(line(delta({ content: 'half' })));
    setTimeout(() => response.destroy(), 5);
  };
  expect((await failure({}, cut)).code).toBe('transport');
  expect((await failure({}, streamOf(delta({ content: 'half' })))).code).toBe('transport');
  const whole = streamOf(delta({ content: 'whole' }, 'stop'), '[DONE]');
  const turn = await ask({ retry: { attemptsMax: 2, delayMs: 1 } }, cut, whole);
  expect(turn.text).toBe('whole');
});

test('row 15: an error inside the stream is an error; its usage is kept', async () => {
  const broken = streamOf(
    delta({ content: 'half' }),
    { choices: [], usage: { prompt_tokens: 50, completion_tokens: 1 } },
    { error: { code: 502, message: 'upstream' } },
  );
  const error = await failure({}, broken);
  expect([error.code, error.status, error.usage?.inputTokens]).toEqual(['provider', 502, 50]);
  const whole = streamOf(
    delta({ content: 'whole' }, 'stop'),
    { choices: [], usage: { prompt_tokens: 60, completion_tokens: 2 } },
    '[DONE]',
  );
  const turn = await ask({ retry: { attemptsMax: 2, delayMs: 1 } }, broken, whole);
  expect(turn.usage.inputTokens).toBe(110);
});

test('rows 16 and 17: silence and pings are idle, steady deltas are not, and the whole has its own cap', async () => {
  expect((await failure({ idleMs: 60 }, silent)).code).toBe('idle-timeout');

  expect((await failure({ idleMs: 80 }, pings)).code).toBe('idle-timeout');
  expect((await failure({ idleMs: 100, totalMs: 250 }, endless)).code).toBe('total-timeout');
  expect((await failure({ idleMs: 60 }, never)).code).toBe('idle-timeout');
});

test('row 19: no usage is estimated and marked, never 0', async () => {
  const { usage } = await ask({}, streamOf(delta({ content: 'hello' }, 'stop'), '[DONE]'));
  expect(usage.estimated).toBe(true);
  expect(usage.inputTokens).toBeGreaterThan(0);
  expect(usage.outputTokens).toBeGreaterThan(0);
});

test('row 29: a 200 that is no stream is a typed error and not asked again', async () => {
  expect((await failure({ retry: { attemptsMax: 3, delayMs: 1 } }, html)).message).toContain('Login');
  expect((await failure({}, json)).code).toBe('not-a-stream');
});

test('row 35: an empty role and a last chunk without choices are taken, a broken line is a typed error', async () => {
  const odd = streamOf(
    delta({ role: '', content: 'a' }),
    { choices: [] },
    { choices: null },
    delta({}, 'stop'),
    { choices: [], usage: null },
    '[DONE]',
  );
  expect((await ask({}, odd)).text).toBe('a');
  const broken = streamOf(delta({ content: 'a' }), '{"choices":[{"del', delta({}, 'stop'), '[DONE]');
  expect((await failure({}, broken)).code).toBe('malformed-stream');
});

test('refusals are not asked again; overload is, within its bound', async () => {
  expect(await attempts(status(401))).toEqual(['refused', 1]);
  expect(await attempts(status(503))).toEqual(['provider', 3]);
  expect(await attempts(status(429))).toEqual(['rate-limited', 3]);
  // Row 34.
  expect(await attempts(status(429, { error: { code: 'insufficient_quota', message: 'no money' } }))).toEqual([
    'refused',
    1,
  ]);
});

test('the caller can stop an answer, and a wait between two', async () => {
  const stop = new AbortController();
  const { url } = await faultServer((response) => void sse(response).write(line(delta({ content: 'a' }))));
  const answer = new OpenAiModel({ baseURL: url, model: 'm' }).complete(request, stop.signal);
  setTimeout(() => stop.abort(), 30);
  await expect(answer).rejects.toMatchObject({ code: 'aborted' });
});

test('a key comes from the variable that is named, and its absence is said', async () => {
  expect(
    () => new OpenAiModel({ baseURL: 'http://127.0.0.1:1/v1', model: 'm', apiKeyEnv: 'MOUND_NO_SUCH_KEY' }),
  ).toThrow('MOUND_NO_SUCH_KEY');
  process.env['MOUND_TEST_KEY'] = 'k1';
  const seen: (string | undefined)[] = [];
  await ask({ apiKeyEnv: 'MOUND_TEST_KEY' }, (response, incoming, body) => {
    seen.push(incoming.headers.authorization, body);
    streamOf(delta({ content: 'a' }, 'stop'), '[DONE]')(response, incoming, body);
  });
  delete process.env['MOUND_TEST_KEY'];
  expect(seen[0]).toBe('Bearer k1');
});
