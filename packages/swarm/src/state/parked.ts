import type { TaskId } from '../core/ids.ts';
import { emptyHandoff, type TaskReport } from '../core/task.ts';
import { withEntry, without } from './maps.ts';
import type { SwarmState, TaskState } from './state.ts';

/** What became of a parked intent when the store decided it again. */
export type UnparkedOutcome = 'landed' | 'merged' | 'unchanged' | 'conflicted' | 'rejected';

/** Decomposers that may try one file. */
const attemptsMax = 2;

/** A file that is marked, and what is done about it. `left`: nobody splits it any more. */
export interface Decomposition {
  readonly path: string;
  readonly status: 'open' | 'assigned' | 'left';
  readonly attempts: number;
}

/** Paths that a decomposer works on, or is to. */
export const livePaths = (state: SwarmState): Set<string> =>
  new Set([...state.decompositions.values()].filter(({ status }) => status !== 'left').map(({ path }) => path));

const setDecomposition = (state: SwarmState, decomposition: Decomposition): SwarmState => ({
  ...state,
  decompositions: withEntry(state.decompositions, decomposition.path, decomposition),
});

/** A mark on a file calls for a decomposer, where one is to be had. */
export function wantDecomposition(state: SwarmState, path: string): SwarmState {
  if (!state.decomposing || state.decompositions.has(path)) return state;
  return setDecomposition(state, { path, status: 'open', attempts: 0 });
}

export function assignDecomposition(state: SwarmState, path: string): SwarmState {
  const found = state.decompositions.get(path);
  return found?.status === 'open' ? setDecomposition(state, { ...found, status: 'assigned' }) : state;
}

/** It is split: what stays under the path may be marked again later. */
export const endDecomposition = (state: SwarmState, path: string): SwarmState => ({
  ...state,
  decompositions: without(state.decompositions, path),
  files: without(state.files, path),
});

export function leaveDecomposition(state: SwarmState, path: string): SwarmState {
  const found = state.decompositions.get(path);
  if (found?.status !== 'assigned') return state;
  const attempts = found.attempts + 1;
  return setDecomposition(state, { path, attempts, status: attempts < attemptsMax ? 'open' : 'left' });
}

/** True where a report waits for what the store makes of the parked intent: a decomposer is about to set it free. */
export const isAwaited = (state: SwarmState, report: TaskReport): boolean =>
  report.outcome === 'parked' && report.parked !== undefined && livePaths(state).size > 0;

/** The report of a task whose parked intent was decided; undefined where a conflict keeps it. */
export function unparkedReport(report: TaskReport, outcome: UnparkedOutcome, seq: number): TaskReport | undefined {
  const { parked: _, ...rest } = report;
  if (outcome === 'conflicted') return undefined;
  if (outcome !== 'rejected') return { ...rest, outcome, seq };
  const concerns = ['its commit was parked, and rejected when the file was free again: nothing of it landed'];
  return { ...rest, outcome: 'none', handoff: { ...emptyHandoff, status: 'failed', concerns } };
}

/** Tasks whose intents are parked, and for which nobody is at work. */
export const strandedTasks = (state: SwarmState): TaskId[] =>
  livePaths(state).size > 0
    ? []
    : [...state.tasks.values()].filter(({ status }: TaskState) => status === 'parked').map(({ id }) => id);
