import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WorkerBrief } from '../core/brief.ts';
import type { RunId } from '../core/ids.ts';
import type { SwarmEvent } from '../events/event.ts';
import { MailboxModel } from '../model/mailbox-model.ts';
import type { Model } from '../model/model.ts';
import { ScriptedModel, type ScriptView, type ScriptedTurn } from '../model/scripted-model.ts';
import { shippedRoles } from '../roles/roles.ts';
import { runSwarm } from './run-swarm.ts';
import { readRun } from './run-view.ts';
import {
  call,
  clash,
  eightScripts,
  finish,
  human,
  newRepo,
  planInBatches,
  put,
  start,
  swarm,
  task,
  treeOf,
  workFromInput,
} from './swarm.test.kit.ts';

test('a task is taken from a worker that sleeps over its lease', async () => {
  const repo = await newRepo({ 'a.txt': '0' });
  const events: SwarmEvent[] = [];
  const result = await swarm(
    repo,
    {
      planner: planInBatches([task('t1', null)]),
      worker: ({ brief }) => {
        const { generation } = brief as WorkerBrief;
        if (generation === 1) return new Promise<ScriptedTurn>(() => undefined);
        return { calls: [put([{ path: 'a.txt', content: `by ${generation}` }]), finish()] };
      },
    },
    { limits: { leaseMs: 700 }, onEvent: (event) => events.push(event) },
  );
  expect(result).toMatchObject({ reason: 'finished', tasks: { created: 1, reopened: 1 } });
  expect(treeOf(repo)).toEqual({ 'a.txt': 'by 2' });
  expect(events.filter((event) => event.kind === 'task.claimed' && event.task === 't1')).toMatchObject([
    { generation: 1 },
    { generation: 2 },
  ]);
});

test('work on a frozen file is parked whole, told to the planner, and lands at the thaw', async () => {
  const repo = await newRepo({ 'big.txt': '0' });
  await repo.freeze('big.txt', { author: human, reason: 'split' });
  let outcome: unknown;
  const result = await swarm(repo, {
    planner: (view) => {
      const waited = view.results.find(({ name }) => name === 'wait');
      if (waited) outcome = (waited.value['reports'] as { outcome: string }[])[0]?.outcome;
      return (planInBatches([task('t1', [{ path: 'big.txt', content: '1' }])]) as (seen: ScriptView) => ScriptedTurn)(
        view,
      );
    },
    worker: workFromInput,
  });
  expect([outcome, result.outcomes.parked]).toEqual(['parked', 1]);
  expect(treeOf(repo)).toEqual({ 'big.txt': '0' });
  await repo.thaw('big.txt', { author: human, reason: 'done' });
  expect(treeOf(repo)).toEqual({ 'big.txt': '1' });
});

test('stopping a run is prompt, even where a model does not heed the signal', async () => {
  const repo = await newRepo({ 'a.txt': '0' });
  const stop = new AbortController();
  const deaf: Model = { name: 'deaf', complete: () => new Promise(() => undefined) };
  const planner = new ScriptedModel({ planner: planInBatches([task('t1', null), task('t2', null)]) });
  const running = runSwarm({
    repo,
    goal: 'g',
    models: { planner, worker: deaf },
    agentsMax: 2,
    signal: stop.signal,
    onEvent: ({ kind }) => {
      if (kind === 'task.claimed') setImmediate(() => stop.abort());
    },
  });
  const result = await running;
  expect(result).toMatchObject({ reason: 'aborted', tasks: { created: 2, ended: 0 } });
  const early = await runSwarm({
    repo,
    goal: 'g',
    models: { planner, worker: deaf },
    agentsMax: 1,
    signal: stop.signal,
  });
  expect(early).toMatchObject({ reason: 'aborted', tasks: { created: 0 } });
});

test('a task whose workers fail is tried again, given up, and reported', async () => {
  const repo = await newRepo();
  let reports: unknown;
  const result = await swarm(
    repo,
    {
      planner: (view) => {
        const waited = view.results.find(({ name }) => name === 'wait');
        reports = waited?.value['reports'] ?? reports;
        const plan = planInBatches([task('t1', null), task('t2', [{ path: 'ok', content: 'ok' }])]);
        return (plan as (seen: ScriptView) => ScriptedTurn)(view);
      },
      worker: (view) => {
        const { input } = view.brief as WorkerBrief;
        return input === null ? { text: 'I am thinking about it.' } : { calls: [put(input ?? []), finish()] };
      },
    },
    { limits: { taskAttemptsMax: 2 } },
  );
  expect(result).toMatchObject({ reason: 'finished', tasks: { created: 2, ended: 2, reopened: 2 } });
  expect(reports).toMatchObject([
    { task: 't2', outcome: 'landed' },
    { task: 't1', outcome: 'none', handoff: { status: 'failed', concerns: [expect.stringContaining('2 attempts')] } },
  ]);
});

