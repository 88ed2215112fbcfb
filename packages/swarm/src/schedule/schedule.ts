import { livePaths, strandedTasks } from '../state/parked.ts';
import { wantsCheck } from '../state/green.ts';
import { liveContradictions } from '../state/contradiction.ts';
import { rootTask, type TaskId } from '../core/ids.ts';
import { isInScope } from '../core/task.ts';
import type { RunEndReason } from '../events/event.ts';
import { unsettledCount, type PlannerState, type SwarmState, type TaskState } from '../state/state.ts';

/** What the runtime must do next. */
export type Directive =
  /** Of the goal, or of a task that was handed to a planner. */
  | { readonly kind: 'start-planner'; readonly task: TaskId }
  | { readonly kind: 'start-worker'; readonly task: TaskId }
  /** One merger for the conflicts of one file, or of files that they share. */
  | { readonly kind: 'start-merger'; readonly conflicts: readonly string[] }
  | { readonly kind: 'start-reconciler'; readonly contradiction: string }
  | { readonly kind: 'start-decomposer'; readonly path: string }
  | { readonly kind: 'start-reviewer'; readonly review: string }
  /** Look at what landed since the last time. */
  | { readonly kind: 'check-green' }
  /** Nobody is about to free what these have parked. */
  | { readonly kind: 'strand'; readonly tasks: readonly TaskId[] }
  /** What it waits for is there: tell the planner of these tasks. */
  | { readonly kind: 'wake-planner'; readonly planner: TaskId; readonly tasks: readonly TaskId[] }
  | { readonly kind: 'end-run'; readonly reason: RunEndReason };

type Mark = 'flagged' | 'frozen';

/** The marked paths that a task may touch. A task without a scope may touch all of them; a planner none. */
const marksOf = (state: SwarmState, task: TaskState, mark: Mark): string[] =>
  task.plans
    ? []
    : [...state.files]
        // Work on a file that is being split goes on: it is parked, and led to where its lines went.
        .filter(([path, is]) => is === mark && isInScope(task.scope, path) && !livePaths(state).has(path))
        .map(([path]) => path);

/** Conflicts that one merger is given at most: what more of a file waits is for the next. */
const mergeGroupMax = 8;

/**
 * Conflicts that share a path go to one merger in one go: of two mergers the
 * second would always find its work stale. Those that share a path with what a
 * merger has at hand wait for it.
 */
function mergeable(state: SwarmState, slots: number): string[][] {
  // What is fought over is settled before it is merged.
  const busy = new Set(liveContradictions(state).flatMap(({ paths }) => paths));
  for (const conflict of state.conflicts.values()) {
    if (conflict.status === 'assigned') for (const path of conflict.paths) busy.add(path);
  }
  const groups: { readonly ids: string[]; readonly paths: Set<string> }[] = [];
  for (const { id, status, paths } of state.conflicts.values()) {
    if (status !== 'open' || paths.some((path) => busy.has(path))) continue;
    const [group, ...others] = groups.filter((one) => paths.some((path) => one.paths.has(path)));
    // One that would join two groups waits until the one of them is done.
    if (others.length > 0 || (group !== undefined && group.ids.length >= mergeGroupMax)) continue;
    if (group === undefined && groups.length >= slots) continue;
    if (group === undefined) groups.push({ ids: [id], paths: new Set(paths) });
    else {
      group.ids.push(id);
      for (const path of paths) group.paths.add(path);
    }
  }
  return groups.map(({ ids }) => ids);
}

/** Reviewers take a quarter of the slots at most, and one in any case: work goes on beside them. */
function reviewable(state: SwarmState, slots: number): string[] {
  if (state.reviews.size === 0) return [];
  const live = [...state.agents.values()].filter(({ role }) => role === 'reviewer').length;
  const room = Math.min(slots, Math.max(1, Math.floor(state.agentsMax / 4)) - live);
  return [...state.reviews.values()]
    .filter(({ status }) => status === 'open')
    .slice(0, Math.max(0, room))
    .map(({ id }) => id);
}

interface Slots {
  readonly workers: number;
  readonly planners: number;
  /** Somebody else works, or is about to. */
  readonly othersLive: boolean;
}

/** Open tasks whose predecessors have ended, and whose planner has not failed. */
function readyTasks(state: SwarmState): readonly TaskState[] {
  const isPlain =
    state.planners.get(rootTask)?.phase !== 'failed' && state.queue.every(({ after }) => after.length === 0);
  if (isPlain) return state.queue;
  const unsettled = new Set([...state.queue, ...state.tasks.values()].map(({ id }) => id));
  return state.queue.filter(
    ({ parent, after }) =>
      state.planners.get(parent)?.phase !== 'failed' && !after.some((earlier) => unsettled.has(earlier)),
  );
}

/**
 * Open tasks to start: those that may touch a frozen file are held back, those
 * that may touch the same flagged file go one at a time.
 */
