import type { HotEdit } from './hot-edits.ts';

/**
 * What the author of an edit was told.
 * - `landed`: it is on the trunk; `isMerged` where the store merged it with what had come before.
 * - `kept`: it would not merge; all its bytes are in a record of the store that names them.
 * - `stranded`: it is not on the trunk, and somebody must bring it there; with
 *   `isRecorded` its lines are on a side branch, else nowhere but in its author's hands.
 */
export type EditAnswer =
  | { readonly kind: 'landed'; readonly isMerged?: boolean }
  | { readonly kind: 'kept' }
  | { readonly kind: 'stranded'; readonly because: 'conflict' | 'tries' | 'refused'; readonly isRecorded: boolean };

/** What went wrong on the way, whether or not the edit got there in the end. */
export interface TrunkTroubles {
  /** Calls that failed because somebody else's lock was there. */
  readonly lockFailures: number;
  /** Compare-and-swaps of the trunk that came too late. */
  readonly racesLost: number;
}

/** One trunk, and agents that all bring their edits to it at once. */
export interface ContendedTrunk {
  /** What a reader of the figures should know. */
  readonly notes: readonly string[];
  /** Counted from the start. */
  readonly troubles: TrunkTroubles;
  /**
   * The edit's agent makes it on what it last saw of the trunk and brings it
   * there; at the answer it sees the trunk anew. One edit at a time an agent.
   */
  bring(edit: HotEdit, rewrite: (seen: Buffer) => Buffer): Promise<EditAnswer>;
  /** From disk: the newest content of each path. */
  readTrunk(paths: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** From disk, by edit id: the file of each edit that is kept or stranded with a record. */
  readAside(edits: readonly HotEdit[]): Promise<ReadonlyMap<string, Buffer>>;
  close(): Promise<void>;
}

/** One way for many agents to work on one trunk. */
export interface ContendedSubject {
  readonly name: string;
  /** One line: what a conflict does here. */
  readonly onConflict: string;
  available(): Promise<true | { readonly missing: string }>;
  /** `dir` exists, is empty and belongs to the subject alone. */
  prepare(
    files: ReadonlyMap<string, Buffer>,
    agents: number,
    dir: string,
    signal: AbortSignal,
  ): Promise<ContendedTrunk>;
}
