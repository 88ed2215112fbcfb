import type { WorkloadFields } from '../../harness/result-file.ts';

/** How the edits are spread over the files: each its own (disjoint agents), or a few that all want (merged). */
export type Skew = 'uniform' | 'zipf';

/** One load that subjects are put under. */
export interface Load {
  readonly files: number;
  readonly filesPerCommit: number;
  readonly skew: Skew;
  /** Commits that wait at the same time, of all processes together. */
  readonly inFlight: number;
  readonly processes: number;
}

/** For names and notes: `1000`, `4 x 250`, with what is not as in W1. */
export function describeLoad({ files, filesPerCommit, skew, inFlight, processes }: Load): string {
  return [
    processes === 1 ? `${inFlight}` : `${processes} x ${inFlight / processes}`,
    ...(filesPerCommit === 1 ? [] : [`${filesPerCommit} files a commit`]),
    ...(skew === 'uniform' ? [] : ['hot files']),
    ...(files === filesOfW1 || skew !== 'uniform' ? [] : [`${files} files`]),
  ].join(', ');
}

/** What W1 is by definition; targets are stated for it. */
export const filesOfW1 = 10_000;

/** In flight for each process, beside the number of processes. */
export const loadFields = ({ inFlight, processes }: Load): WorkloadFields => ({
  inFlight: inFlight / processes,
  processes,
});
