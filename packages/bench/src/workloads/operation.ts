/** git's kinds of entry that a commit of the bench may write. */
export type FileMode = 'file' | 'executable' | 'symlink';

export interface FileChange {
  readonly path: string;
  /** The whole new content; null deletes the path. */
  readonly content: Buffer | null;
  /** Default `file`. */
  readonly mode?: FileMode;
}

/** One commit that every subject has to make, whatever it calls it. */
export interface CommitOperation {
  /** Unique within a run; must be found again in the subject's history. */
  readonly id: string;
  readonly agent: string;
  readonly message: string;
  readonly rationale: string;
  readonly changes: readonly FileChange[];
}

/** Content of each path before the first operation. */
export type InitialFiles = ReadonlyMap<string, Buffer>;

/** What a subject has acknowledged so far, to be checked against what it holds. */
export interface Acknowledged {
  readonly operationIds: readonly string[];
  /** Every path that was touched, with its content now (null: deleted). */
  readonly files: ReadonlyMap<string, Buffer | null>;
}

/** A deterministic sequence of operations, of which a subject acknowledges a prefix at a time. */
export interface OperationStream {
  /** The next `count` operations that are not acknowledged yet; the same ones until they are. */
  peek(count: number): readonly CommitOperation[];
  acknowledge(count: number): void;
  readonly acknowledged: Acknowledged;
}
