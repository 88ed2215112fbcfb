import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRepo, type Repo } from '@mound/vcs';
import { agentIdOf, type RunId, type TaskId } from '../core/ids.ts';
import { ManualTime } from '../core/manual-time.test.kit.ts';
import type { Task } from '../core/task.ts';
import { CostLedger } from '../cost/cost-ledger.ts';
import { PriceBook } from '../cost/prices.ts';
import { ScriptedModel } from '../model/scripted-model.ts';
import { roles } from '../roles/roles.ts';
import { Ledger, type Claim, type ClaimAnswer } from './ledger.ts';
import { RepoWorker } from './repo-worker.ts';
import { RunContext } from './run-context.ts';
import { Tally } from './tally.ts';

const run = 'r1' as RunId;
const id = 't1' as TaskId;
const task: Task = { id, title: 't', scope: [], brief: '', base: 0 };

let dir: string;
let repo: Repo;
let time: ManualTime;
let ledger: Ledger;
let context: RunContext;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-worker-'));
  repo = await openRepo(dir, { create: true });
  time = new ManualTime();
  ledger = new Ledger(repo, run, time);
  const model = new ScriptedModel({});
  context = new RunContext({
    repo,
    run,
    time,
    costs: new CostLedger(new PriceBook([], time)),
    ledger,
    tally: new Tally(),
    roles,
    models: { worker: model },
    leaseMs: 100,
    answerCharsMax: 1000,
    content: undefined,
    onAcknowledged: undefined,
  });
  await ledger.createTasks([task], { name: 'p', kind: 'agent' });
});

afterEach(async () => {
  await repo.close();
  await rm(dir, { recursive: true, force: true });
});

const claim = (number: number, takeOver = false): Promise<ClaimAnswer> => {
  const agent = agentIdOf('worker', number);
  return ledger.claim(id, agent, context.author('worker', agent), 100, takeOver);
};

function held(answer: ClaimAnswer): Claim {
  if (answer.kind !== 'claimed') throw new Error(`not claimed but ${answer.kind}`);
  return answer.claim;
}

const workerOf = (answer: ClaimAnswer): RepoWorker => new RepoWorker(context, task, held(answer));
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
  expect(await sleeper.commit(commit('begun', true))).toMatchObject({ kind: 'landed' });
  const next = workerOf(await claim(2, true));
  expect(await sleeper.commit(commit('late'))).toMatchObject({ kind: 'rejected', code: 'record-stale' });
  expect(await sleeper.finish(report('blocked'))).toMatchObject({ kind: 'refused' });
  expect(sleeper.taskReport()).toBeUndefined();
  expect(repo.snapshot().readText('a')).toBe('begun');

  expect(await next.commit(commit('by the second'))).toMatchObject({ kind: 'conflicted' });
  expect(await next.commit(commit('again'))).toMatchObject({ kind: 'refused' });
});

test('a task that has landed is done for every claimer, also where its worker never reported', async () => {
  const worker = workerOf(await claim(1));
  await worker.commit(commit('whole'));
  expect(worker.taskReport()).toMatchObject({ outcome: 'landed', handoff: { status: 'done', commits: ['r1/t1/1/1'] } });
  expect(await claim(2, true)).toMatchObject({ kind: 'done', record: { operations: ['r1/t1/1/1'] } });
});

test('the completion lands with the code, and a plain report needs no further write', async () => {
  const worker = workerOf(await claim(1));
  await worker.commit(commit('whole'));
  const { seq } = repo.snapshot();
  expect(await worker.finish(report('done'))).toBeUndefined();
  expect(repo.snapshot().seq).toBe(seq);
  const record = repo.snapshot().record('swarm/r1/task/t1');
  expect(record?.version).toBe(seq);
  expect(JSON.parse(record?.value.toString() ?? '')).toMatchObject({ state: 'done', generation: 1 });
  expect(repo.snapshot(seq - 1).readText('a')).toBeUndefined();
});

test('a report that says more is kept beside the task', async () => {
  const worker = workerOf(await claim(1));
  await worker.commit(commit('whole'));
  await worker.finish({ ...report('done'), concerns: ['slow'] });
  const [kept] = repo.snapshot().records('swarm/r1/handoff/t1');
  expect(JSON.parse(kept?.value.toString() ?? '')).toMatchObject({ concerns: ['slow'], commits: ['r1/t1/1/1'] });
});

test('a worker sees its own landing, and stays on its snapshot for the rest', async () => {
  const worker = workerOf(await claim(1));
  await repo.put('b', 'new', { author: { name: 'Ada', kind: 'human' } });
  expect(worker.read('b')).toBeUndefined();
  await worker.commit(commit('first', true));
  expect(worker.read('a')).toMatchObject({ text: 'first' });
  expect(await worker.commit(commit('second'))).toMatchObject({ kind: 'landed' });
});
