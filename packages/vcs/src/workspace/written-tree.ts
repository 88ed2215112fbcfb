import type { RepoPath } from '../core/ids.ts';

/** A path that is not written, and why. */
export interface SkippedPath {
  readonly path: string;
  readonly reason: string;
}

export interface WrittenTree {
  readonly files: number;
  /** Of these, hard links to files that other workspaces link, too. */
  readonly linked: number;
  /** Of the others, clones of a file of the cache: they share its blocks until one is written to. */
  readonly cloned: number;
  readonly gitlinks: readonly RepoPath[];
  readonly skipped: readonly SkippedPath[];
  /** Paths that a file system which folds case or Unicode form takes for one, in groups. */
  readonly collisions: readonly (readonly RepoPath[])[];
}
