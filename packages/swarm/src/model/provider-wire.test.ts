import { expect, test } from 'vitest';
import { ManualTime } from '../core/manual-time.test.kit.ts';
import { CostLedger, formatCost } from '../cost/cost-ledger.ts';
import { PriceBook } from '../cost/prices.ts';
import {
  ask,
  askAt,
  call,
  delta,
  every,
  failure,
  failureOf,
  faultServer,
  line,
  live,
  request,
  says,
  sse,
  status,
  streamOf,
  until,
  type Answer,
} from './fault-server.test.kit.ts';
import { Endpoints } from './gate/endpoints.ts';
import { History } from './history.ts';
import type { Message, ModelNotice } from './model.ts';
import { OpenAiModel } from './openai-model.ts';

/** Rows of what servers really send; those about many agents at once are in `gate/fleet.test.ts`, those about loops in `agent/`. */

const made = (name: string, text: unknown, more: object = {}): object =>
  call({ index: 0, id: 'a', function: { name, arguments: text }, ...more });

test('a whole answer: text, a call, the usage, over pieces cut anywhere', async () => {
  const bytes = Buffer.from(
    [
      delta({ role: 'assistant', content: 'hé' }),
      delta({ content: 'llo' }),
      call({ index: 0, id: 'a', function: { name: 'read', arguments: '{"pa' } }),
      call({ index: 0, function: { arguments: 'th":"x"}' } }),
      delta({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 90, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 80 } } },
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
  const usage = { inputTokens: 90, outputTokens: 9, cachedTokens: 80, estimated: false };
  expect(turn).toEqual({
    text: 'héllo',
    calls: [{ id: 'a', name: 'read', arguments: { path: 'x' } }],
    usage,
    finish: 'stop',
    spent: [{ endpoint: expect.any(String), model: 'm', usage }],
  });
});

test.each([
  ['cut off inside a text', ['{"path":"src/']],
  ['row 2: a prefix that parses is not the call', ['{"cmd":"rm"}', ' -i"}']],
  ['two values', ['{"path":"a"}{"path":"b"}']],
  ['a comma too many (row 13)', ['{"a":1,}']],
  ['a list', ['[1,2]']],
  ['a number', ['7']],
])('rows 1, 2, 13: arguments that are no object (%s) are never run and told back', async (_, pieces) => {
  const turn = await ask(
    {},
    streamOf(
      made('read', pieces[0]),
      ...pieces.slice(1).map((text) => call({ index: 0, function: { arguments: text } })),
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
  );
  expect(turn.calls).toMatchObject([{ name: 'read', arguments: {} }]);
  expect(turn.calls[0]?.fault).toContain(pieces[0]);
});

test('row 3: the history that goes back is well-formed, whatever the model wrote', async () => {
  const strict: Answer = (response, _, body) => {
    const { messages } = JSON.parse(body) as { messages: { tool_calls?: { function: { arguments: string } }[] }[] };
    try {
      for (const { tool_calls: calls = [] } of messages) for (const one of calls) JSON.parse(one.function.arguments);
    } catch {
      return status(500)(response, _, body);
    }
    return says('fine')(response, _, body);
  };
  const server = await faultServer(streamOf(made('read', '{"path":"src/'), delta({}, 'tool_calls'), '[DONE]'), strict);
  const model = new OpenAiModel({ baseURL: server.url, model: 'm', retry: { attemptsMax: 1 } });
  const history = new History(...request.messages);
  for (let turn = 0; turn < 3; turn++) {
    const answer = await model.complete({ ...request, messages: history.messages() }, live());
    for (const one of history.turn(answer)) history.answer(one, '{"ok":false,"says":"not run"}');
  }
  expect(server.requests[2]?.['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'read', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'a', content: expect.stringContaining('not run') },
    { role: 'assistant', content: 'fine' },
  ]);
});

test.each([
  [
    'ids, in turns',
    [
      { id: 'a', function: { name: 'read', arguments: '{"path":' } },
      { id: 'b', function: { name: 'read', arguments: '{"path":' } },
      { id: 'a', function: { arguments: '"1"}' } },
      { id: 'b', function: { arguments: '"2"}' } },
    ],
  ],
  [
    'a new name',
    [
      { function: { name: 'read', arguments: '{"path":' } },
      { function: { arguments: '"1"}' } },
      { function: { name: 'list', arguments: '{"path":"2"}' } },
    ],
  ],
  [
    'the same name again, once the first is whole',
    [
      { function: { name: 'read', arguments: '{"path":"1"}' } },
      { function: { name: 'read', arguments: '{"path":"2"}' } },
    ],
  ],
  [
    'the name with every piece',
    [
      { function: { name: 'read', arguments: '{"path":' } },
      { function: { name: 'read', arguments: '"1"}' } },
      { function: { name: 'read', arguments: '{"path":' } },
      { function: { name: 'read', arguments: '"2"}' } },
    ],
  ],
  [
    'ids, under one index',
    [
      { index: 0, id: 'a', function: { name: 'read', arguments: '{"path":"1"}' } },
      { index: 0, id: 'b', function: { name: 'read', arguments: '{"path":"2"}' } },
    ],
  ],
  [
    'an index that is null, and ids',
    [
      { index: null, id: 'a', function: { name: 'read', arguments: '' } },
      { index: null, function: { arguments: '{"path":"1"}' } },
      { index: null, id: 'b', function: { name: 'read', arguments: '{"path":"2"}' } },
    ],
  ],
  [
    'an index, with an id that changes with every piece',
    [
      { index: 0, id: 'x1', function: { name: 'read', arguments: '{"path":' } },
      { index: 1, id: 'y1', function: { name: 'read', arguments: '{"path":' } },
      { index: 0, id: 'x2', function: { arguments: '"1"}' } },
      { index: 1, id: 'y2', function: { arguments: '"2"}' } },
    ],
  ],
  [
    'arguments before the name',
    [
      { function: { arguments: '{"path":' } },
      { function: { name: 'read', arguments: '"1"}' } },
      { id: 'b', function: { name: 'read', arguments: { path: '2' } } },
    ],
  ],
])('row 4: parallel calls are told apart by %s', async (_, calls) => {
  const turn = await ask({}, streamOf(...calls.map(call), delta({}, 'tool_calls'), '[DONE]'));
  expect(turn.calls.map((one) => one.arguments)).toEqual([{ path: '1' }, { path: '2' }]);
  expect(turn.calls.every(({ fault }) => fault === undefined)).toBe(true);
});

/** Two turns of two calls each, all answered, and what the third request then holds. */
async function thirdRequest(turn: object[], options: object = {}, model = 'm'): Promise<Record<string, unknown>[]> {
  const server = await faultServer(streamOf(...turn, delta({}, 'tool_calls'), '[DONE]'));
  const client = new OpenAiModel({ baseURL: server.url, model, ...options });
  const history = new History(...request.messages);
  for (let number = 0; number < 2; number++) {
    const answer = await client.complete({ ...request, messages: history.messages() }, live());
    for (const one of history.turn(answer).toReversed())
      history.answer(one, `result ${number} of ${JSON.stringify(one.arguments)}`);
  }
  const ids = history
    .messages()
    .flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id }) => id) : []));
  expect(new Set(ids).size).toBe(ids.length);
  await client.complete({ ...request, messages: history.messages() }, live());
  return server.requests[2]?.['messages'] as Record<string, unknown>[];
}

