import type { BlobId } from './ids.ts';
import type { Author } from './intent.ts';
import type { Mode } from './mode.ts';

/** What an import lands: a change of one path, whatever the tree held. */
export interface GitChange {
  /** Raw path bytes as in the git tree. */
  readonly path: Uint8Array;
  /** undefined deletes. */
  readonly mode: Mode | undefined;
  /** Git id of the blob, or a gitlink's commit; undefined for a delete. */
  readonly id: string | undefined;
  /** Git id of what the path held before: the content is likely to resemble it. */
  readonly oldId: string | undefined;
  /** Path bytes of a file that this commit takes away and that became this one. */
  readonly movedFrom?: Uint8Array;
  /** Bytes, or what `known` gave for the id; for a gitlink its 40 hex digits as ASCII. Not to be changed afterwards. */
  readonly content: Buffer | KnownBlob | undefined;
}

/** A blob that an intake has stored already: a change names it instead of its bytes. */
export interface KnownBlob {
  readonly blob: BlobId;
  readonly size: number;
}

export interface GitLanding {
  /** Made, by a fork at `base`, where it is not there. */
  readonly branch: string;
  /** Git id of the landing that the branch stands at before; undefined: at none. */
  readonly base: string | undefined;
  /** Git ids of the parents that are here, as the commit lists them. */
  readonly parents: readonly string[];
  readonly author: Author;
  readonly message: string;
  /** Milliseconds since 1970 (committer time). */
  readonly time: number;
  /** Against `base`. */
  readonly changes: readonly GitChange[];
  /** Raw commit object without its header. */
  readonly raw: Buffer;
  /** 40 hex digits. */
  readonly gitId: string;
}
