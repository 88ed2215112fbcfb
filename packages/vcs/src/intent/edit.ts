import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Author, Precondition, Read } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';

/** What one path becomes. A move is a delete and a put that name each other. */
export type Edit =
  | {
      readonly kind: 'put';
      readonly path: RepoPath;
      readonly expect: Precondition;
      /** undefined: the content at the moved path's base. */
      readonly content: Buffer | undefined;
      /** Id of the content, once it was hashed. */
      blob?: BlobId | undefined;
      /** undefined: the mode at the base, `file` where there is none. */
      readonly mode: Mode | undefined;
      readonly movedFrom?: RepoPath;
    }
  | { readonly kind: 'delete'; readonly path: RepoPath; readonly expect: Precondition; readonly movedTo?: RepoPath }
  | { readonly kind: 'chmod'; readonly path: RepoPath; readonly expect: Precondition; readonly mode: Mode };

export interface RecordEdit {
  readonly key: string;
  readonly expect: Precondition;
  readonly value: Buffer | null;
  readonly objects: readonly BlobId[];
}

/** An intent whose form is right: paths parsed, bounds checked, defaults filled in. */
export interface AdmittedIntent {
  readonly branch: string;
  readonly author: Author;
  readonly message: string;
  readonly rationale: string | undefined;
  readonly task: string | undefined;
  readonly breakage: string | undefined;
  readonly edits: readonly Edit[];
  readonly records: readonly RecordEdit[];
  readonly reads: readonly Read[];
  /** Newest seq that the author had seen; undefined: not told. */
  readonly asOf?: number | undefined;
  readonly operationId: string | undefined;
  readonly onStale: 'merge' | 'reject';
  readonly onStaleRead: 'record' | 'reject';
  /** Seq of the commit of another branch that this one brings in, as a further parent; 0: none. */
  readonly mergedSeq: number;
  /** Seq of the conflict whose kept intent this one replaces; 0: none. */
  readonly replaces: number;
}
