import { expect, test } from 'vitest';
import { allOn } from '../core/coordination.ts';
import type { AgentId, RunId, TaskId } from '../core/ids.ts';
import type { SwarmEvent } from '../events/event.ts';
import { schedule } from '../schedule/schedule.ts';
import { reduce } from './reduce.ts';
import { initialState, type SwarmState } from './state.ts';

const after = (events: readonly SwarmEvent[], from: SwarmState = initialState): SwarmState =>
  events.reduce(reduce, from);
const started = (greenEvery?: number): SwarmEvent => ({
  kind: 'run.started',
  run: 'r' as RunId,
  goal: 'g',
  root: 'given',
  agentsMax: 1,
  plannersMax: 1,
  taskAttemptsMax: 1,
  mergeAttemptsMax: 1,
  coordination: allOn,
  decomposing: false,
  ...(greenEvery !== undefined && { greenEvery }),
});
const landed = (seq: number): SwarmEvent => ({ kind: 'trunk.landed', seq });
const ended = (head: number): SwarmEvent => ({ kind: 'green.ended', verdict: 'green', head, candidates: [] });
const agent = 'worker-1' as AgentId;
const busy = [
  { kind: 'task.created', task: 't' as TaskId, parent: 'root' as TaskId, plans: false, title: 't', scope: [] },
  { kind: 'agent.started', agent, role: 'worker', task: 't' as TaskId },
] satisfies SwarmEvent[];
const kinds = (state: SwarmState): string[] => schedule(state).map(({ kind }) => kind);

test('a check is due after so many landings, or when one has waited, one at a time', () => {
  const working = after([started(3), ...busy, landed(4), landed(5)]);
  expect(kinds(working)).toEqual([]);
  expect(kinds(after([{ kind: 'green.due' }], working))).toEqual(['check-green']);
  // Seen by two ways, it is one landing.
  expect(kinds(after([landed(5)], working))).toEqual([]);
  const due = after([landed(6)], working);
  expect(kinds(due)).toEqual(['check-green']);
  const checking = after([{ kind: 'green.begun' }, landed(7), landed(8), landed(9)], due);
  expect(kinds(checking)).toEqual([]);
  // What landed meanwhile and was looked at is not looked at again.
  expect(kinds(after([ended(6)], checking))).toEqual(['check-green']);
  expect(kinds(after([ended(9)], checking))).toEqual([]);
  expect(kinds(after([ended(9), { kind: 'green.due' }], checking))).toEqual([]);
});

test('a run ends when what landed last was looked at; one that stops waits for the look to end', () => {
  const idle = after([started(100), landed(4)]);
  expect(kinds(idle)).toEqual(['check-green']);
  const checking = after([{ kind: 'green.begun' }], idle);
  expect(kinds(checking)).toEqual([]);
  expect(kinds(after([ended(4)], checking))).toEqual(['end-run']);
  const stopping = after([{ kind: 'run.stopping', reason: 'aborted', how: 'now' }], checking);
  expect(kinds(stopping)).toEqual([]);
  expect(kinds(after([ended(0)], stopping))).toEqual(['end-run']);
  // Nobody keeps it.
  expect(kinds(after([started(), landed(4), { kind: 'green.due' }]))).toEqual(['end-run']);
});