test('row 6: an id that comes again is unique inside, and itself on the wire', async () => {
  const messages = await thirdRequest([
    call({ index: 0, id: 'call_0', function: { name: 'list', arguments: '{"n":1}' } }),
  ]);
  expect(messages.slice(1)).toMatchObject([
    { tool_calls: [{ id: 'call_0' }] },
    { tool_call_id: 'call_0', content: 'result 0 of {"n":1}' },
    { tool_calls: [{ id: 'call_0' }] },
    { tool_call_id: 'call_0', content: 'result 1 of {"n":1}' },
  ]);
});

test('row 6: two calls of one turn under one id, and calls without an id, are told apart on the wire', async () => {
  for (const id of [{ id: 'x' }, {}]) {
    const messages = await thirdRequest([
      call({ index: 0, ...id, function: { name: 'list', arguments: '{"n":1}' } }),
      call({ index: 1, ...id, function: { name: 'list', arguments: '{"n":2}' } }),
    ]);
    const [first, second] = (messages[1]?.['tool_calls'] ?? []) as { id: string }[];
    expect(first?.id).not.toBe(second?.id);
    const results = messages.slice(2, 4).map((message) => [message['tool_call_id'], message['content']]);
    expect(Object.fromEntries(results)).toEqual({
      [first?.id ?? '']: 'result 0 of {"n":1}',
      [second?.id ?? '']: 'result 0 of {"n":2}',
    });
  }
});

