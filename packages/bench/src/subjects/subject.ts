import type { Measurement, RunOptions } from '../harness/measurement.ts';
import type { Acknowledged, CommitOperation, InitialFiles } from '../workloads/operation.ts';

/**
 * What an acknowledgement means.
 * - `flushed`: the commit survives power loss.
 * - `at-end`: only the end of the whole run is flushed.
 * - `unflushed`: nothing is flushed.
 */
export type Durability = 'flushed' | 'at-end' | 'unflushed';

/**
 * How a subject can be loaded.
 * - `in-flight`: any number of commits wait at the same time.
 * - `one-at-a-time`: in a process, a commit must end before the next may begin.
 * - `few-in-flight`: so many as there can be agents, of which each is dear: {@link agentsOfFew} at most.
 * - `stream`: commits are poured in and acknowledged together at the end.
 */
export type Pace = 'in-flight' | 'few-in-flight' | 'one-at-a-time' | 'stream';

export const agentsOfFew = 4;

/** A store with the initial files in it, ready to be measured. */
export interface PreparedSubject {
  /** What a reader of the figures should know, e.g. which SQLite. */
  readonly notes: readonly string[];
  /** Makes the commits in their order; may be called again with the ones that follow. */
  run(operations: readonly CommitOperation[], options: RunOptions): Promise<Measurement>;
  /** Reads back what was acknowledged; each line names one thing that is not there. */
  verify(acknowledged: Acknowledged): Promise<readonly string[]>;
  /** Ends its processes and closes its files; the directory is the caller's to remove. */
  cleanup(): Promise<void>;
}

/** Another process's way into a store that is prepared already. */
export type AttachedSubject = Pick<PreparedSubject, 'run' | 'cleanup'>;

/** One system that is measured. `conformance.ts` holds the checks that each must pass. */
export interface Subject {
  readonly name: string;
  readonly durability: Durability;
  readonly pace: Pace;
  /** Where in its directory the history lies, where checkouts lie beside it: only its growth counts. */
  readonly storeIn?: string;
  available(): Promise<true | { readonly missing: string }>;
  /** Of the program or library that is measured, where it is available; absent where Mound's or git's says it. */
  readonly version?: () => Promise<string | undefined>;
  /** `dir` exists, is empty and belongs to the subject alone. */
  prepare(files: InitialFiles, dir: string, signal: AbortSignal): Promise<PreparedSubject>;
  /** Opens what `prepare` made in `dir`, from another process; absent where one process is all that a subject can have. */
  attach?(dir: string, signal: AbortSignal): Promise<AttachedSubject>;
}
