/** One path that a command changed, as the `commit` tool takes it. */
export interface CollectedChange {
  readonly path: string;
  /** null: it was deleted; absent: only its mode changed. */
  readonly content?: string | null;
  readonly encoding?: 'base64';
  readonly mode?: 'file' | 'executable' | 'symlink';
  /** What it was based on. */
  readonly expect: number | 'absent';
}

export interface Collected {
  readonly changes: readonly CollectedChange[];
  /** What could not be taken, and why. */
  readonly skipped: readonly string[];
}

/** The files that a command works on: the real store in a run, a fake in a test. */
export interface CommandWorkspaces {
  /** Puts the files as of a seq into an empty directory. */
  materialise(dir: string, base: number): Promise<void>;
  /** What in it differs from what was put there. Throws `RangeError` where it is more than one intent may hold. */
  collect(dir: string): Promise<Collected>;
  /** Nobody works in it any more. `isGood`: its command has succeeded, so that what its builds left may serve others. */
  leave(dir: string, isGood: boolean): Promise<void>;
}
