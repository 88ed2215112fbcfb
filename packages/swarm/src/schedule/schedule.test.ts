import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allOn } from '../core/coordination.ts';
import { rootTask, type AgentId, type RunId, type TaskId } from '../core/ids.ts';
import { emptyHandoff } from '../core/task.ts';
import { noUsage } from '../core/usage.ts';
import type { AgentEndReason, SwarmEvent } from '../events/event.ts';
import { reduce } from '../state/reduce.ts';
import { initialState, type SwarmState } from '../state/state.ts';
import { schedule, type Directive } from './schedule.ts';

const run = (events: readonly SwarmEvent[], from: SwarmState = initialState): SwarmState => events.reduce(reduce, from);

const started = (agentsMax: number): SwarmEvent => ({
  kind: 'run.started',
  run: 'r' as RunId,
  goal: 'g',
  root: 'planner',
  agentsMax,
  plannersMax: 4,
  taskAttemptsMax: 2,
  mergeAttemptsMax: 2,
  coordination: allOn,
  decomposing: false,
});
const planner = 'planner-1' as AgentId;
const planning: SwarmEvent = { kind: 'agent.started', agent: planner, role: 'planner', task: rootTask };
const waits: SwarmEvent = { kind: 'planner.waiting', planner: rootTask, for: 'all' };
const plannerEnds = (reason: AgentEndReason): SwarmEvent => ({
  kind: 'agent.ended',
  agent: planner,
  role: 'planner',
  reason,
  turns: 1,
  usage: noUsage,
});
const task = (id: string, ...scope: string[]): SwarmEvent => ({
  kind: 'task.created',
  task: id as TaskId,
  parent: rootTask,
  plans: false,
  title: id,
  scope,
});
const take = (id: string, number: number): SwarmEvent => ({
  kind: 'agent.started',
  agent: `worker-${number}` as AgentId,
  role: 'worker',
  task: id as TaskId,
});
const leave = (id: string, number: number): SwarmEvent[] => {
  const agent = `worker-${number}` as AgentId;
  const report = { task: id as TaskId, agent, outcome: 'landed' as const, handoff: emptyHandoff };
  return [
    { kind: 'task.finished', task: id as TaskId, report },
    { kind: 'agent.ended', agent, role: 'worker', reason: 'finished', turns: 1, usage: noUsage },
  ];
};
const opened = (id: string, of: string, ...paths: string[]): SwarmEvent => ({
  kind: 'conflict.opened',
  conflict: id,
  task: of as TaskId,
  paths,
});
const startsOf = (directives: readonly Directive[]): string[] =>
  directives.flatMap((directive) =>
    directive.kind === 'start-worker'
      ? [directive.task]
      : directive.kind === 'start-merger'
        ? [directive.conflicts.join('+')]
        : [],
  );

test('a run begins with its planner and hands tasks to as many workers as it may have', () => {
  expect(schedule(initialState)).toEqual([]);
  expect(schedule(run([started(2)]))).toEqual([{ kind: 'start-planner', task: rootTask }]);
  const given = run([started(2), planning, task('t1'), task('t2'), task('t3')]);
  expect(startsOf(schedule(given))).toEqual(['t1', 't2']);
  const busy = run([take('t1', 1), take('t2', 2)], given);
  expect(schedule(busy)).toEqual([]);
  expect(startsOf(schedule(run(leave('t1', 1), busy)))).toEqual(['t3']);
});

