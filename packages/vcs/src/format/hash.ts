// What the package's own `hash` calls, with a place for the digest: it allocates one each time, and a landing hashes four times.
import { hash } from 'blake3-wasm/dist/wasm/nodejs/blake3_js.js';
import { copyOf } from '../core/allocate.ts';
import { invariant } from '../core/errors.ts';
import type { BlobId, CommitId } from '../core/ids.ts';
import { ByteWriter } from './bytes.ts';

const idBytes = 32;
/** The last digest. */
const hashed = Buffer.alloc(idBytes);

function hashOnce(bytes: Uint8Array): Buffer {
  invariant(bytes instanceof Uint8Array, 'only bytes are hashed');
  hash(bytes, hashed);
  return hashed;
}

/** BLAKE3, its first `length` bytes (32 at most). */
export const digest = (bytes: Uint8Array, length = idBytes): Buffer => copyOf(hashOnce(bytes).subarray(0, length));

export const blobIdOf = (bytes: Uint8Array): BlobId => hashOnce(bytes).toString('hex') as BlobId;

const commitContext = Buffer.from('mound commit 1\0');
const writer = new ByteWriter();

/**
 * A commit's id chains its parents to its body, so that the only hashing done
 * while the writer mutex is held is of this one short string.
 */
export function commitIdOf(parents: readonly CommitId[], time: number, body: Uint8Array): CommitId {
  writer.begin().raw(commitContext).signed(time).raw(body);
  for (const parent of parents) writer.hex(parent);
  return hashOnce(writer.written()).toString('hex') as CommitId;
}
