import { digest } from './hash.ts';

/** Keys are big-endian bytes, so that their byte order is their numeric order. */

export function seqKey(seq: number): Buffer {
  const key = Buffer.allocUnsafe(6);
  key.writeUIntBE(seq, 0, 6);
  return key;
}

export const seqOfKey = (key: Uint8Array): number =>
  Buffer.from(key.buffer, key.byteOffset, key.length).readUIntBE(0, 6);

export function idKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(id);
  return key;
}

/** Longer authors stand under their digest. */
export const authorKey = (packed: Buffer): Buffer => (packed.length <= 64 ? packed : digest(packed));

export function headKey(branchId: number, pathId: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeUInt32BE(branchId, 0);
  key.writeUInt32BE(pathId, 4);
  return key;
}

export function partKey(seq: number, index: number, part: number): Buffer {
  const key = Buffer.allocUnsafe(12);
  key.writeUIntBE(seq, 0, 6);
  key.writeUIntBE(index, 6, 4);
  key.writeUInt16BE(part, 10);
  return key;
}

/** LMDB's keys end at 1,978 bytes; a longer path keeps its beginning (for the order) and a digest. */
const plainPathBytesMax = 1024;

export function pathKey(path: Uint8Array): Buffer {
  if (path.length <= plainPathBytesMax) return Buffer.concat([path, Buffer.of(0)]);
  return Buffer.concat([path.subarray(0, plainPathBytesMax), Buffer.of(0), digest(path)]);
}
