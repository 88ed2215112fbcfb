import type { BlobId } from './ids.ts';
import type { Mode } from './mode.ts';

/**
 * The state of a path that the author of a change had seen.
 * - `version`: the path (or record) is as it was at this seq (any seq at which it
 *   existed; a FileVersion from a read is the usual one, a snapshot's seq does as
 *   well). Of a path it also holds when blob and mode were the same then; 0 is `absent`.
 * - `absent`: the path does not exist.
 * - `any`: whatever is there is overwritten; only ever by name.
 */
export type Precondition =
  { readonly kind: 'version'; readonly seq: number } | { readonly kind: 'absent' } | { readonly kind: 'any' };

export const version = (seq: number): Precondition => ({ kind: 'version', seq });
export const absent: Precondition = { kind: 'absent' };
export const any: Precondition = { kind: 'any' };

export interface Put {
  readonly kind: 'put';
  readonly path: string;
  /** Text is stored as UTF-8. */
  readonly content: Uint8Array | string;
  /** Default: the mode at the base, `file` where there is none. */
  readonly mode?: Mode;
  readonly expect: Precondition;
}

/** A put of a content that `repo.stage` has taken already. */
export interface PutStaged {
  readonly kind: 'put';
  readonly path: string;
  readonly blob: BlobId;
  readonly content?: undefined;
  readonly mode?: Mode;
  readonly expect: Precondition;
}

export interface Delete {
  readonly kind: 'delete';
  readonly path: string;
  readonly expect: Precondition;
}

export interface Move {
  readonly kind: 'move';
  readonly path: string;
  readonly to: string;
  /** Given where the move also edits. */
  readonly content?: Uint8Array | string;
  /** Default: the mode of what is moved. */
  readonly mode?: Mode;
  readonly expect: Precondition;
  /** Of the destination; default `absent`. */
  readonly expectTo?: Precondition;
}

export interface Chmod {
  readonly kind: 'chmod';
  readonly path: string;
  readonly mode: Mode;
  readonly expect: Precondition;
}

export type Change = Put | PutStaged | Delete | Move | Chmod;

export type AuthorKind = 'human' | 'agent' | 'system';

export interface Author {
  readonly name: string;
  readonly kind: AuthorKind;
  readonly email?: string;
  /** Id of the acting agent. */
  readonly agent?: string;
  readonly role?: string;
  readonly model?: string;
}

/** A keyed application value, compare-and-swapped in the same transaction as the changes. */
export interface RecordWrite {
  readonly key: string;
  readonly expect: Precondition;
  /** `null` deletes. */
  readonly value: Uint8Array | string | null;
  /** Staged objects that the record keeps: no collection removes them. */
  readonly objects?: readonly BlobId[];
}

/** A path and the FileVersion that the author had seen of it; 0 where it was absent. */
export interface Read {
  readonly path: string;
  readonly version: number;
}

/**
 * What a discard rests on, so that the author of what went can follow it.
 * - `decision`: a settled choice, by its id.
 * - `identical`: what the hunk says stands in this file already; the store looks.
 * - `check`: a command that failed with the hunk in place, and what it said.
 */
export type DiscardCause =
  | { readonly kind: 'decision'; readonly id: string }
  | { readonly kind: 'identical'; readonly path: string }
  | { readonly kind: 'check'; readonly command: string; readonly finding: string };

/** What became of a hunk: its lines stand in the result, something made of them does, or neither. */
export interface HunkFate {
  readonly fate: 'kept' | 'transformed' | 'discarded';
  /** For `discarded` this, or `because`. */
  readonly reason?: string;
  /** Needed where an agent discards what another wrote. */
  readonly because?: DiscardCause;
}

/** How one hunk of one side of a conflict was dealt with. */
export interface HunkAccount extends HunkFate {
  readonly path: string;
  readonly side: 'current' | 'incoming';
  /** Index of the hunk in the conflict's listing. */
  readonly hunk: number;
}

/** What a caller asks to change, as one atomic piece. At least one change or record. */
export interface Intent {
  /** Default `main`. */
  readonly branch?: string;
  readonly author: Author;
  readonly message: string;
  readonly rationale?: string;
  readonly task?: string;
  /** Rationale of an intended out-of-scope break. */
  readonly breakage?: string;
  readonly changes?: readonly Change[];
  readonly records?: readonly RecordWrite[];
  readonly reads?: readonly Read[];
  /**
   * Newest seq that the author had seen, a snapshot's. With it a file that is added to a directory which was moved
   * since goes where the directory went, and a clash with what came since is kept as a conflict instead of refused.
   */
  readonly asOf?: number;
  /** The same id with the same content gives the first outcome again. */
  readonly operationId?: string;
  /** An open conflict of the same agent whose kept intent this one stands in for, whatever it comes to but rejected. */
  readonly replaces?: string;
  /** Default `merge`. */
  readonly onStale?: 'merge' | 'reject';
  /** Default `record`. */
  readonly onStaleRead?: 'record' | 'reject';
  /** Default `flushed`. */
  readonly durability?: 'flushed' | 'visible';
}
