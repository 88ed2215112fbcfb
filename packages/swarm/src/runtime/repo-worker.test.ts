import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRepo, type Repo } from '@mound/vcs';
import { agentIdOf, rootTask, type RunId, type TaskId } from '../core/ids.ts';
import { ManualTime } from '../core/manual-time.test.kit.ts';
import type { Task } from '../core/task.ts';
import { Draft } from './draft.ts';
import { RepoWorker } from './repo-worker.ts';
import type { RunContext } from './run-context.ts';
import { RunKeys } from './run-keys.ts';
import type { Claim, ClaimAnswer, TaskBook } from './task-book.ts';
import { contextOn } from './swarm.test.kit.ts';

const run = 'r1' as RunId;
const id = 't1' as TaskId;
const task: Task = { id, parent: rootTask, role: 'worker', title: 't', scope: [], brief: '', base: 0 };
const keys = new RunKeys(run);

let dir: string;
let repo: Repo;
let time: ManualTime;
let book: TaskBook;
let context: RunContext;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-worker-'));
  repo = await openRepo(dir, { create: true });
  time = new ManualTime();
  context = contextOn(repo, time, join(dir, 'work'));
  ({ book } = context);
  const records = book.creation([task]);
  await repo.land({ author: { name: 'p', kind: 'agent' }, message: 'delegate', records });
});

afterEach(async () => {
  await repo.close();
  await rm(dir, { recursive: true, force: true });
});

const claim = (number: number, takeOver = false): Promise<ClaimAnswer> => {
  const agent = agentIdOf('worker', number);
  const author = context.author(context.role('worker'), agent);
  return book.claim({ task: id, agent, author, leaseMs: 100, attempts: 0, takeOver });
};

function held(answer: ClaimAnswer): Claim {
  if (answer.kind !== 'claimed') throw new Error(`not claimed but ${answer.kind}`);
  return answer.claim;
}

const live = new AbortController().signal;
function workerOf(answer: ClaimAnswer, of: Task = task): RepoWorker {
  const own = held(answer);
  const draft = new Draft(repo, keys, of.id, context.author(context.role('worker'), own.agent));
  return new RepoWorker(context, of, own, draft, live);
}
let calls = 0;
const key = (): string => `${calls++}.0`;
const commit = (text: string, more = false): Parameters<RepoWorker['commit']>[0] => ({
  changes: [{ path: 'a', content: text }],
  message: 'm',
  more,
});
const report = (status: 'done' | 'blocked'): Parameters<RepoWorker['finish']>[0] => ({
  status,
  verifiedBy: [],
  concerns: [],
  findings: [],
  debts: [],
  deviations: [],
  outOfScope: [],
});

test('of 100 claimers of one task one wins', async () => {
  const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => claim(at)));
  const winners = answers.filter(({ kind }) => kind === 'claimed');
  expect(winners).toMatchObject([{ claim: { generation: 1 } }]);
  expect(answers.filter(({ kind }) => kind === 'lost')).toHaveLength(99);
});

test('a claim holds until its lease runs out', async () => {
  expect(held(await claim(1)).generation).toBe(1);
  expect((await claim(2)).kind).toBe('lost');
  await time.advance(100);
  expect(held(await claim(2)).generation).toBe(2);
});

test('a worker whose claim was taken over can neither land, nor finish, nor continue what it began', async () => {
  const sleeper = workerOf(await claim(1));
  expect(await sleeper.commit(commit('begun', true), key())).toMatchObject({ kind: 'landed' });
  const next = workerOf(await claim(2, true));
  expect(await sleeper.commit(commit('late'), key())).toMatchObject({ kind: 'rejected', code: 'record-stale' });
  expect(await sleeper.finish(report('blocked'), key())).toMatchObject({ kind: 'refused' });
  expect(sleeper.taskReport()).toBeUndefined();
  expect(repo.snapshot().readText('a')).toBe('begun');

  // It starts from where the first had come to.
  expect(await next.commit(commit('by the second'), key())).toMatchObject({ kind: 'landed' });
});

test('a task that has landed is done for every claimer, also where its worker never reported', async () => {
  const worker = workerOf(await claim(1));
  await worker.commit(commit('whole'), key());
  expect(worker.taskReport()).toMatchObject({
    outcome: 'landed',
    handoff: { status: 'done', commits: [expect.stringMatching(/^r1.t1.1./)] },
  });
  expect(await claim(2, true)).toMatchObject({
    kind: 'done',
    record: { operations: [expect.stringMatching(/^r1.t1.1./)] },
  });
});

test('the completion lands with the code, and a plain report needs no further write', async () => {
  const worker = workerOf(await claim(1));
  await worker.commit(commit('whole'), key());
  const { seq } = repo.snapshot();
  expect(await worker.finish(report('done'), key())).toBeUndefined();
  expect(repo.snapshot().seq).toBe(seq);
  const record = repo.snapshot().record('swarm/r1/task/t1');
  expect(record?.version).toBe(seq);
  expect(JSON.parse(record?.value.toString() ?? '')).toMatchObject({ state: 'done', generation: 1 });
  expect(repo.snapshot(seq - 1).readText('a')).toBeUndefined();
});

test('a worker sees its own landing, and stays on its snapshot for the rest', async () => {
  const worker = workerOf(await claim(1));
  await repo.put('b', 'new', { author: { name: 'Ada', kind: 'human' } });
  expect(worker.read('b')).toBeUndefined();
  await worker.commit(commit('first', true), key());
  expect(worker.read('a')).toMatchObject({ text: 'first' });
  expect(await worker.commit(commit('second'), key())).toMatchObject({ kind: 'landed' });
});