test('ids are made to fit a provider that takes only nine letters and digits', async () => {
  const messages = await thirdRequest([call({ index: 0, id: 'call_0', function: { name: 'list', arguments: '{}' } })], {
    quirks: { callIds: 'nine-alphanumeric' },
  });
  const [one] = (messages[1]?.['tool_calls'] ?? []) as { id: string }[];
  expect(one?.id).toMatch(/^[a-z0-9]{9}$/);
  expect(messages[2]?.['tool_call_id']).toBe(one?.id);
});

test.each(['stop', 'tool_calls', 'length_unknown_word', 'eos'])(
  'row 7: calls with finish reason %s are calls',
  async (reason) => {
    const turn = await ask({}, streamOf(made('list', '{}'), delta({}, reason), '[DONE]'));
    expect(turn.calls).toMatchObject([{ name: 'list', arguments: {} }]);
    expect(turn.calls[0]?.fault).toBeUndefined();
  },
);

test('row 8: what came with a call or its message goes back as it was, grouped as it was, and to nobody else', async () => {
  const signature = { google: { thought_signature: 'c2ln' } };
  const turn = [
    delta({ content: 'hm', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'a' }] }),
    delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'b', signature: 'S' }] }),
    call({
      index: 0,
      id: 'a',
      extra_content: signature,
      function: { name: 'list', arguments: '{"n":1}', thought_signature: 'T' },
    }),
    call({ index: 1, id: 'b', function: { name: 'list', arguments: '{"n":2}' } }),
  ];
  const messages = await thirdRequest(turn);
  expect(messages[1]).toEqual({
    role: 'assistant',
    content: 'hm',
    reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'ab', signature: 'S' }],
    tool_calls: [
      {
        id: 'a',
        type: 'function',
        extra_content: signature,
        function: { name: 'list', arguments: '{"n":1}', thought_signature: 'T' },
      },
      { id: 'b', type: 'function', function: { name: 'list', arguments: '{"n":2}' } },
    ],
  });
  const history = new History(...request.messages);
  for (const one of history.turn(await ask({}, streamOf(...turn, delta({}, 'stop'))))) history.answer(one, 'r');
  const other = await faultServer(says('x'));
  const sent: Message[] = history.messages();
  await new OpenAiModel({ baseURL: other.url, model: 'm' }).complete({ ...request, messages: sent }, live());
  expect(JSON.stringify(other.requests[0])).not.toMatch(/signature|reasoning/);
});

test.each([
  ['unknown-model', {}, undefined],
  ['deepseek-chat', {}, 'one two three'],
  ['kimi-k2-thinking', {}, 'one two three'],
  ['unknown-model', { reasoning: 'echo' }, 'one two three'],
  ['kimi-k2-thinking', { reasoning: 'strip' }, undefined],
])('row 9: thoughts in pieces are kept whole; %s with %j has them back as %s', async (model, quirks, echoed) => {
  const turn = [
    delta({ reasoning_content: 'one ' }),
    delta({ reasoning_content: 'two ' }),
    delta({ reasoning_content: 'three' }),
    made('list', '{}'),
  ];
  const messages = await thirdRequest(turn, { quirks }, model);
  expect(messages[1]?.['reasoning_content']).toBe(echoed);
});

test('row 9: echoed with calls only, where that is the policy', async () => {
  const server = await faultServer(
    streamOf(delta({ reasoning_content: 'hm' }), delta({ content: 'well' }, 'stop'), '[DONE]'),
  );
  const model = new OpenAiModel({ baseURL: server.url, model: 'deepseek-chat' });
  const history = new History(...request.messages);
  history.turn(await model.complete(request, live()));
  history.say('go on');
  await model.complete({ ...request, messages: history.messages() }, live());
  expect(JSON.stringify(server.requests[1])).not.toContain('hm');
});

