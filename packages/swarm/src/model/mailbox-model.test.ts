import { readFileSync, readdirSync, writeFileSync, renameSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from './fault-server.test.kit.ts';
import { MailboxModel, type MailboxOptions } from './mailbox-model.ts';
import type { ModelNotice, ModelRequest, ModelTurn } from './model.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-mailbox-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const request: ModelRequest = {
  role: 'worker',
  messages: [{ role: 'user', content: 'Do it.\n<brief>{"role":"worker","agent":"worker-3"}</brief>' }],
  tools: [{ name: 'finish', description: 'f', parameters: {} }],
};
const names = (directory: string): string[] => {
  try {
    return readdirSync(join(dir, directory)).filter((name) => !name.endsWith('.part'));
  } catch {
    return [];
  }
};
const ask = (
  more: Partial<MailboxOptions> = {},
  signal = new AbortController().signal,
  notices: ModelNotice[] = [],
): Promise<ModelTurn> =>
  new MailboxModel({ dir, pollMs: 2, ...more }).complete(request, signal, { notice: (notice) => notices.push(notice) });
function answer(value: unknown): void {
  const [name = ''] = names('requests');
  writeFileSync(join(dir, 'part'), typeof value === 'string' ? value : JSON.stringify(value));
  renameSync(join(dir, 'part'), join(dir, 'answers', name));
}

test('a request is a file, its answer another, and both are kept', async () => {
  const notices: ModelNotice[] = [];
  const turn = ask({}, undefined, notices);
  await until(() => names('requests').length === 1);
  const [name = ''] = names('requests');
  expect(name).toMatch(/^worker-3-0-[0-9a-f]{12}\.json$/);
  const written = JSON.parse(readFileSync(join(dir, 'requests', name), 'utf8')) as object;
  expect(written).toMatchObject({ ...request, answerTo: `answers/${name}`, form: expect.stringContaining('calls') });
  answer({ text: 'hm', calls: [{ name: 'finish', arguments: { status: 'done' } }] });
  expect(await turn).toMatchObject({
    text: 'hm',
    calls: [{ name: 'finish', arguments: { status: 'done' } }],
    spent: [{ model: 'mailbox' }],
  });
  expect([names('requests'), names('answers'), names('done')]).toEqual([
    [],
    [],
    [name.replace('.json', '.answer.json'), name].toSorted(),
  ]);
  expect(notices).toMatchObject([{ kind: 'waiting', reason: expect.stringContaining(name) }, { kind: 'asking' }]);
});

test.each([
  ['{"text":', 'it is no JSON'],
  [{ calls: [{ nam: 'x' }] }, 'calls.0'],
  [{ txt: 'x' }, 'txt'],
])('an answer that cannot be used (%j) is put aside with the reason, and another one awaited', async (bad, says) => {
  const turn = ask();
  await until(() => names('requests').length === 1);
  answer(bad);
  await until(() => names('refused').length === 2);
  const reason = names('refused').find((name) => name.endsWith('.txt')) ?? '';
  expect(readFileSync(join(dir, 'refused', reason), 'utf8')).toContain(says);
  answer({ text: 'good' });
  expect(await turn).toMatchObject({ text: 'good' });
});

test('an answer that was given while nobody asked is found', async () => {
  const stop = new AbortController();
  const first = ask({}, stop.signal);
  await until(() => names('requests').length === 1);
  const [name = ''] = names('requests');
  stop.abort();
  await expect(first).rejects.toMatchObject({ code: 'aborted' });
  expect(names('requests')).toEqual([]);
  writeFileSync(join(dir, 'answers', name), '{"text":"late"}');
  expect(await ask()).toMatchObject({ text: 'late' });
});

test('nobody waits for ever', async () => {
  await expect(ask({ answerMs: 5 })).rejects.toMatchObject({ code: 'unavailable' });
  expect(names('requests')).toEqual([]);
});