test('a conflict schedules a merger, before further workers; conflicts on one path go one by one', () => {
  const state = run([
    started(3),
    planning,
    ...['t1', 't2', 't3', 't4', 't5'].map((id) => task(id)),
    take('t1', 1),
    take('t2', 2),
    take('t3', 3),
    ...[1, 2, 3].map((number): SwarmEvent => ({
      kind: 'agent.ended',
      agent: `worker-${number}` as AgentId,
      role: 'worker',
      reason: 'finished',
      turns: 1,
      usage: noUsage,
    })),
    opened('c1', 't1', 'a', 'b'),
    opened('c2', 't2', 'b'),
    opened('c3', 't3', 'd'),
  ]);
  expect(schedule(state).slice(0, 2)).toEqual([
    { kind: 'start-merger', conflicts: ['c1', 'c2'] },
    { kind: 'start-merger', conflicts: ['c3'] },
  ]);
  const merging = run(
    [
      { kind: 'agent.started', agent: 'merger-1' as AgentId, role: 'merger', conflicts: ['c1'] },
      { kind: 'conflict.assigned', conflict: 'c1', agent: 'merger-1' as AgentId },
    ],
    state,
  );
  expect(startsOf(schedule(merging)).filter((id) => id.startsWith('c'))).toEqual(['c3']);
});

test('tasks that touch a flagged file go one at a time, the others at once', () => {
  const flag: SwarmEvent = { kind: 'file.flagged', path: 'src/big.ts', reason: 'megafile' };
  const tasks = [task('t1', 'src/big.ts'), task('t2', 'src'), task('t3', 'docs'), task('t4'), task('t5', 'docs')];
  const before = run([started(8), planning, ...tasks]);
  expect(startsOf(schedule(before))).toEqual(['t1', 't2', 't3', 't4', 't5']);
  const flagged = run([flag], before);
  expect(startsOf(schedule(flagged))).toEqual(['t1', 't3', 't5']);
  const one = run([take('t1', 1), take('t3', 2), take('t5', 3)], flagged);
  expect(startsOf(schedule(one))).toEqual([]);
  const next = run(leave('t1', 1), one);
  expect(startsOf(schedule(next))).toEqual(['t2']);
});

test('tasks on a frozen file are held back until it is thawed, but never for ever', () => {
  const frozen = run([
    started(8),
    planning,
    task('t1', 'src/big.ts'),
    task('t2', 'docs'),
    { kind: 'file.frozen', path: 'src/big.ts', reason: 'split' },
  ]);
  expect(startsOf(schedule(frozen))).toEqual(['t2']);
  const busy = run([take('t2', 1)], frozen);
  expect(startsOf(schedule(busy))).toEqual([]);
  expect(startsOf(schedule(run([{ kind: 'file.thawed', path: 'src/big.ts' }], busy)))).toEqual(['t1']);
  // Nobody is left who could thaw it: the store parks the work whole.
  expect(startsOf(schedule(run(leave('t2', 1), busy)))).toEqual(['t1']);
});

test('the planner is asked again when all tasks have ended, and the run ends with it', () => {
  const waiting = run([started(2), planning, task('t1'), take('t1', 1), waits]);
  expect(schedule(waiting)).toEqual([]);
  const ended = run(leave('t1', 1), waiting);
  expect(schedule(ended)).toEqual([{ kind: 'wake-planner', planner: rootTask, tasks: ['t1'] }]);
  const woken = run([{ kind: 'planner.woken', planner: rootTask, tasks: ['t1' as TaskId] }], ended);
  expect(schedule(woken)).toEqual([]);
  expect(schedule(run([plannerEnds('finished')], woken))).toEqual([{ kind: 'end-run', reason: 'finished' }]);
});

test('without its planner a run ends what it began and starts nothing', () => {
  const state = run([started(1), planning, task('t1'), task('t2'), take('t1', 1), plannerEnds('model-failed')]);
  expect(schedule(state)).toEqual([]);
  expect(schedule(run(leave('t1', 1), state))).toEqual([{ kind: 'end-run', reason: 'planner-failed' }]);
});

const subtask = (id: string, parent: string, plans: boolean, after: string[] = []): SwarmEvent => ({
  kind: 'task.created',
  task: id as TaskId,
  parent: parent as TaskId,
  plans,
  title: id,
  scope: [],
  after: after as TaskId[],
});