test.each([
  ['tagged JSON', '<tool_call>\n{"name":"read","arguments":{"path":"a"}}\n</tool_call>', [{ path: 'a' }]],
  [
    'tagged parameters',
    '<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n<parameter=n>2</parameter>\n</function>\n</tool_call>',
    [{ path: 'a', n: 2 }],
  ],
  [
    'two of them',
    'first <tool_call>{"name":"read","arguments":"{\\"path\\":\\"a\\"}"}</tool_call> then <tool_call>{"name":"list","arguments":{}}</tool_call>',
    [{ path: 'a' }, {}],
  ],
  ['inside a code fence', 'so:\n```xml\n<tool_call>{"name":"read","arguments":{}}</tool_call>\n```\n', []],
  ['inside an open fence', '~~~\n<tool_call>{"name":"read","arguments":{}}</tool_call>', []],
  ['inside a line of code', 'write `<tool_call>{"name":"read","arguments":{}}</tool_call>`', []],
  ['a tool that nobody offered', '<tool_call>{"name":"rm","arguments":{}}</tool_call>', []],
  ['no JSON', '<tool_call>{"name":"read",</tool_call>', []],
])(
  'row 11: a call written as text (%s) counts where the model is configured so, and nowhere else',
  async (_, text, calls) => {
    const answer = streamOf(delta({ content: text.slice(0, 9) }), delta({ content: text.slice(9) }, 'stop'), '[DONE]');
    const turn = await ask({ quirks: { salvageCalls: true } }, answer);
    expect(turn.calls.map((one) => one.arguments)).toEqual(calls);
    if (calls.length === 0) expect(turn.text).toBe(text);
    else expect(turn.text).not.toContain('tool_call');
    expect((await ask({}, answer)).calls).toEqual([]);
  },
);

test('a call cut at the length limit is faulty even where it parses', async () => {
  const turn = await ask({}, streamOf(made('list', '{}'), delta({}, 'length'), '[DONE]'));
  expect(turn.calls[0]?.fault).toContain('length');
  expect(turn.finish).toBe('length');
});

const cut: Answer = (response) => {
  sse(response).write(line(delta({ content: 'half' })));
  setTimeout(() => response.destroy(), 5);
};

test.each([
  ['the socket closes', cut],
  ['the stream just ends', streamOf(delta({ content: 'half' }))],
  ['the stream is empty', streamOf()],
  ['there is [DONE] and nothing else', streamOf('[DONE]')],
  ['a call is under way', streamOf(made('read', '{"path":"a"}'))],
  ['the provider broke off', streamOf(delta({ content: 'half' }), delta({}, 'network_error'), '[DONE]')],
])('row 14: where %s, it is an error, and asked again', async (_, answer) => {
  expect(['transport', 'provider']).toContain((await failure({}, answer)).code);
  const turn = await ask({ retry: { attemptsMax: 2, delayMs: 1 } }, answer, says('whole'));
  expect(turn.text).toBe('whole');
});

test.each([
  [{ error: { code: 502, message: 'upstream' } }, 'provider', 502],
  [{ error: { code: '502', message: 'upstream' } }, 'provider', 502],
  [{ error: 'internal error' }, 'provider', undefined],
  [{ error: { type: 'overloaded_error', message: 'Overloaded' } }, 'rate-limited', undefined],
  [{ error: { code: 'rate_limit_exceeded', message: 'slow down' } }, 'rate-limited', undefined],
  [{ error: { code: 'insufficient_quota', message: 'no money' } }, 'quota-exhausted', undefined],
  [{ error: { message: "This model's maximum context length is 8192 tokens" } }, 'context-overflow', undefined],
  [{ object: 'error', message: 'boom', code: 500 }, 'provider', 500],
  [
    { choices: [{ index: 0, delta: {}, error: { code: 502, message: 'gone' }, finish_reason: 'error' }] },
    'provider',
    502,
  ],
  ['event', 'provider', 500],
] as const)('row 15: an error inside a 200 stream (%j) is an error; its usage is kept', async (chunk, code, at) => {
  const spent = { choices: [], usage: { prompt_tokens: 50, completion_tokens: 1 } };
  const broken: Answer =
    chunk === 'event'
      ? (response) =>
          sse(response).end(
            `${line(delta({ content: 'a' }))}${line(spent)}event: error\n${line({ message: 'boom', code: 500 })}`,
          )
      : streamOf(delta({ content: 'half' }), spent, chunk);
  const error = await failure({}, broken);
  expect([error.code, error.status]).toEqual([code, at]);
  expect(error.spent).toMatchObject([{ model: 'm', usage: { inputTokens: 50, outputTokens: 1, estimated: false } }]);
  if (!error.isRetryable) return;
  const turn = await ask(
    { retry: { attemptsMax: 2, delayMs: 1, delayMsMax: 1 } },
    broken,
    says('whole', { usage: { prompt_tokens: 60, completion_tokens: 2 } }),
  );
  expect(turn.spent?.map(({ usage }) => usage?.inputTokens)).toEqual([50, 60]);
});

