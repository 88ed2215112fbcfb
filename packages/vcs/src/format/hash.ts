import { hash } from 'blake3-wasm';
import { invariant } from '../core/errors.ts';
import type { BlobId, CommitId } from '../core/ids.ts';

/** BLAKE3-256. */
export function digest(bytes: Uint8Array): Buffer {
  invariant(bytes instanceof Uint8Array, 'only bytes are hashed');
  return hash(bytes) as Buffer;
}

export const blobIdOf = (bytes: Uint8Array): BlobId => digest(bytes).toString('hex') as BlobId;

const commitContext = Buffer.from('mound commit 1\0');
const digestBytes = 32;

/**
 * A commit's id chains its parents to its body, so that the only hashing done
 * while the writer mutex is held is of this one short string.
 */
export function commitIdOf(parents: readonly CommitId[], time: number, body: Uint8Array): CommitId {
  const head = commitContext.length + 8 + digestBytes;
  const bytes = Buffer.allocUnsafe(head + parents.length * digestBytes);
  bytes.set(commitContext);
  bytes.writeBigInt64BE(BigInt(time), commitContext.length);
  bytes.set(body, commitContext.length + 8);
  for (const [at, parent] of parents.entries()) bytes.write(parent, head + at * digestBytes, 'hex');
  return digest(bytes).toString('hex') as CommitId;
}

const bodyContext = Buffer.from('mound commit body 1\0');

/** Digest of everything of a commit but its parents and time; `canonical` are its packed bytes. */
export function bodyDigestOf(canonical: Uint8Array): Buffer {
  return digest(Buffer.concat([bodyContext, canonical]));
}
