import type { RepoPath } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type {
  CommitOptions,
  FileState,
  LocalConflict,
  SyncReport,
  Workspace,
  WorkspaceChange,
  WorkspaceStatus,
} from '../repo/workspace-api.ts';
import type { SkippedPath } from './written-tree.ts';

export interface DirectoryStatus extends WorkspaceStatus {
  /** Paths on disk that a workspace does not take, and why. */
  readonly refused: readonly SkippedPath[];
}

export interface DirectorySync extends SyncReport {
  /** Paths that this file system has no place for, beside those that are there. */
  readonly skipped: readonly SkippedPath[];
}

/** One changed path with what it was and is. */
export interface DirectoryChange extends WorkspaceChange {
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
}

/**
 * A workspace's files on disk. Edits are made there by whatever program; they are found when one of these methods
 * looks, and become rows of the workspace by all but `status` and `changes`. Made by `openWorkspace` and `addWorkspace`.
 */
export interface WorkspaceDirectory {
  readonly dir: string;
  readonly workspace: Workspace;
  /** Errors: `file-changing`. */
  status(): Promise<DirectoryStatus>;
  /** Every changed path with both contents. Errors: `file-changing`, `purged`. */
  changes(): Promise<DirectoryChange[]>;
  /** Makes rows of all edits on disk. Errors: `file-changing`. */
  shelve(): Promise<DirectoryStatus>;
  /** Shelves everything and lets go of the directory. */
  close(): Promise<void>;
  /** Shelves, then lands the edits, or those of named paths. Errors: `file-changing`, `no-such-path`. */
  commit(options: CommitOptions): Promise<Outcome>;
  /**
   * Brings the files to a later seq, default the newest. Edits are merged, never removed.
   * Errors: `no-such-seq`, `path-clash` and `path-refused` where something on disk is in the way, `file-changing`.
   */
  sync(options?: { readonly to?: number }): Promise<DirectorySync>;
  /** What the path's file holds now is the merge of both sides. Errors: as `Workspace.resolve`, `file-changing`. */
  resolve(path: string): Promise<void>;
  conflict(path: string): LocalConflict;
  /** Takes back the edits of paths, on disk, too. Errors: `file-changing`, `path-refused`. */
  discard(paths: readonly string[]): Promise<RepoPath[]>;
}
