import type { FlagSignal } from '../core/event.ts';
import type { BlobId, CommitId, Seq } from '../core/ids.ts';
import type { Mode } from '../core/mode.ts';
import type { DriverNote } from '../core/outcome.ts';

/**
 * The log's entries. Each takes one seq; events are projections of them.
 * On disk an entry is a packed positional array whose first element is the
 * kind's number; `docs/spec/storage-format.md` lists the positions.
 */

/** Where one version of a path (or record) stands: change `index` of entry `seq`. seq 0 is nowhere. */
export interface Place {
  readonly seq: number;
  readonly index: number;
}

export const nowhere: Place = { seq: 0, index: 0 };

/**
 * A version's place in its chain. `jump` leads further back, so that any older
 * version is found in a logarithmic number of steps (skew-binary jump pointers,
 * Myers 1983, "An applicative random-access stack").
 */
export interface Link {
  readonly previous: Place;
  /** How many versions stand before this one in its chain. */
  readonly depth: number;
  readonly jump: Place;
}

/** How a blob's bytes are stored with the change that brought them. */
export interface Body {
  readonly form: 'none' | 'raw' | 'deflate' | 'delta' | 'delta-deflate' | 'same' | 'purged';
  /** For `delta…` and `same`: the version that the delta applies to. */
  readonly base: Place;
  /** Number of deltas to apply from a whole body to this one. */
  readonly chain: number;
  /** Bytes of the content. */
  readonly size: number;
  /** Stored bytes; empty where they stand in parts. */
  readonly bytes: Uint8Array;
  /** Number of parts in the `parts` table that are this body's alone. */
  readonly parts: number;
  /** Where its bytes stand among those of others; undefined: inline, or in parts of its own. */
  readonly shelf?: Shelf | undefined;
}

/** A range of a shelf, which holds bodies of one entry one after another. */
export interface Shelf {
  /** Of the change under which the shelf stands, the first of those that share it. */
  readonly index: number;
  readonly offset: number;
  readonly length: number;
}

export interface ChangeRow extends Link {
  readonly pathId: number;
  /** undefined: deleted. */
  readonly mode: Mode | undefined;
  readonly blob: BlobId | undefined;
  readonly body: Body;
  /** 0 where the path was not moved. On a delete: where it went; on a put: where it came from. */
  readonly movedPathId: number;
}

export interface RecordRow extends Link {
  readonly key: string;
  /** null: deleted. */
  readonly value: Uint8Array | null;
  /** Staged objects that it names. */
  readonly objects: readonly BlobId[];
}

/** A path whose stale change was merged: places of the merge's inputs. */
export interface MergedRow extends DriverNote {
  readonly pathId: number;
  readonly base: Place;
  readonly current: Place;
}

export interface StaleReadRow {
  readonly path: string;
  readonly seen: number;
  readonly actual: number;
}

/** Lines of a split file that went to a module, one for one. Lines count from 0. */
export interface SplitRange {
  readonly start: number;
  readonly count: number;
  readonly toPathId: number;
  readonly toStart: number;
}

/** A file that a landing split; what was split is the version before the landing's change of the path. */
export interface SplitRow {
  readonly pathId: number;
  readonly ranges: readonly SplitRange[];
}

/** A reference to a decision that landed though it is not right. */
export interface ReferenceRow {
  readonly pathId: number;
  /** From 1. */
  readonly line: number;
  /** Of the decision. */
  readonly id: string;
  readonly standing: 'missing' | 'superseded' | 'outdated';
}

interface EntryHead {
  readonly seq: Seq;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly branchId: number;
  readonly authorId: number;
}

export interface LandingEntry extends EntryHead {
  readonly kind: 'landing';
  readonly operationId: string | undefined;
  /** Digest (8 bytes) of the intent as asked for; with an operation id. */
  readonly asked: Uint8Array | undefined;
  readonly commit: CommitId | undefined;
  /** Seqs of the parent commits' entries; the first is the branch's own. */
  readonly parents: readonly number[];
  readonly message: string;
  readonly rationale: string | undefined;
  readonly task: string | undefined;
  readonly breakage: string | undefined;
  readonly changes: readonly ChangeRow[];
  readonly records: readonly RecordRow[];
  readonly merged: readonly MergedRow[];
  readonly staleReads: readonly StaleReadRow[];
  readonly coAuthorIds: readonly number[];
  /** Seq of the conflict entry that this landing ends; 0: none. */
  readonly resolves: number;
  /** How it does. */
  readonly ending: ConflictEnding;
  /** Seq of the parked entry that this landing carries out; 0: none. */
  readonly unparks: number;
  /** Packed accounting of hunks, where a conflict was resolved. */
  readonly accounts: Uint8Array | undefined;
  /** Paths of the intent that others had brought to what it asked. */
  readonly piled: readonly PiledRow[];
  /** References that a landing rule tells of. */
  readonly references: readonly ReferenceRow[];
  readonly gitRaw: Uint8Array | undefined;
  readonly split: SplitRow | undefined;
}

