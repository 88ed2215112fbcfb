import { MoundError, type CommitView, type Repo } from '@mound/vcs';
import { listRuns } from '@mound/swarm';

import type { CommitPlace } from './curve.ts';

/** Which commits are looked at. */
export interface RunChoice {
  readonly branch: string;
  /** A swarm's run; default: the newest that landed something, where there is one and no seqs are given. */
  readonly run?: string;
  /** Seqs of the first and the last commit. */
  readonly from?: number;
  readonly to?: number;
}

export interface RunCommits {
  readonly run: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The first is what stood before the run. */
  readonly places: readonly CommitPlace[];
}

/** A run's commits, oldest first. Errors: `invalid-argument` where there is no such run, or it landed nothing. */
export function runCommits(repo: Repo, { branch, run, from, to }: RunChoice): RunCommits {
  const landings = [...repo.log({ branch, ...(to !== undefined && { from: to }) })].toReversed();
  const runs = listRuns(repo);
  const isOf = (name: string, { operationId }: CommitView): boolean => operationId?.startsWith(`${name}/`) === true;
  const newest = runs.findLast(({ run: name }) => landings.some((landing) => isOf(name, landing)));
  const named = run ?? (from === undefined && to === undefined ? newest?.run : undefined);
  const header = runs.find(({ run: name }) => name === named)?.header;
  if (run !== undefined && header === undefined)
    throw new MoundError('invalid-argument', `there is no run ${run} in this repository`, { run });
  const first =
    named === undefined
      ? landings.findIndex(({ seq }) => seq >= (from ?? 0))
      : landings.findIndex((landing) => isOf(named, landing));
  const last = named === undefined ? landings.length - 1 : landings.findLastIndex((landing) => isOf(named, landing));
  const chosen = first < 0 ? [] : landings.slice(first, last + 1);
  const [oldest] = chosen;
  if (oldest === undefined) throw new MoundError('invalid-argument', 'there are no commits to score');
  const startedAt = header?.startedAt ?? oldest.time;
  const before = first === 0 ? 0 : (landings[first - 1]?.seq ?? 0);
  const places = chosen.map(({ seq, time }, at) => ({ seq, commits: at + 1, ms: Math.max(0, time - startedAt) }));
  return { run: named, startedAt, places: [{ seq: before, commits: 0, ms: 0 }, ...places] };
}