test('planners below planners take no slot, and are woken by their own tasks only', () => {
  const sub: SwarmEvent = {
    kind: 'agent.started',
    agent: 'planner-2' as AgentId,
    role: 'planner',
    task: 's1' as TaskId,
  };
  const state = run([started(1), planning, subtask('s1', 'root', true), task('t1'), waits]);
  expect(schedule(state)).toEqual([
    { kind: 'start-planner', task: 's1' },
    { kind: 'start-worker', task: 't1' },
  ]);
  const waiting: SwarmEvent = { kind: 'planner.waiting', planner: 's1' as TaskId, for: 'any' };
  const deep = run([sub, take('t1', 1), subtask('t2', 's1', false), subtask('t3', 's1', false), waiting], state);
  const next = run(leave('t1', 1), deep);
  // The goal's planner waits for all: s1 is still open.
  expect(schedule(next)).toEqual([{ kind: 'start-worker', task: 't2' }]);
  const one = run([take('t2', 1), ...leave('t2', 1)], next);
  expect(schedule(one)).toEqual([
    { kind: 'start-worker', task: 't3' },
    { kind: 'wake-planner', planner: 's1', tasks: ['t2'] },
  ]);
});

test('no more planners work at once than may; those that wait do not count', () => {
  const many = ['s1', 's2', 's3', 's4', 's5'].map((id) => subtask(id, 'root', true));
  const state = run([started(1), planning, ...many]);
  expect(schedule(state)).toHaveLength(3);
  expect(schedule(run([waits], state))).toHaveLength(4);
});

test('a task waits for those that have to end first', () => {
  const given = run([
    { ...started(4), root: 'given' } as SwarmEvent,
    subtask('a', 'root', false),
    subtask('b', 'root', false, ['a']),
  ]);
  expect(startsOf(schedule(given))).toEqual(['a']);
  const ended = run([take('a', 1), ...leave('a', 1)], given);
  expect(startsOf(schedule(ended))).toEqual(['b']);
  expect(schedule(run([take('b', 1), ...leave('b', 1)], ended))).toEqual([{ kind: 'end-run', reason: 'finished' }]);
});

test('a paused run starts nothing, and goes on where it was', () => {
  const state = run([started(2), planning, task('t1'), { kind: 'run.paused', reason: 'x' }]);
  expect(schedule(state)).toEqual([]);
  expect(startsOf(schedule(run([{ kind: 'run.unpaused' }], state)))).toEqual(['t1']);
});

test('a run that is being stopped starts nothing and ends with its last agent', () => {
  const state = run([
    started(2),
    planning,
    task('t1'),
    task('t2'),
    take('t1', 1),
    { kind: 'run.stopping', reason: 'aborted', how: 'now' },
  ]);
  expect(schedule(state)).toEqual([]);
  const left = run([...leave('t1', 1), plannerEnds('aborted')], state);
  expect(schedule(left)).toEqual([{ kind: 'end-run', reason: 'aborted' }]);
});

function freeName(state: SwarmState, kind: string): AgentId {
  let number = 1;
  while (state.agents.has(`${kind}-${number}` as AgentId)) number++;
  return `${kind}-${number}` as AgentId;
}

/**
 * A whole swarm in which the test decides what each agent comes to: whatever it
 * decides, the run ends, no more agents live than may, and every task is told.
 */
