import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonValue } from '../../core/json.ts';
import { noUsage } from '../../core/usage.ts';
import { ModelError } from '../model-error.ts';
import type { Message, Model, ModelRequest, ModelTurn } from '../model.ts';
import { parseCassette } from './cassette.ts';
import { CassetteWriter, RecordingModel } from './recording-model.ts';
import { ReplayModel } from './replay-model.ts';

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-cassette-'));
  file = join(dir, 'tape', 'run.jsonl');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const live = new AbortController().signal;
const turnOf = (text: string, calls: ModelTurn['calls'] = []): ModelTurn => ({
  text,
  calls,
  usage: noUsage,
  finish: 'stop',
});
const brief = (agent: string, base: number, task: string): Message => ({
  role: 'user',
  content: `Do it.\n<brief>${JSON.stringify({ role: 'worker', run: `r${base}`, agent, base, task: { id: task } })}</brief>`,
});
const request = (...messages: Message[]): ModelRequest => ({ role: 'worker', messages, tools: [] });
const result = (value: JsonValue): Message => ({
  role: 'tool',
  callId: 'c',
  name: 'read',
  content: JSON.stringify(value),
});

function recorder(...answers: (ModelTurn | ModelError)[]): Model {
  const model: Model = {
    name: 'm',
    complete: () => {
      const answer = answers.shift();
      return answer instanceof ModelError ? Promise.reject(answer) : Promise.resolve(answer ?? turnOf('none'));
    },
  };
  return new RecordingModel(model, new CassetteWriter(file));
}
const replay = (asked: ModelRequest): Promise<ModelTurn> => ReplayModel.from(file).complete(asked, live);

test('the same request has the same answer, whoever asks and when', async () => {
  const model = recorder(turnOf('one'), turnOf('two'));
  await model.complete(request(brief('worker-1', 7, 't1')), live);
  await model.complete(request(brief('worker-2', 7, 't2')), live);
  expect((await replay(request(brief('worker-9', 90, 't2')))).text).toBe('two');
  expect((await replay(request(brief('worker-4', 33, 't1')))).text).toBe('one');
});

test('positions in the log that an answer names are those of the run that it is given in', async () => {
  const read = (version: number): Message => result({ ok: true, path: 'a', version, text: 'x' });
  const commit = (expect_: number): ModelTurn['calls'][number] => ({
    id: 'c',
    name: 'commit',
    arguments: { changes: [{ path: 'a', expect: expect_, content: '7' }] },
  });
  await recorder(turnOf('', [commit(7)])).complete(request(brief('w', 7, 't'), read(7)), live);
  const turn = await replay(request(brief('w', 40, 't'), read(12)));
  expect(turn.calls).toMatchObject([{ arguments: { changes: [{ path: 'a', expect: 12, content: '7' }] } }]);
});

test('whether a commit was merged on its way is no difference, and neither is the order of reports', async () => {
  const said = (kind: string, seq: number, tasks: string[]): Message[] => [
    result({
      ok: true,
      says:
        kind === 'merged' ? `landed as seq ${seq}, merged with what others had landed in a` : `landed as seq ${seq}`,
      outcome: { kind, seq, commit: `c${seq}`, ...(kind === 'merged' && { paths: ['a'] }) },
    }),
    result({
      ok: true,
      says: `all tasks ended: 2 ${kind}`,
      seq,
      reports: tasks.map((task, at) => ({
        task,
        agent: `worker-${at}`,
        outcome: kind,
        seq: seq + at,
        handoff: { commits: [`r/${task}/1/${seq}`] },
      })),
    }),
  ];
  await recorder(turnOf('next')).complete(request(brief('p', 1, 't'), ...said('landed', 5, ['a', 'b'])), live);
  expect((await replay(request(brief('p', 2, 't'), ...said('merged', 9, ['b', 'a'])))).text).toBe('next');
});

test('a request that was made again has its answers in order; failures are answers', async () => {
  const model = recorder(new ModelError('context-overflow', 'too long', { contextTokens: 9 }), turnOf('then'));
  const asked = request(brief('w', 1, 't'));
  await expect(model.complete(asked, live)).rejects.toThrow('too long');
  await model.complete(asked, live);
  const again = ReplayModel.from(file);
  await expect(again.complete(asked, live)).rejects.toMatchObject({ code: 'context-overflow', contextTokens: 9 });
  for (let time = 0; time < 2; time++) expect((await again.complete(asked, live)).text).toBe('then');
});

test('a request that nobody recorded says where it differs', async () => {
  await recorder(turnOf('x')).complete(
    request(brief('w', 1, 't'), result({ ok: true, path: 'a', lines: [1, 2], text: 'the quick brown fox' })),
    live,
  );
  for (const [asked, says] of [
    [
      request(brief('w', 1, 't'), result({ ok: true, path: 'a', lines: [1, 2], text: 'the quick brown cat' })),
      /messages\[1\]\.content\.text, from character 0: recorded "the quick brown fox", now "the quick brown cat"/,
    ],
    [
      request(brief('w', 1, 't'), result({ ok: true, path: 'a', lines: [1, 3], text: 'the quick brown fox' })),
      /messages\[1\]\.content\.lines\[1\]: recorded 2, now 3/,
    ],
    [request(brief('w', 1, 'other')), /messages\[0\]\.content\[1\]\.task\.id.*recorded "t", now "other"/],
    [request(brief('w', 1, 't')), /messages\[1\]: the recorded request goes on/],
    [{ ...request(brief('w', 1, 't')), role: 'merger' }, /nothing of the role 'merger'/],
  ] as const) {
    const error = await replay(asked).catch((thrown: unknown) => thrown as ModelError);
    expect(error).toMatchObject({ code: 'replay-diverged', message: expect.stringMatching(says) });
  }
});

test('each message is written once; a line that a crash cut off is left out, and the next recording goes on', async () => {
  const messages = [brief('w', 1, 't')];
  for (let turn = 0; turn < 5; turn++) {
    await recorder(turnOf(`turn ${turn}`)).complete(request(...messages), live);
    messages.push(
      { role: 'assistant', content: `turn ${turn}`, calls: [] },
      { role: 'user', content: 'x'.repeat(1000) },
    );
    appendFileSync(file, '{"role":"worker","mess');
  }
  const text = readFileSync(file, 'utf8');
  expect(text.length).toBeLessThan(8000);
  expect(parseCassette(text).answers).toHaveLength(5);
  expect((await replay(request(...messages.slice(0, 5)))).text).toBe('turn 2');
});

test.each([
  ['', 'empty'],
  ['hello\n', 'line 1 of the cassette is no JSON'],
  ['{"cassette":99}\n', 'line 1 of the cassette is not of format 1'],
  ['{"cassette":1}\n{"role":1}\n', 'line 2'],
])('a file that is no cassette (%j) is refused with its line', (text, says) => {
  writeFileSync(join(dir, 'bad'), text);
  expect(() => ReplayModel.from(join(dir, 'bad'))).toThrow(says);
});
