/**
 * Branded ids: a value of one kind cannot be passed for another by mistake.
 * A branded value is still a plain string or number at run time.
 */
declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** BLAKE3-256 of a blob's bytes in lower-case hex: what `b3sum` prints for the file. */
export type BlobId = Branded<string, 'BlobId'>;
/** BLAKE3-256 over a commit's canonical bytes, lower-case hex. */
export type CommitId = Branded<string, 'CommitId'>;
/** Position in the repo's one log, from 1, gapless. 0 is the empty repository. */
export type Seq = Branded<number, 'Seq'>;
/** The seq at which a path last changed; what compare-and-swap compares. */
export type FileVersion = Branded<number, 'Seq'>;
/** Normalised path inside a repo; see `path.ts`. */
export type RepoPath = Branded<string, 'RepoPath'>;
/** `c` and the seq at which the conflict was recorded, e.g. `c17`. */
export type ConflictId = Branded<string, 'ConflictId'>;
/** `p` and the seq at which the intent was parked, e.g. `p18`. */
export type ParkedId = Branded<string, 'ParkedId'>;

export const conflictIdOf = (seq: number): ConflictId => `c${seq}` as ConflictId;
export const parkedIdOf = (seq: number): ParkedId => `p${seq}` as ParkedId;

/** The seq in a conflict or parked id, or undefined if it is not one. */
export function seqOfId(id: string, letter: 'c' | 'p'): Seq | undefined {
  const match = /^([cp])([1-9][0-9]{0,15})$/.exec(id);
  if (!match || match[1] !== letter) return undefined;
  return Number(match[2]) as Seq;
}

/** Whether a text has the form of a blob's id. */
export const isBlobId = (value: unknown): value is BlobId => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