test('every run ends, within its slots, and tells the planner of every task', () => {
  const scenario = fc.record({
    agentsMax: fc.integer({ min: 1, max: 4 }),
    scopes: fc.array(fc.constantFrom<string[][]>([], ['a'], ['b'], ['a', 'b']), { minLength: 1, maxLength: 8 }),
    fates: fc.infiniteStream(fc.constantFrom('landed', 'conflicted', 'lost', 'flag', 'freeze', 'thaw')),
    merges: fc.infiniteStream(fc.boolean()),
    order: fc.infiniteStream(fc.nat(7)),
  });
  fc.assert(
    fc.property(scenario, ({ agentsMax, scopes, fates, merges, order }) => {
      const events: SwarmEvent[] = [started(agentsMax), planning];
      for (const [at, scope] of scopes.entries()) events.push(task(`t${at}`, ...scope));
      events.push(waits);
      let state = run(events);
      let told = 0;
      let conflicts = 0;
      const seen = new Map<string, number>();
      const apply = (...next: SwarmEvent[]): void => {
        events.push(...next);
        state = run(next, state);
      };
      for (let step = 0; state.phase !== 'ended'; step++) {
        expect(step).toBeLessThan(1000);
        const directives = schedule(state);
        expect(schedule(state)).toEqual(directives);
        for (const directive of directives) carryOut(directive);
        const live = [...state.agents.values()].filter(({ role }) => role !== 'planner');
        expect(live.length).toBeLessThanOrEqual(agentsMax);
        const agent = live[order.next().value % Math.max(1, live.length)];
        if (agent !== undefined) finish(agent.id, agent.task, agent.conflicts);
      }
      expect(told).toBe(scopes.length);
      expect(state.endReason).toBe('finished');
      expect(run(events).endReason).toBe('finished');

      function carryOut(directive: Directive): void {
        if (directive.kind === 'start-worker') {
          const by = freeName(state, 'worker');
          const { task: of } = directive;
          if (!state.queue.some(({ id }) => id === of)) throw new Error(`${of} is not open`);
          apply({ kind: 'agent.started', agent: by, role: 'worker', task: of });
          apply({ kind: 'task.claimed', task: of, agent: by, generation: 1 });
        } else if (directive.kind === 'start-merger') {
          const by = freeName(state, 'merger');
          apply({ kind: 'agent.started', agent: by, role: 'merger', conflicts: directive.conflicts });
          for (const conflict of directive.conflicts) apply({ kind: 'conflict.assigned', conflict, agent: by });
        } else if (directive.kind === 'wake-planner') {
          told += directive.tasks.length;
          apply({ kind: 'planner.woken', planner: rootTask, tasks: directive.tasks }, plannerEnds('finished'));
        } else if (directive.kind === 'end-run') {
          apply({ kind: 'run.ended', reason: directive.reason });
        }
      }

      function finish(by: AgentId, of: TaskId | undefined, atHand: readonly string[]): void {
        const end = (role: 'worker' | 'merger'): SwarmEvent => ({
          kind: 'agent.ended',
          agent: by,
          role,
          reason: 'finished',
          turns: 1,
          usage: noUsage,
        });
        if (atHand.length > 0) {
          for (const conflict of atHand) {
            const isResolved = merges.next().value;
            apply(
              isResolved
                ? { kind: 'conflict.resolved', conflict, seq: 9 }
                : { kind: 'conflict.unresolved', conflict, reason: 'x' },
            );
          }
          return apply(end('merger'));
        }
        if (of === undefined) return;
        const fate = fates.next().value;
        const path = state.tasks.get(of)?.scope[0] ?? 'a';
        if (fate === 'flag') apply({ kind: 'file.flagged', path, reason: 'x' });
        if (fate === 'freeze') apply({ kind: 'file.frozen', path, reason: 'x' });
        if (fate === 'thaw') apply({ kind: 'file.thawed', path });
        seen.set(of, (seen.get(of) ?? 0) + 1);
        if (fate === 'lost') {
          apply({ kind: 'task.reopened', task: of, agent: by, reason: 'x' }, end('worker'));
          return;
        }
        const id = `c${++conflicts}`;
        const isConflict = fate === 'conflicted';
        if (isConflict) apply({ kind: 'conflict.opened', conflict: id, task: of, paths: [path] });
        const settled = isConflict ? { outcome: 'conflicted' as const, conflict: id } : { outcome: 'landed' as const };
        const report = { task: of, agent: by, handoff: emptyHandoff, ...settled };
        apply({ kind: 'task.finished', task: of, report }, end('worker'));
      }
    }),
  );
});
