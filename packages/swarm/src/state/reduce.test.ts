import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allOn } from '../core/coordination.ts';
import { rootTask, type AgentId, type RunId, type TaskId } from '../core/ids.ts';
import { emptyHandoff, type TaskReport } from '../core/task.ts';
import { noUsage } from '../core/usage.ts';
import type { SwarmEvent } from '../events/event.ts';
import { reduce } from './reduce.ts';
import { initialState, unsettledCount, type SwarmState } from './state.ts';

const run = (events: readonly SwarmEvent[], from: SwarmState = initialState): SwarmState => events.reduce(reduce, from);

const started: SwarmEvent = {
  kind: 'run.started',
  run: 'r' as RunId,
  goal: 'g',
  root: 'planner',
  agentsMax: 2,
  plannersMax: 2,
  taskAttemptsMax: 2,
  mergeAttemptsMax: 2,
  coordination: allOn,
  decomposing: false,
};
const reportsOf = (state: SwarmState): readonly TaskReport[] => state.planners.get(rootTask)?.reports ?? [];
const t1 = 't1' as TaskId;
const w1 = 'worker-1' as AgentId;
const w2 = 'worker-2' as AgentId;
const created: SwarmEvent = { kind: 'task.created', task: t1, parent: rootTask, plans: false, title: 't', scope: [] };
const taken = (agent: AgentId, generation = 1): SwarmEvent[] => [
  { kind: 'agent.started', agent, role: 'worker', task: t1 },
  { kind: 'task.claimed', task: t1, agent, generation },
];
const report = (agent: AgentId, more: Partial<TaskReport> = {}): SwarmEvent => ({
  kind: 'task.finished',
  task: t1,
  report: { task: t1, agent, outcome: 'landed', handoff: { ...emptyHandoff, status: 'done' }, ...more },
});
const conflicted = report(w1, { outcome: 'conflicted', conflict: 'c9', seq: 9 });
const opened: SwarmEvent = { kind: 'conflict.opened', conflict: 'c9', task: t1, paths: ['a'] };
const resolved: SwarmEvent = { kind: 'conflict.resolved', conflict: 'c9', seq: 12 };

test('a task goes from open to a report', () => {
  const running = run([started, created, ...taken(w1)]);
  expect(running.tasks.get(t1)).toMatchObject({ status: 'running', agent: w1, generation: 1 });
  const ended = run([report(w1)], running);
  expect(ended.tasks.size).toBe(0);
  expect(reportsOf(ended)).toMatchObject([{ task: t1, outcome: 'landed' }]);
});

test('a conflicted task ends when both the report and the resolution are there, in any order', () => {
  const before = run([started, created, ...taken(w1)]);
  for (const order of [
    [conflicted, opened, resolved],
    [opened, conflicted, resolved],
    [opened, resolved, conflicted],
  ]) {
    const state = run(order, before);
    expect(reportsOf(state)).toMatchObject([{ outcome: 'resolved', seq: 12, conflict: 'c9' }]);
    expect(state.conflicts.size).toBe(0);
    expect(reportsOf(run(order.slice(0, 2), before))).toEqual([]);
  }
});

test('without a merger a conflict is reported as it is', () => {
  const alone = { ...started, coordination: { ...allOn, merger: 'off' as const } };
  const state = run([alone, created, ...taken(w1), opened, conflicted]);
  expect(reportsOf(state)).toMatchObject([{ outcome: 'conflicted' }]);
  expect(state.conflicts.size).toBe(0);
});

test('a conflict that no merger can settle goes to the planner after its attempts', () => {
  const tried: SwarmEvent[] = [
    { kind: 'conflict.assigned', conflict: 'c9', agent: 'merger-1' as AgentId },
    { kind: 'conflict.unresolved', conflict: 'c9', reason: 'blocked' },
  ];
  const once = run([started, created, ...taken(w1), opened, conflicted, ...tried]);
  expect(once.conflicts.get('c9')).toMatchObject({ status: 'open', attempts: 1 });
  const twice = run(tried, once);
  expect(reportsOf(twice)).toMatchObject([{ outcome: 'conflicted', conflict: 'c9' }]);
});

test('a task is opened again, and given up after its attempts; a worker that lost it has no say', () => {
  const lost = (agent: AgentId): SwarmEvent => ({ kind: 'task.reopened', task: t1, agent, reason: 'lease' });
  const again = run([started, created, ...taken(w1), lost(w1)]);
  expect(again.queue).toMatchObject([{ id: t1, status: 'open', attempts: 1 }]);
  expect(again.tasks.size).toBe(0);
  const second = run(taken(w2, 2), again);
  expect(run([report(w1), lost(w1)], second)).toEqual(second);
  expect(reportsOf(run([lost(w2)], second))).toMatchObject([{ outcome: 'none', handoff: { status: 'failed' } }]);
});