/** Moves the time while a request hangs. */
async function hanging(answer: Answer, options: object, advance: (time: ManualTime) => Promise<void>): Promise<string> {
  const time = new ManualTime();
  const server = await faultServer(answer);
  const work = failureOf(askAt(server.url, { endpoints: new Endpoints({ time }), ...options }));
  await until(() => server.requests.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 15));
  await advance(time);
  return (await work).code;
}

test.each([
  [
    'row 16: pings',
    (response) =>
      every(sse(response), `: ping\n\n${line(delta({}))}${line(delta({ content: '', role: 'assistant' }))}`),
  ],
  [
    'row 16: empty pieces of a call',
    (response) => every(sse(response), line(call({ index: 0, function: { arguments: '' } }))),
  ],
  ['row 17: one chunk, then silence', (response) => void sse(response).write(line(delta({ content: 'a' })))],
  ['headers and nothing more', (response) => sse(response).flushHeaders()],
  ['no answer at all', () => undefined],
  [
    'an HTML page that never ends',
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).write('<h1>'),
  ],
] as [string, Answer][])('%s: idle means no delta of meaning', async (_, answer) => {
  const code = await hanging(answer, { idleMs: 5000 }, async (time) => {
    await time.advance(4000);
    await new Promise((resolve) => setTimeout(resolve, 10));
    await time.advance(1500);
  });
  expect(code).toBe('idle-timeout');
});

test('rows 16 and 17: steady deltas are not idle, and the whole has its own cap', async () => {
  const endless: Answer = (response) => every(sse(response), line(delta({ content: 'a' })), 1);
  const code = await hanging(endless, { idleMs: 5000, totalMs: 20_000 }, async (time) => {
    for (let step = 0; step < 8; step++) {
      await time.advance(2600);
      await new Promise((resolve) => setTimeout(resolve, 8));
    }
  });
  expect(code).toBe('total-timeout');
});

test.each([
  ['none', {}],
  ['zeros', { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }],
  ['null', { usage: null }],
])('row 19: usage that is %s is estimated and marked, never 0; its price is marked, too', async (_, more) => {
  const { usage, spent = [] } = await ask({}, says('hello', more));
  expect(usage.estimated).toBe(true);
  expect(usage.inputTokens).toBeGreaterThan(0);
  expect(usage.outputTokens).toBeGreaterThan(0);
  const ledger = new CostLedger(new PriceBook([{ model: 'm', input: 1000, output: 1000 }], new ManualTime()));
  ledger.record({ role: 'worker', agent: 'w' }, spent);
  expect(formatCost(ledger.report().total)).toMatch(/^~\$0\.0\d*[1-9]/);
});

test('row 19: a report of the input alone leaves the output estimated', async () => {
  const { usage } = await ask({}, says('hello hello hello', { usage: { prompt_tokens: 50 } }));
  expect(usage).toMatchObject({ inputTokens: 50, estimated: true });
  expect(usage.outputTokens).toBeGreaterThan(2);
});

test('usage is found where servers put it', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 2 };
  for (const chunk of [
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage } },
    { ...delta({}, 'stop'), usage },
    { ...delta({}, 'stop'), usage: { input_tokens: 7, output_tokens: 2 } },
  ]) {
    const turn = await ask({}, streamOf(delta({ content: 'a' }), chunk, '[DONE]'));
    expect(turn.usage).toMatchObject({ inputTokens: 7, outputTokens: 2, estimated: false });
  }
});

test.each([
  [80_000, { prompt_tokens: 4000, completion_tokens: 96 }, true],
  [80_000, { prompt_tokens: 4096, completion_tokens: 60 }, true],
  [80_000, { prompt_tokens: 2000, completion_tokens: 10 }, true],
  [80_000, { prompt_tokens: 20_000, completion_tokens: 96 }, false],
  [80_000, { prompt_tokens: 16_384, completion_tokens: 10 }, false],
  [80, { prompt_tokens: 1000, completion_tokens: 24 }, false],
])('row 20: of %i characters the server counted %j: warned of %s', async (characters, usage, isWarned) => {
  const { url } = await faultServer(says('a', { usage }));
  const turn = await new OpenAiModel({ baseURL: url, model: 'm' }).complete(
    { ...request, messages: [{ role: 'user', content: 'word '.repeat(characters / 5) }] },
    live(),
  );
  expect(turn.warnings?.map(({ code }) => code)).toEqual(isWarned ? ['context-cut'] : undefined);
});