/** What ended a conflict: its resolution, its sides that merge by now, or another intent of its author. */
export type ConflictEnding = 'resolution' | 'remerge' | 'replacement';

export interface ConflictPathRow extends DriverNote {
  readonly path: string;
  /** Path that the intent named, where the edit followed a move. */
  readonly askedPath: string;
  readonly reason: string;
  /** Lines of the base (from 0) at which the driver found fault with what merges clean by line. */
  readonly refused: { readonly start: number; readonly count: number } | undefined;
  readonly base: Place;
  readonly current: Place;
  /** What the intent makes of the path; undefined: nothing stays there. */
  readonly incoming: { readonly blob: BlobId; readonly mode: Mode } | undefined;
}

export interface ConflictEntry extends EntryHead {
  readonly kind: 'conflict';
  readonly operationId: string | undefined;
  readonly asked: Uint8Array | undefined;
  readonly task: string | undefined;
  /** Seq as of which the sides were compared. */
  readonly comparedAt: number;
  readonly paths: readonly ConflictPathRow[];
  /** The whole intent (see `kept.ts`), deflated; empty where it stands in parts. */
  readonly kept: Uint8Array;
  readonly keptParts: number;
  readonly unparks: number;
  /** Seq of the conflict whose kept intent this one takes the place of; 0: none. */
  readonly replaces: number;
}

export interface ParkedEntry extends EntryHead {
  readonly kind: 'parked';
  readonly operationId: string | undefined;
  readonly asked: Uint8Array | undefined;
  readonly task: string | undefined;
  readonly paths: readonly string[];
  readonly kept: Uint8Array;
  readonly keptParts: number;
  /** As of a conflict. */
  readonly replaces: number;
}

/** A conflict whose intent, decided again or replaced, left nothing to land. */
export interface ClosedEntry extends EntryHead {
  readonly kind: 'closed';
  readonly operationId: string | undefined;
  readonly asked: Uint8Array | undefined;
  readonly conflict: number;
  readonly ending: ConflictEnding;
  /** Newest FileVersion among the paths. */
  readonly at: number;
}

/** A parked intent that was decided again and neither landed nor conflicted. */
export interface UnparkedEntry extends EntryHead {
  readonly kind: 'unparked';
  readonly parked: number;
  readonly outcome: string;
  readonly code: string | undefined;
  readonly message: string;
}

export interface FlagEntry extends EntryHead {
  readonly kind: 'flag';
  readonly path: string;
  readonly reason: string;
  /** What the store noticed by itself; undefined: somebody flagged it. */
  readonly signal: FlagSignal | undefined;
}

/** An intent that came to `unchanged`, since others had landed the same. */
export interface PiledEntry extends EntryHead {
  readonly kind: 'piled';
  readonly task: string | undefined;
  readonly paths: readonly PiledRow[];
}

/** A path and the version that is what an intent asked for. */
export interface PiledRow {
  readonly pathId: number;
  readonly at: Place;
}

export interface MarkEntry extends EntryHead {
  readonly kind: 'freeze' | 'thaw';
  readonly path: string;
  readonly reason: string;
  /** Of a freeze: whose intents land all the same; see `actorOf`. */
  readonly owner?: string | undefined;
  /** Of a freeze: when it ends by itself, ms since 1970; 0: it does not. */
  readonly until?: number;
}

export interface ForkEntry extends EntryHead {
  readonly kind: 'fork';
  readonly name: string;
  readonly parentId: number;
  readonly at: number;
}

export interface TagEntry extends EntryHead {
  readonly kind: 'tag';
  readonly name: string;
  readonly at: number;
}

/** Objects whose bytes were removed from the whole history. */
export interface PurgeEntry extends EntryHead {
  readonly kind: 'purge';
  readonly blobs: readonly BlobId[];
  readonly reason: string;
}

export type LogEntry =
  | PurgeEntry
  | LandingEntry
  | ConflictEntry
  | ClosedEntry
  | FlagEntry
  | PiledEntry
  | ParkedEntry
  | UnparkedEntry
  | MarkEntry
  | ForkEntry
  | TagEntry;
