import type { TaskId } from '../core/ids.ts';
import { withEntry, without } from './maps.ts';
import type { ConflictState, SwarmState } from './state.ts';

/**
 * - `topics`: active decisions of different owners settle the same.
 * - `document`: two edits of one design document would not merge.
 * - `oscillation`, `conflicts`: agents of different planners undo one another's
 *   work on a file, or keep meeting in conflict there.
 */
export type ContradictionCause = 'topics' | 'document' | 'oscillation' | 'conflicts';

/** What cannot both hold, until a neutral agent has settled it. */
export interface ContradictionState {
  readonly id: string;
  readonly cause: ContradictionCause;
  /** Files that are fought over; design documents. */
  readonly paths: readonly string[];
  /** Ids of the decisions that clash. */
  readonly decisions: readonly string[];
  /** Tasks whose planners are at odds. */
  readonly planners: readonly TaskId[];
  /** Of the document. */
  readonly conflict?: string;
  /** `left`: no reconciler tries it any more. */
  readonly status: 'open' | 'assigned' | 'left';
  readonly attempts: number;
}

/** How often agents of different planners met on a path since its last contradiction. */
export interface Contest {
  readonly oscillations: number;
  readonly conflicts: number;
  readonly planners: readonly TaskId[];
}

/** Oscillations, or conflicts, of different planners on one path that are a contradiction. One may be chance. */
const oscillationsMax = 2;
const conflictsMax = 3;
/** Reconcilers that may try one contradiction. */
const attemptsMax = 2;

const isOn = (state: SwarmState): boolean => state.coordination.reconciler === 'on';

/** Same cause, same things: it is told once. */
const isSame = (left: ContradictionState, right: Omit<ContradictionState, 'id' | 'status' | 'attempts'>): boolean =>
  left.cause === right.cause &&
  left.paths.join('\n') === right.paths.join('\n') &&
  left.decisions.join(' ') === right.decisions.join(' ');

export function addContradiction(
  state: SwarmState,
  found: Omit<ContradictionState, 'id' | 'status' | 'attempts'>,
): SwarmState {
  if (!isOn(state) || [...state.contradictions.values()].some((one) => isSame(one, found))) return state;
  const count = state.contradictionCount + 1;
  const id = `contradiction-${count}`;
  const contradiction: ContradictionState = { ...found, id, status: 'open', attempts: 0 };
  const contradictions = withEntry(state.contradictions, id, contradiction);
  return { ...state, contradictions, contradictionCount: count };
}

/** Counts a meeting of different planners on a path; often enough, it is a contradiction. */
export function contest(
  state: SwarmState,
  path: string,
  how: 'oscillation' | 'conflict',
  planners: readonly TaskId[],
): SwarmState {
  if (!isOn(state) || planners.length < 2) return state;
  const before = state.contests.get(path) ?? { oscillations: 0, conflicts: 0, planners: [] };
  const now: Contest = {
    oscillations: before.oscillations + Number(how === 'oscillation'),
    conflicts: before.conflicts + Number(how === 'conflict'),
    planners: [...new Set([...before.planners, ...planners])],
  };
  const isWar = now.oscillations >= oscillationsMax || now.conflicts >= conflictsMax;
  if (!isWar) return { ...state, contests: withEntry(state.contests, path, now) };
  const cause = now.oscillations >= oscillationsMax ? 'oscillation' : 'conflicts';
  const calm: SwarmState = { ...state, contests: without(state.contests, path) };
  return addContradiction(calm, { cause, paths: [path], decisions: [], planners: now.planners });
}

/** A conflict in a design document is a contradiction: no merger takes it while a reconciler may. */
export function contradictingDocument(state: SwarmState, conflict: ConflictState): SwarmState {
  if (!isOn(state) || !conflict.paths.some((path) => path.startsWith('design/'))) return state;
  const { id, paths, planners } = conflict;
  return addContradiction(state, { cause: 'document', paths, decisions: [], planners, conflict: id });
}

export function assignContradiction(state: SwarmState, id: string): SwarmState {
  const found = state.contradictions.get(id);
  if (found?.status !== 'open') return state;
  return { ...state, contradictions: withEntry(state.contradictions, id, { ...found, status: 'assigned' }) };
}

export const settleContradiction = (state: SwarmState, id: string): SwarmState => ({
  ...state,
  contradictions: without(state.contradictions, id),
});

export function leaveContradiction(state: SwarmState, id: string): SwarmState {
  const found = state.contradictions.get(id);
  if (found?.status !== 'assigned') return state;
  const attempts = found.attempts + 1;
  const status = attempts < attemptsMax ? 'open' : 'left';
  return { ...state, contradictions: withEntry(state.contradictions, id, { ...found, status, attempts }) };
}

/** Contradictions that a reconciler works on, or is to. */
export const liveContradictions = (state: SwarmState): ContradictionState[] =>
  [...state.contradictions.values()].filter(({ status }) => status !== 'left');