test('a planner that ends leaves its open tasks and unread reports to its own', () => {
  const sub = 's1' as TaskId;
  const t2 = 't2' as TaskId;
  const made = (task: TaskId, parent: TaskId, plans: boolean): SwarmEvent => ({ ...created, task, parent, plans });
  const p2 = 'planner-2' as AgentId;
  const before = run([
    started,
    made(sub, rootTask, true),
    { kind: 'agent.started', agent: p2, role: 'planner', task: sub },
    made(t1, sub, false),
    made(t2, sub, false),
    ...taken(w1),
    report(w1),
  ]);
  expect(before.planners.get(sub)).toMatchObject({ unsettled: 1, reports: [{ task: t1 }] });
  expect(reportsOf(before)).toEqual([]);
  const handoff = { ...emptyHandoff, status: 'partial' as const };
  const ended = run(
    [{ kind: 'task.finished', task: sub, report: { task: sub, agent: p2, outcome: 'none', handoff } }],
    before,
  );
  expect(ended.planners.has(sub)).toBe(false);
  expect(reportsOf(ended).map(({ task }) => task)).toEqual([t1, sub]);
  expect(ended.planners.get(rootTask)).toMatchObject({ unsettled: 1 });
  expect(ended.queue).toMatchObject([{ id: t2, parent: rootTask }]);
});

test('marks on files: a freeze outweighs a flag, a thaw ends both', () => {
  const flag: SwarmEvent = { kind: 'file.flagged', path: 'a', reason: 'big' };
  const frozen = run([started, flag, { kind: 'file.frozen', path: 'a', reason: 'split' }, flag]);
  expect([...frozen.files]).toEqual([['a', 'frozen']]);
  expect(run([{ kind: 'file.thawed', path: 'a' }], frozen).files.size).toBe(0);
});

const id = fc.constantFrom('t1', 't2', 't3').map((text) => text as TaskId);
const agent = fc.constantFrom('worker-1', 'worker-2', 'merger-1').map((text) => text as AgentId);
const conflict = fc.constantFrom('c1', 'c2');
const path = fc.constantFrom('a', 'b/c');
const outcome = fc.constantFrom<TaskReport['outcome'][]>('landed', 'conflicted', 'parked', 'none');
const event: fc.Arbitrary<SwarmEvent> = fc.oneof(
  fc.record({
    kind: fc.constant('task.created' as const),
    task: id,
    parent: fc.constant(rootTask),
    plans: fc.constant(false),
    title: fc.constant('t'),
    scope: fc.array(path),
  }),
  fc.record({ kind: fc.constant('agent.started' as const), agent, role: fc.constant('worker' as const), task: id }),
  fc.record({ kind: fc.constant('task.claimed' as const), task: id, agent, generation: fc.nat(3) }),
  fc.record({ kind: fc.constant('task.reopened' as const), task: id, agent, reason: fc.constant('x') }),
  fc.tuple(id, agent, outcome, conflict).map(([task, by, result, named]): SwarmEvent => ({
    kind: 'task.finished',
    task,
    report: {
      task,
      agent: by,
      outcome: result,
      handoff: emptyHandoff,
      ...(result === 'conflicted' && { conflict: named }),
    },
  })),
  fc.record({ kind: fc.constant('conflict.opened' as const), conflict, task: id, paths: fc.array(path) }),
  fc.record({ kind: fc.constant('conflict.assigned' as const), conflict, agent }),
  fc.record({ kind: fc.constant('conflict.resolved' as const), conflict, seq: fc.nat(99) }),
  fc.record({ kind: fc.constant('conflict.unresolved' as const), conflict, reason: fc.constant('x') }),
  fc.record({ kind: fc.constantFrom('file.flagged' as const, 'file.frozen' as const), path, reason: fc.constant('x') }),
  fc.record({ kind: fc.constant('file.thawed' as const), path }),
  fc.record({
    kind: fc.constant('agent.ended' as const),
    agent,
    role: fc.constant('worker' as const),
    reason: fc.constant('finished' as const),
    turns: fc.nat(5),
    usage: fc.constant(noUsage),
  }),
  fc.constant<SwarmEvent>({ kind: 'planner.waiting', planner: rootTask, for: 'all' }),
  fc.record({ kind: fc.constant('planner.woken' as const), planner: fc.constant(rootTask), tasks: fc.array(id) }),
);

/** State as plain values, so that a changed input is seen. */
const plain = (state: SwarmState): string =>
  JSON.stringify(state, (_, value: unknown) => (value instanceof Map ? [...(value as Map<unknown, unknown>)] : value));

test('reduce is a function of its arguments: it changes none, and a replay gives the same state', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const all = [started, ...events];
      let state = initialState;
      for (const next of all) {
        const before = plain(state);
        const after = reduce(state, next);
        expect(plain(state)).toBe(before);
        state = after;
      }
      expect(plain(run(JSON.parse(JSON.stringify(all)) as SwarmEvent[]))).toBe(plain(state));
    }),
  );
});

test('no task is lost or told twice: what was created is open or in the reports', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const kept = events.filter(({ kind }) => kind !== 'planner.woken');
      // A settled id may be created again; each creation has one end.
      let creations = 0;
      let state = run([started]);
      for (const next of kept) {
        const before = unsettledCount(state);
        state = reduce(state, next);
        if (next.kind === 'task.created') creations += unsettledCount(state) - before;
      }
      expect(unsettledCount(state) + reportsOf(state).length).toBe(creations);
      const ids = [...state.queue.map((open) => open.id), ...state.tasks.keys()];
      expect(new Set(ids).size).toBe(ids.length);
      for (const { task } of state.conflicts.values()) expect(state.tasks.has(task)).toBe(true);
    }),
  );
});