test.each([
  ['html', status(200, '<h1>Login</h1>'), 'not-a-stream', 'Login'],
  ['json', status(200, {}), 'not-a-stream', 'json'],
  [
    'a whole completion',
    status(200, { choices: [{ message: { role: 'assistant', content: 'x' } }] }),
    'not-a-stream',
    'json',
  ],
  [
    'text',
    (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('hello'),
    'not-a-stream',
    'hello',
  ],
  ['nothing', (response) => void response.writeHead(200).end(), 'not-a-stream', ''],
  ['html that says it is a stream', (response) => void sse(response).end('<h1>Login</h1>'), 'transport', ''],
  ['json with an error', status(200, { error: { code: 401, message: 'who are you' } }), 'refused', 'who are you'],
] as [string, Answer, string, string][])('row 29: a 200 that is %s is a typed error', async (_, answer, code, part) => {
  const error = await failure({}, answer);
  expect(error.code).toBe(code);
  expect(error.message).toContain(part);
});

test('a stream without its content type is a stream', async () => {
  const answer: Answer = (response) =>
    void response
      .writeHead(200, { 'content-type': 'application/octet-stream' })
      .end(line(delta({ content: 'a' }, 'stop')));
  expect((await ask({}, answer)).text).toBe('a');
});

test.each([
  ['inclusive', { prompt_tokens: 10_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 9500 } }],
  [
    'inclusive, hit and miss',
    { prompt_tokens: 10_000, completion_tokens: 100, prompt_cache_hit_tokens: 9500, prompt_cache_miss_tokens: 500 },
  ],
  ['inclusive, at the top', { prompt_tokens: 10_000, completion_tokens: 100, cached_tokens: 9500 }],
  [
    'inclusive, by the input names',
    { input_tokens: 10_000, output_tokens: 100, input_tokens_details: { cached_tokens: 9500 } },
  ],
  ['separate', { prompt_tokens: 500, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 9500 } }],
  ['separate, by the input names', { input_tokens: 500, output_tokens: 100, cache_read_input_tokens: 9500 }],
  [
    'separate, with a total',
    { prompt_tokens: 500, completion_tokens: 100, total_tokens: 10_100, cache_read_input_tokens: 9500 },
  ],
])('row 31: cached tokens, %s, are the same money', async (_, usage) => {
  const turn = await ask({ model: 'gpt-4o-mini' }, says('a', { usage }));
  const spent = (turn.spent ?? []).map((spend) => ({ ...spend, endpoint: 'https://api.openai.com/v1' }));
  const ledger = new CostLedger(new PriceBook([], new ManualTime()));
  ledger.record({ role: 'worker', agent: 'w' }, spent);
  // 500 fresh at 0.15, 9,500 cached at 0.075, 100 out at 0.60 dollars a million.
  expect(ledger.report().total).toMatchObject({ nanoUsd: 847_500, unknownRequests: 0, estimated: false });
});

test('row 31: a separate report that cannot be told from the other is so by configuration', async () => {
  const usage = { prompt_tokens: 9500, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 500 } };
  expect((await ask({}, says('a', { usage }))).usage.inputTokens).toBe(9500);
  expect((await ask({ quirks: { cachedReport: 'separate' } }, says('a', { usage }))).usage.inputTokens).toBe(10_000);
});

test.each([
  [
    429,
    {
      error: {
        code: 'insufficient_quota',
        message: 'You exceeded your current quota, please check your plan and billing details.',
      },
    },
  ],
  [429, { error: { type: 'insufficient_quota', message: 'x' } }],
  [402, { error: { message: 'Insufficient Balance' } }],
  [403, { error: { message: 'Your credit balance is too low' } }],
  [429, { error: { type: 'exceeded_current_quota_error', message: 'x' } }],
])('row 34: %i with %j is not asked again', async (code, body) => {
  const server = await faultServer(status(code, body));
  const error = await failureOf(askAt(server.url, { retry: { attemptsMax: 5, delayMs: 1, delayMsMax: 2 } }));
  expect([error.code, server.requests.length]).toEqual(['quota-exhausted', 1]);
});

