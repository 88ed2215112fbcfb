import type { BlobId, CommitId, ConflictId, RepoPath, Seq } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';

/** One landed commit as a reader sees it. */
export interface CommitView {
  readonly seq: Seq;
  readonly commit: CommitId | undefined;
  readonly parents: readonly CommitId[];
  readonly branch: string;
  readonly author: Author;
  readonly coAuthors: readonly Author[];
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly message: string;
  readonly rationale?: string;
  readonly task?: string;
  readonly breakage?: string;
  readonly operationId?: string;
  readonly changes: readonly CommitChange[];
  /** Raw git commit object (without header) where the landing was imported. */
  readonly gitRaw?: Buffer;
}

export interface CommitChange {
  readonly path: RepoPath;
  /** undefined where the path was deleted. */
  readonly blob: BlobId | undefined;
  readonly mode: Mode | undefined;
  /** FileVersion that this change replaced; 0 where there was none. */
  readonly previous: number;
  readonly movedFrom?: RepoPath;
}

export interface LogOptions {
  readonly branch?: string;
  readonly path?: string;
  readonly author?: string;
  readonly task?: string;
  /** Newest seq to show, default the newest of all. */
  readonly from?: number;
  readonly limit?: number;
}

/** One side of a conflicted path; undefined content means absent there. */
export interface ConflictSide {
  readonly version: number;
  readonly blob: BlobId | undefined;
  readonly mode: Mode | undefined;
  readonly content: Buffer | undefined;
}

/** Lines of one side that belong to a hunk: `start` from 1, the line before which an empty range stands. */
export interface HunkLines {
  readonly start: number;
  readonly count: number;
  readonly text: Uint8Array;
}

/** One stretch over which the sides disagree; a conflict about a whole path has one that holds everything. */
export interface Hunk {
  /** From 0; what a `HunkAccount` names. */
  readonly index: number;
  readonly base: HunkLines;
  readonly current: HunkLines;
  readonly incoming: HunkLines;
}

export interface ConflictPath {
  readonly path: RepoPath;
  /** e.g. `content`, `add/add`, `modify/delete`, `delete/modify`, `binary`, `file/directory`. */
  readonly reason: string;
  readonly driver: string;
  readonly base: ConflictSide;
  /** As of the view's `asOf`: it moves on while the conflict is open. */
  readonly current: ConflictSide;
  readonly incoming: ConflictSide;
  /** Empty where the sides merge by now. */
  readonly hunks: readonly Hunk[];
}

export interface ConflictView {
  readonly id: ConflictId;
  readonly state: 'open' | 'resolved';
  /** Seq as of which `current` is shown: a resolution names it as what it has seen. */
  readonly asOf: Seq;
  readonly branch: string;
  readonly author: Author;
  readonly message: string;
  readonly task?: string;
  readonly operationId?: string;
  readonly time: number;
  readonly paths: readonly ConflictPath[];
  /** seq of the resolving landing. */
  readonly resolvedAt?: Seq;
}

export interface FsckReport {
  readonly ok: boolean;
  readonly entries: number;
  readonly objects: number;
  readonly errors: readonly {
    readonly code: string;
    readonly message: string;
    readonly seq: number;
    readonly path?: string;
  }[];
}

export interface Stats {
  readonly seq: Seq;
  readonly commits: number;
  readonly objects: number;
  readonly paths: number;
  readonly branches: number;
  readonly conflictsOpen: number;
  readonly parkedOpen: number;
  /** Bytes of the store's files on disk. */
  readonly bytes: number;
}
