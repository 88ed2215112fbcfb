import type { CurvePoint, PointState, Reached } from './curve.ts';

/** Indices of what is scored first: the start, every nth commit, the last. */
export function steps(commits: number, every: number): number[] {
  const chosen = Array.from({ length: Math.floor(commits / every) + 1 }, (_, at) => at * every);
  return chosen.at(-1) === commits ? chosen : [...chosen, commits];
}

export const isBuilt = (state: PointState): boolean => state !== 'build-failed' && state !== 'build-timed-out';

/** Two points between which something was made worse. */
export interface Fall {
  readonly kind: 'score' | 'build';
  readonly from: CurvePoint;
  readonly to: CurvePoint;
}

/**
 * Falls of a curve. A score is compared with the last one that was built; a build that fails counts once, where it
 * follows one that did not.
 */
export function falls(points: readonly CurvePoint[], tolerance: number): Fall[] {
  const found: Fall[] = [];
  let last: CurvePoint | undefined;
  let wasBuilt = true;
  for (const point of points) {
    const built = isBuilt(point.state);
    if (last !== undefined) {
      if (!built && wasBuilt) found.push({ kind: 'build', from: last, to: point });
      if (built && isLower(point, last, tolerance)) found.push({ kind: 'score', from: last, to: point });
    }
    wasBuilt = built;
    if (built) last = point;
  }
  return found;
}

export const isLower = (point: CurvePoint, than: CurvePoint, tolerance: number): boolean =>
  point.score < than.score - tolerance;

/** Points in any order. */
export function reached(points: readonly CurvePoint[], thresholds: readonly number[]): Reached[] {
  const inOrder = points.toSorted((a, b) => a.commits - b.commits);
  return thresholds.map((share) => {
    const point = inOrder.find(({ score, total }) => total > 0 && score >= share);
    return { share, at: point && { seq: point.seq, commits: point.commits, ms: point.ms } };
  });
}
