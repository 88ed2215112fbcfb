import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { CurvePoint, Scored } from './curve.ts';
import { scoreTree, type SnapshotBounds } from './score-snapshot.ts';

/** A tree in which nothing was built: one file that says so. */
const writeBareTree = (dir: string): Promise<void> => writeFile(join(dir, 'NOTHING.txt'), 'Nothing was built here.\n');

/** Whether it came to a question at all. */
export const wasAsked = ({ state }: Pick<Scored, 'state'>): boolean =>
  state !== 'empty' && state !== 'build-failed' && state !== 'build-timed-out';

/** Most builds refuse a bare tree; it is asked all the same, for it is the score that is tried here. */
export async function scoreBareTree(bounds: SnapshotBounds): Promise<Scored> {
  const built = await scoreTree(writeBareTree, bounds);
  return wasAsked(built) ? built : scoreTree(writeBareTree, { ...bounds, build: undefined });
}

/** The negative control of a score: what it gives a tree in which nothing was built. */
export interface ScoreControl {
  readonly state: Scored['state'];
  /** From 0 to 1. */
  readonly score: number;
  /** It is less than the best point has; where none has anything there is nothing to show. */
  readonly shows: boolean;
}

export function scoreControlOf({ state, passed, total }: Scored, points: readonly CurvePoint[]): ScoreControl {
  const score = total === 0 ? 0 : passed / total;
  const best = Math.max(0, ...points.map((point) => point.score));
  return { state, score, shows: best === 0 || score < best };
}