function startable(state: SwarmState, slots: Slots): TaskState[] {
  const marked = state.coordination.megafiles === 'on' && state.files.size > 0;
  const taken = new Set<string>();
  if (marked) {
    for (const task of state.tasks.values()) {
      for (const path of marksOf(state, task, 'flagged')) taken.add(path);
    }
  }
  const fought = liveContradictions(state).flatMap(({ paths }) => paths);
  const chosen: TaskState[] = [];
  const held: TaskState[] = [];
  let { workers, planners } = slots;
  for (const task of readyTasks(state)) {
    if (workers <= 0 && planners <= 0) break;
    if ((task.plans ? planners : workers) <= 0) continue;
    // Who was given just that file would go on with the fight.
    if (task.scope.length > 0 && fought.some((path) => isInScope(task.scope, path))) continue;
    if (marked) {
      const flagged = marksOf(state, task, 'flagged');
      if (flagged.some((path) => taken.has(path))) continue;
      if (marksOf(state, task, 'frozen').length > 0) {
        held.push(task);
        continue;
      }
      for (const path of flagged) taken.add(path);
    }
    if (task.plans) planners -= 1;
    else workers -= 1;
    chosen.push(task);
  }
  // Nobody is left who could thaw the file: go on, and the store parks the work whole.
  if (chosen.length === 0 && !slots.othersLive) return held.slice(0, Math.min(1, slots.workers));
  return chosen;
}

const isAnswered = ({ phase, waitsFor, unsettled, reports }: PlannerState): boolean =>
  phase === 'waiting' && (unsettled === 0 || (waitsFor === 'any' && reports.length > 0));

/**
 * What is to be done in this state. Pure: the same state gives the same list in
 * the same order. Carrying a directive out changes the state (by events), so
 * that it is not given again.
 */
export function schedule(state: SwarmState): Directive[] {
  if (state.phase === 'new' || state.phase === 'ended' || state.phase === 'paused') return [];
  if (state.phase === 'stopping') {
    return state.agents.size === 0 && state.green?.isChecking !== true
      ? [{ kind: 'end-run', reason: state.endReason ?? 'aborted' }]
      : [];
  }
  const root = state.planners.get(rootTask);
  if (root === undefined) return [];
  if (root.phase === 'absent') return [{ kind: 'start-planner', task: rootTask }];

  const planners = [...state.planners.values()];
  const working = [...state.agents.values()].filter(({ role }) => role !== 'planner').length;
  const planning = planners.filter(({ phase }) => phase === 'working').length;
  const slots = Math.max(0, state.agentsMax - working);
  const reconcilers = [...state.contradictions.values()].filter(({ status }) => status === 'open').slice(0, slots);
  const decomposers = [...state.decompositions.values()]
    .filter(({ status }) => status === 'open')
    .slice(0, slots - reconcilers.length);
  const reviewers = reviewable(state, slots - reconcilers.length - decomposers.length);
  const neutral = reconcilers.length + decomposers.length + reviewers.length;
  const mergers = mergeable(state, slots - neutral);
  const workers = startable(state, {
    workers: slots - neutral - mergers.length,
    planners: Math.max(0, state.plannersMax - planning),
    othersLive: working > 0 || neutral + mergers.length > 0,
  });
  const directives: Directive[] = [
    ...reconcilers.map(({ id }): Directive => ({ kind: 'start-reconciler', contradiction: id })),
    ...decomposers.map(({ path }): Directive => ({ kind: 'start-decomposer', path })),
    ...reviewers.map((review): Directive => ({ kind: 'start-reviewer', review })),
    ...mergers.map((conflicts): Directive => ({ kind: 'start-merger', conflicts })),
    ...workers.map(({ id, plans }): Directive => ({ kind: plans ? 'start-planner' : 'start-worker', task: id })),
    ...planners.filter(isAnswered).map(({ id, reports }): Directive => ({
      kind: 'wake-planner',
      planner: id,
      tasks: reports.map(({ task }) => task),
    })),
    ...(wantsCheck(state, false) ? [{ kind: 'check-green' } as const] : []),
  ];
  if (directives.length > 0 || state.agents.size > 0) return directives;

  const isChecking = state.green?.isChecking === true;
  if (root.phase === 'failed') return isChecking ? [] : [{ kind: 'end-run', reason: 'planner-failed' }];
  const stranded = strandedTasks(state);
  if (stranded.length > 0) return [{ kind: 'strand', tasks: stranded }];
  if (unsettledCount(state) > 0 || isChecking) return [];
  // What landed last is looked at, too; what comes of it may be work again.
  if (wantsCheck(state, true)) return [{ kind: 'check-green' }];
  return root.phase === 'finished' || root.phase === 'given' ? [{ kind: 'end-run', reason: 'finished' }] : [];
}
