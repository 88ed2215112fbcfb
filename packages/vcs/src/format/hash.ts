import { hash } from 'blake3-wasm';
import { invariant } from '../core/errors.ts';
import type { BlobId, CommitId } from '../core/ids.ts';
import { ByteWriter } from './bytes.ts';

/** BLAKE3, its first `length` bytes (32 for an id). */
export function digest(bytes: Uint8Array, length = 32): Buffer {
  invariant(bytes instanceof Uint8Array, 'only bytes are hashed');
  return hash(bytes, { length }) as Buffer;
}

export const blobIdOf = (bytes: Uint8Array): BlobId => digest(bytes).toString('hex') as BlobId;

const commitContext = Buffer.from('mound commit 1\0');
const writer = new ByteWriter();

/**
 * A commit's id chains its parents to its body, so that the only hashing done
 * while the writer mutex is held is of this one short string.
 */
export function commitIdOf(parents: readonly CommitId[], time: number, body: Uint8Array): CommitId {
  writer.begin().raw(commitContext).signed(time).raw(body);
  for (const parent of parents) writer.hex(parent);
  return digest(writer.written()).toString('hex') as CommitId;
}
