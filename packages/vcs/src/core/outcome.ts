import type { BlobId, CommitId, ConflictId, FileVersion, ParkedId, RepoPath, Seq } from './ids.ts';

export type RejectionCode =
  | 'invalid-intent'
  | 'invalid-path'
  | 'path-collision'
  | 'path-clash'
  | 'limit-exceeded'
  | 'stale'
  | 'stale-read'
  | 'record-stale'
  | 'no-such-branch'
  | 'no-such-path'
  | 'no-such-version'
  | 'no-such-conflict'
  | 'conflict-foreign'
  | 'resolution-unaccounted'
  | 'resolution-has-markers'
  | 'resolution-stale'
  | 'frozen'
  | 'rule-violated'
  | 'no-such-object'
  | 'workspace-conflict'
  | 'overloaded';

/** One path (or record key) that stands otherwise than expected; versions are 0 where absent. */
export interface StaleDetail {
  readonly path: string;
  readonly expected: number | 'absent' | 'any';
  readonly actual: number;
}

export interface Rejected {
  readonly kind: 'rejected';
  readonly code: RejectionCode;
  /** One line: what was wrong and where. */
  readonly message: string;
  /** One line: what to do next. */
  readonly next: string;
  readonly paths: readonly string[];
  readonly stale: readonly StaleDetail[];
  /** Name of the landing rule that forbids it. */
  readonly rule?: string;
}

export interface Landed {
  readonly kind: 'landed';
  readonly seq: Seq;
  /** undefined for a record-only intent, which makes no commit. */
  readonly commit: CommitId | undefined;
}

/** Every change is already true; no commit. */
export interface Unchanged {
  readonly kind: 'unchanged';
  /** The newest FileVersion among the paths. */
  readonly seq: Seq;
}

/** What a merge line by line came to. */
export type LinesVerdict = 'clean' | 'conflict';

/**
 * What a driver that reads the structure of a content said beside the lines.
 * - `clean`, `conflict`: its answer, which counts.
 * - `unasked`: nothing gave it a reason to look; `unparsed`, `too-large`,
 *   `unavailable`: it could not look. The lines' answer counts.
 */
export type StructureVerdict = 'clean' | 'conflict' | 'unasked' | 'unparsed' | 'too-large' | 'unavailable';

/** Who merged a path, and how each of its opinions came out. */
export interface DriverNote {
  readonly driver: string;
  /** Of the driver: the same id and version give the same answer to the same contents. */
  readonly driverVersion: string;
  /** undefined where no lines were compared. */
  readonly lines: LinesVerdict | undefined;
  /** undefined where the driver knows no structure. */
  readonly structure: StructureVerdict | undefined;
}

export interface MergedPath extends DriverNote {
  readonly path: RepoPath;
  /** FileVersions; 0 where absent. */
  readonly base: FileVersion;
  readonly current: FileVersion;
  /** Blob that landed; undefined where the merge came out as a delete. */
  readonly result: BlobId | undefined;
}

export interface Merged {
  readonly kind: 'merged';
  readonly seq: Seq;
  readonly commit: CommitId | undefined;
  readonly merged: readonly MergedPath[];
}

/** Some paths would not merge: the whole intent is kept, nothing of it landed. */
export interface Conflicted {
  readonly kind: 'conflicted';
  readonly seq: Seq;
  readonly conflict: ConflictId;
  readonly paths: readonly RepoPath[];
}

/** A path is frozen: the whole intent is kept and decided again at thaw. */
export interface Parked {
  readonly kind: 'parked';
  readonly seq: Seq;
  readonly parked: ParkedId;
  readonly paths: readonly RepoPath[];
}

export type Outcome = Landed | Unchanged | Merged | Conflicted | Parked | Rejected;
export type OutcomeKind = Outcome['kind'];