test.each([
  ['an empty role', delta({ role: '', content: 'a' })],
  ['no choices', { choices: [] }],
  ['choices that are null', { choices: null }],
  ['a choice that is null', { choices: [null] }],
  ['no delta', { choices: [{ index: 0 }] }],
  ['a delta that is null', { choices: [{ index: 0, delta: null, finish_reason: null }] }],
  ['calls that are null', delta({ tool_calls: null, content: null })],
  ['a call that is null', delta({ tool_calls: [null] })],
  ['usage that is null', { choices: [], usage: null }],
  ['another choice', { choices: [{ index: 1, delta: { content: 'other' } }] }],
  ['an event without data', ''],
  ['a field that nobody knows', { ...delta({ citations: [], foo: 1 }), obfuscation: 'x' }],
])('row 35: %s is tolerated', async (_, chunk) => {
  const turn = await ask({}, streamOf(chunk, delta({ content: 'b' }), chunk, delta({}, 'stop'), chunk, '[DONE]'));
  expect(turn.text.replaceAll('a', '')).toBe('b');
  expect(turn.calls).toEqual([]);
});

test.each(['{"choices":[{"del', 'hello', '[1]', '"x"', 'null'])(
  'row 35: a line that is %s is a typed error',
  async (text) => {
    const error = await failure({}, streamOf(delta({ content: 'a' }), text, delta({}, 'stop'), '[DONE]'));
    expect(error.code).toBe('malformed-stream');
  },
);

test('row 21: a Retry-After of an hour parks the agent, visibly, and is kept to', async () => {
  const time = new ManualTime();
  const server = await faultServer(status(429, {}, { 'retry-after': '3600' }), says('at last'));
  const notices: ModelNotice[] = [];
  const work = askAt(
    server.url,
    { endpoints: new Endpoints({ time }), retry: { attemptsMax: 3 } },
    { notice: (notice) => notices.push(notice) },
  );
  await until(() => notices.length > 0);
  expect(notices).toMatchObject([{ kind: 'waiting', until: time.now() + 3_600_000 }]);
  await time.advance(3_599_000);
  expect(server.requests).toHaveLength(1);
  await time.advance(1000);
  expect((await work).text).toBe('at last');
  expect(notices.at(-1)).toEqual({ kind: 'asking' });
});

test('row 21: longer than anybody would wait is an error that says until when', async () => {
  const server = await faultServer(status(429, {}, { 'retry-after': '86400' }));
  const error = await failureOf(askAt(server.url, { retry: { attemptsMax: 3 } }));
  expect(error.code).toBe('unavailable');
  expect(error.message).toMatch(/closed until \d{4}-/);
});

test('row 26: while an agent is parked, its stall clock stands still', async () => {
  const time = new ManualTime();
  const server = await faultServer(status(429, {}, { 'retry-after': '8' }), says('fine'));
  let isParked = false;
  const work = askAt(
    server.url,
    { endpoints: new Endpoints({ time }), retry: { attemptsMax: 2 }, idleMs: 5000, totalMs: 6000 },
    { notice: ({ kind }) => (isParked = kind === 'waiting') },
  );
  await until(() => isParked);
  await time.advance(8000);
  expect((await work).text).toBe('fine');
});

test.each([
  ['m', {}, ['read', 'edit', 'write', 'patch']],
  ['gpt-5-codex', {}, ['read', 'write', 'patch']],
  ['openai/gpt-4.1-mini', {}, ['read', 'write', 'patch']],
  ['gpt-4o', {}, ['read', 'edit', 'write', 'patch']],
  ['gpt-5-codex', { edits: ['edit'] as const }, ['read', 'edit']],
])('%s with %j is offered the forms of an edit that it is good at', async (model, quirks, offered) => {
  const server = await faultServer(says('x'));
  const tools = ['read', 'edit', 'write', 'patch'].map((name) => ({ name, description: name, parameters: {} }));
  await new OpenAiModel({ baseURL: server.url, model, quirks }).complete({ ...request, tools }, live());
  const sent = server.requests[0] as unknown as { tools: { function: { name: string } }[] };
  expect(sent.tools.map((tool) => tool.function.name)).toEqual(offered);
});