test('done is what the store says: nobody is believed without it', async () => {
  const repo = await newRepo({ 'hot.txt': 'a\n0\nb\n' });
  const refusals: string[] = [];
  const keep = ({ results }: ScriptView): void => {
    refusals.push(...results.filter(({ value }) => !value.ok).map(({ value }) => value.says));
  };
  const result = await swarm(repo, {
    planner: (view) => {
      keep(view);
      if (view.turn === 0) {
        return {
          calls: [
            call('wait', {}),
            call('commit', { changes: [{ path: 'x', content: 'x' }], message: 'm' }),
            call('delegate', { tasks: [clash('t1'), clash('t2')] }),
            call('delegate', { tasks: [clash('t1')] }),
            finish(),
          ],
        };
      }
      return view.turn === 1 ? { calls: [call('wait', {})] } : { calls: [finish()] };
    },
    worker: (view) => {
      keep(view);
      const { input } = view.brief as WorkerBrief;
      const outside = put([{ path: 'other.txt', content: 'x' }]);
      return view.turn === 0 ? { calls: [finish(), outside] } : { calls: [put(input ?? []), finish()] };
    },
    merger: (view) => {
      keep(view);
      if (view.brief.role !== 'merger') throw new Error('not a merger');
      const { conflict } = view.brief;
      const resolve = (path: string, more: object = {}): ReturnType<typeof call> =>
        call('resolve', { conflict, results: [{ path, content: 'a\nboth\nb\n' }], ...more });
      if (view.turn === 0)
        return { calls: [finish(), call('read_conflict', { conflict: 'c1' }), resolve('other.txt')] };
      if (view.turn === 1) return { calls: [resolve('hot.txt'), finish()] };
      return {
        calls: [resolve('hot.txt', { otherwise: { fate: 'transformed', reason: 'one word for both' } }), finish()],
      };
    },
  });
  expect(result).toMatchObject({
    reason: 'finished',
    outcomes: { landed: 1, conflicted: 1, resolved: 1, rejected: 1 },
  });
  expect(treeOf(repo)).toEqual({ 'hot.txt': 'a\nboth\nb\n' });
  for (const says of [
    'nothing to wait for',
    'a planner does not hold it',
    't1 is taken',
    'reports came in late, 1 tasks are open',
    'nothing of this task has landed',
    'outside of your scope',
    'the store says that',
    'is not your conflict',
    'other.txt is not in conflict',
    'resolution-unaccounted',
  ]) {
    expect(refusals).toContainEqual(expect.stringContaining(says));
  }
});

test('without a merger conflicts stay open in the store', async () => {
  const repo = await newRepo(start);
  const { merger: _, ...scripts } = eightScripts;
  const result = await swarm(repo, scripts);
  expect(result).toMatchObject({ reason: 'finished', outcomes: { conflicted: 1, resolved: 0 }, tasks: { ended: 8 } });
  expect(repo.conflicts()).toHaveLength(1);
});

test('a fault of the caller or of the store ends the run for its caller, with no agent left', async () => {
  const repo = await newRepo(start);
  const events: SwarmEvent[] = [];
  const failing = swarm(repo, eightScripts, {
    onEvent: (event) => events.push(event),
    onAcknowledged: () => Promise.reject(new Error('no space for acknowledgements')),
  });
  await expect(failing).rejects.toThrow('no space for acknowledgements');
  const count = (kind: string): number => events.filter((event) => event.kind === kind).length;
  expect(count('agent.ended')).toBe(count('agent.started'));
  await expect(swarm(repo, eightScripts)).rejects.toThrow("run 'r1' cannot start");
  await expect(swarm(repo, eightScripts, { runId: 'a/b' })).rejects.toThrow(TypeError);
  await expect(swarm(repo, eightScripts, { runId: 'r2', agentsMax: 0 })).rejects.toThrow(TypeError);
  await expect(swarm(repo, {}, { runId: 'r3', models: {} })).rejects.toThrow("no model 'planner'");
  const { planner } = shippedRoles();
  const armed = { planner: { ...planner, tools: [...planner.tools, 'commit' as const] } };
  await expect(swarm(repo, eightScripts, { runId: 'r4', roles: armed })).rejects.toThrow(
    "cannot hold the tool 'commit'",
  );
});

test('a planner that fails ends the run with that reason', async () => {
  const repo = await newRepo();
  const result = await swarm(repo, { planner: [{ text: 'a' }, { text: 'b' }], worker: [] });
  expect(result).toMatchObject({
    reason: 'planner-failed',
    detail: expect.stringContaining('has no turn 2'),
    tasks: { created: 0 },
  });
});

test('a stop does not wait for an agent that is parked: it goes on from there', async () => {
  const repo = await newRepo();
  const model = new MailboxModel({ dir: join(repo.dir, 'box'), pollMs: 5 });
  const stop = new AbortController();
  const result = await runSwarm({
    repo,
    goal: 'test',
    runId: 'r1',
    models: { planner: model, worker: model },
    agentsMax: 1,
    stopSignal: stop.signal,
    onEvent: ({ kind }) => kind === 'agent.waiting' && stop.abort(),
  });
  expect(result).toMatchObject({ reason: 'aborted', roles: { planner: { turns: 0 } } });
  expect(readRun(repo, 'r1' as RunId)?.header).toMatchObject({ state: 'stopped', reason: 'aborted' });
});

test('a check is not handed out in a run that runs no commands', async () => {
  const repo = await newRepo();
  const said: string[] = [];
  const checked = { id: 't1', title: 't1', scope: [], check: 'true' };
  await swarm(repo, {
    planner: ({ turn, results }) => {
      if (turn === 0) return { calls: [call('delegate', { tasks: [checked] })] };
      said.push(results[0]?.value.says ?? '');
      return { calls: [finish()] };
    },
  });
  expect(said).toEqual([expect.stringMatching(/t1 names a check, and this run runs no commands\. .*unchecked/)]);
});
