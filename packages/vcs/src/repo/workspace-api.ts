import type { BlobId, ConflictId, ParkedId, RepoPath, Seq } from '../core/ids.ts';
import type { Intent } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import type { Outcome } from '../core/outcome.ts';

export interface WorkspaceOptions {
  /** Of a new one; default `main`. */
  readonly branch?: string;
  /** The snapshot on which a new one stands; default: the newest. */
  readonly at?: number;
  /** Make it where there is none (default), never (`false`), or only where there is none (`'new'`). */
  readonly create?: boolean | 'new';
}

export interface WorkspaceView {
  readonly name: string;
  readonly branch: string;
  readonly seq: Seq;
  readonly dir: string | undefined;
  readonly sparse: readonly string[];
  readonly state: 'adding' | 'ready' | 'removing';
  /** Paths with an edit, and those of them in local conflict. */
  readonly edits: number;
  readonly conflicts: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

export interface FileState {
  readonly content: Buffer;
  readonly mode: Mode;
}

/** A path that differs from the snapshot that its edit was made on. */
export interface WorkspaceChange {
  readonly path: RepoPath;
  readonly kind: 'added' | 'modified' | 'deleted' | 'moved';
  /** undefined: deleted. */
  readonly mode: Mode | undefined;
  /** FileVersion that the edit was made on; 0: absent. */
  readonly base: number;
  readonly movedFrom?: RepoPath;
  /** Why it does not merge with what a sync brought; until it is resolved it blocks the path from commit. */
  readonly conflict?: string;
  /** The conflict or parked intent that took the edit in. */
  readonly kept?: ConflictId | ParkedId;
}

export interface WorkspaceStatus {
  readonly workspace: string;
  readonly seq: Seq;
  /** In byte order of the paths. */
  readonly changes: readonly WorkspaceChange[];
}

/** A local conflict's three sides; null: absent. */
export interface LocalConflict {
  readonly path: RepoPath;
  readonly reason: string;
  readonly base: FileState | null;
  readonly current: FileState | null;
  /** The whole edit as it was before the sync. */
  readonly incoming: FileState | null;
}

export interface SyncReport {
  readonly from: Seq;
  readonly seq: Seq;
  /** Paths that are now what they are at `seq`. */
  readonly updated: readonly RepoPath[];
  /** Edits merged with what changed beneath them. */
  readonly merged: readonly RepoPath[];
  /** Edits that would not merge: local conflicts, new or still open. */
  readonly conflicts: readonly RepoPath[];
  /** Paths that wait until an edit makes room for them. */
  readonly heldBack: readonly RepoPath[];
}

export interface CommitOptions extends Pick<
  Intent,
  | 'author'
  | 'message'
  | 'rationale'
  | 'task'
  | 'breakage'
  | 'reads'
  | 'records'
  | 'operationId'
  | 'onStale'
  | 'onStaleRead'
> {
  /** Files, or all below directories; default: every edit. */
  readonly paths?: readonly string[];
}

/** What one path becomes by a shelve. */
export interface ShelvedEdit {
  readonly path: RepoPath;
  /** null deletes. */
  readonly content: Uint8Array | null;
  readonly mode: Mode;
  /** Why it is a local conflict with what stood, and no plain edit. */
  readonly conflict?: string | undefined;
}

/**
 * An agent's private overlay on a snapshot: rows in the store, durable when a call returns. It holds no lock and no
 * transaction; several handles of one workspace, in several processes, see one state.
 * Every method may throw `no-such-workspace` (it was removed) and `repo-closed`; those that edit throw
 * `workspace-has-files` where it has a directory: edits are made there.
 */
export interface Workspace {
  readonly name: string;
  readonly branch: string;
  /** The snapshot that it stands on. */
  readonly seq: Seq;
  readonly dir: string | undefined;

  /** Bytes, verified; undefined where the path is absent. */
  read(path: string): Buffer | undefined;
  readText(path: string): string | undefined;
  head(path: string): { readonly blob: BlobId; readonly mode: Mode } | undefined;
  /** Paths in byte order; `prefix` is a directory or empty for all. */
  list(prefix?: string): RepoPath[];

  /** Errors: `path-refused`, `path-clash`, `invalid-argument` (too large). The mode stays what it was unless given. */
  write(path: string, content: Uint8Array | string, options?: { readonly mode?: Mode }): Promise<void>;
  /** Errors: `no-such-path`. */
  delete(path: string): Promise<void>;
  /** One file. Errors: `no-such-path`, `path-clash` where the destination exists, `path-refused`. */
  move(from: string, to: string): Promise<void>;
  /** Errors: `no-such-path`. */
  chmod(path: string, mode: 'file' | 'executable'): Promise<void>;
  /** Takes back the edits of paths (files, or all below directories), conflicts included; gives those paths. */
  discard(paths: readonly string[]): Promise<RepoPath[]>;

  status(): WorkspaceStatus;
  /** Errors: `no-such-path` where the path is in no local conflict. */
  conflict(path: string): LocalConflict;
  /**
   * What the path holds now, or `content` (null deletes), is the merge of both sides.
   * Errors: `no-such-path` where it is in no conflict, `invalid-argument` where conflict markers remain.
   */
  resolve(path: string, content?: Uint8Array | string | null): Promise<void>;
  /** Brings it to a later seq, default the newest; edits are merged, never removed. Errors: `no-such-seq`. */
  sync(options?: { readonly to?: number }): Promise<SyncReport>;
  /** Lands its edits as one intent. */
  commit(options: CommitOptions): Promise<Outcome>;
}
