import type { TaskId } from '../core/ids.ts';
import { isInScope } from '../core/task.ts';
import type { RunEndReason } from '../events/event.ts';
import { unsettledCount, type ConflictState, type SwarmState, type TaskState } from '../state/state.ts';

/** What the runtime must do next. */
export type Directive =
  | { readonly kind: 'start-planner' }
  | { readonly kind: 'start-worker'; readonly task: TaskId }
  | { readonly kind: 'start-merger'; readonly conflict: string }
  /** Every delegated task has ended: tell the planner of these. */
  | { readonly kind: 'wake-planner'; readonly tasks: readonly TaskId[] }
  | { readonly kind: 'end-run'; readonly reason: RunEndReason };

type Mark = 'flagged' | 'frozen';

/** The marked paths that a task may touch. A task without a scope may touch all of them. */
const marksOf = (state: SwarmState, task: TaskState, mark: Mark): string[] =>
  [...state.files].filter(([path, is]) => is === mark && isInScope(task.scope, path)).map(([path]) => path);

/**
 * Conflicts that share a path go one after the other: the second resolution
 * would be stale as soon as the first landed.
 */
function mergeable(state: SwarmState, slots: number): ConflictState[] {
  const busy = new Set<string>();
  for (const conflict of state.conflicts.values()) {
    if (conflict.status === 'assigned') for (const path of conflict.paths) busy.add(path);
  }
  const chosen: ConflictState[] = [];
  for (const conflict of state.conflicts.values()) {
    if (chosen.length >= slots) break;
    if (conflict.status !== 'open' || conflict.paths.some((path) => busy.has(path))) continue;
    for (const path of conflict.paths) busy.add(path);
    chosen.push(conflict);
  }
  return chosen;
}

/**
 * Open tasks to start: those that may touch a frozen file are held back, those
 * that may touch the same flagged file go one at a time.
 */
function startable(state: SwarmState, slots: number, othersLive: boolean): TaskState[] {
  const marked = state.files.size > 0;
  const taken = new Set<string>();
  if (marked) {
    for (const task of state.tasks.values()) {
      for (const path of marksOf(state, task, 'flagged')) taken.add(path);
    }
  }
  const chosen: TaskState[] = [];
  const held: TaskState[] = [];
  for (const task of state.queue) {
    if (chosen.length >= slots) break;
    if (marked) {
      const flagged = marksOf(state, task, 'flagged');
      if (flagged.some((path) => taken.has(path))) continue;
      if (marksOf(state, task, 'frozen').length > 0) {
        held.push(task);
        continue;
      }
      for (const path of flagged) taken.add(path);
    }
    chosen.push(task);
  }
  // Nobody is left who could thaw the file: go on, and the store parks the work whole.
  if (chosen.length === 0 && !othersLive) return held.slice(0, Math.min(1, slots));
  return chosen;
}

/**
 * What is to be done in this state. Pure: the same state gives the same list in
 * the same order. Carrying a directive out changes the state (by events), so
 * that it is not given again.
 */
export function schedule(state: SwarmState): Directive[] {
  if (state.phase === 'new' || state.phase === 'ended') return [];
  if (state.phase === 'aborting') return state.agents.size === 0 ? [{ kind: 'end-run', reason: 'aborted' }] : [];
  if (state.planner === 'absent') return [{ kind: 'start-planner' }];

  const isPlanning = state.planner === 'working' || state.planner === 'waiting';
  const working = state.agents.size - (isPlanning ? 1 : 0);
  const slots = Math.max(0, state.agentsMax - working);
  const mergers = mergeable(state, slots);
  const othersLive = working > 0 || mergers.length > 0;
  // Without its planner a run only brings to an end what it had begun.
  const workers = state.planner === 'failed' ? [] : startable(state, slots - mergers.length, othersLive);
  const starts: Directive[] = [
    ...mergers.map(({ id }): Directive => ({ kind: 'start-merger', conflict: id })),
    ...workers.map(({ id }): Directive => ({ kind: 'start-worker', task: id })),
  ];
  if (starts.length > 0 || working > 0) return starts;

  if (state.planner === 'failed') return [{ kind: 'end-run', reason: 'planner-failed' }];
  if (unsettledCount(state) > 0) return [];
  if (state.planner === 'waiting') return [{ kind: 'wake-planner', tasks: state.reports.map(({ task }) => task) }];
  return state.planner === 'finished' ? [{ kind: 'end-run', reason: 'finished' }] : [];
}
