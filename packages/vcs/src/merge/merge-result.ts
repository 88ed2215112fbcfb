import type { Mode } from '../core/mode.ts';
import type { DriverNote } from '../core/outcome.ts';
import type { LineRange } from './combine.ts';
import type { FileState } from './merge-input.ts';

/**
 * Why two sides would not merge.
 * - `content`: both changed the same lines.
 * - `add/add`: both added the path, each with its own content.
 * - `modify/delete`: current edited what incoming deleted; `delete/modify`: the reverse.
 * - `binary`: both changed a content that is not text; `too-large`: one beyond the bound of a line merge.
 * - `mode`: the modes differ three ways; the contents may be equal.
 * - `type`: a file on one side, a symlink or gitlink on another.
 * - `symlink`, `gitlink`: both changed where it points.
 */
export type ConflictReason =
  | 'content'
  | 'add/add'
  | 'modify/delete'
  | 'delete/modify'
  | 'binary'
  | 'too-large'
  | 'mode'
  | 'type'
  | 'symlink'
  | 'gitlink';

/** The lines of one input that belong to a hunk. */
export interface HunkSide {
  /** Line number from 1; of an empty hunk, the line before which it stands. */
  readonly start: number;
  /** Lines; 0 also for a content that has none to count (absent, binary, a link). */
  readonly count: number;
  readonly text: Uint8Array;
}

/**
 * One stretch over which the sides disagree. A conflict about a path as a whole
 * (`modify/delete`, `binary`, `mode`…) has one hunk, which holds everything.
 */
export interface ConflictHunk {
  /** From 0, in the order of the file. */
  readonly index: number;
  readonly base: HunkSide;
  readonly current: HunkSide;
  readonly incoming: HunkSide;
}

export interface CleanMerge extends DriverNote {
  readonly kind: 'clean';
  /** `null`: the path is absent. */
  readonly result: FileState | null;
}

export interface ConflictedMerge extends DriverNote {
  readonly kind: 'conflict';
  /** Lines of the base at which the driver found fault with what merges clean by line; undefined: it names none. */
  readonly refused: LineRange | undefined;
  readonly reason: ConflictReason;
  /** The mode merged for itself; `null` where it is part of the conflict. */
  readonly mode: Mode | null;
  readonly hunks: readonly ConflictHunk[];
}

export type MergeResult = CleanMerge | ConflictedMerge;
