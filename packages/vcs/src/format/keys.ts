import type { BlobId } from '../core/ids.ts';
import type { Mode } from '../core/mode.ts';
import { digest } from './hash.ts';
import { modeNumberOf } from './mode-number.ts';

interface Target {
  readonly blob: BlobId;
  readonly mode: Mode;
}

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

/** Of what a conflict's incoming side makes of a path: found by whoever lands just that. */
export function conflictSideKey(branchId: number, pathId: number, target: Target | undefined): Buffer {
  const blob = target === undefined ? Buffer.alloc(0) : Buffer.from(target.blob, 'hex').subarray(0, 16);
  return Buffer.concat([headKey(branchId, pathId), Buffer.of(modeNumberOf(target?.mode)), blob]);
}

export const pathIdOfHead = (key: Uint8Array): number =>
  Buffer.from(key.buffer, key.byteOffset, key.length).readUInt32BE(4);

/** A split of a path: those of one path stand together, in their order. */
export function redirectKey(branchId: number, pathId: number, seq: number): Buffer {
  const key = Buffer.allocUnsafe(14);
  key.writeUInt32BE(branchId, 0);
  key.writeUInt32BE(pathId, 4);
  key.writeUIntBE(seq, 8, 6);
  return key;
}

/** A landing that states a breakage: those of one branch stand together, in their order. */
export function breakageKey(branchId: number, seq: number): Buffer {
  const key = Buffer.allocUnsafe(10);
  key.writeUInt32BE(branchId, 0);
  key.writeUIntBE(seq, 4, 6);
  return key;
}

/** A path of which some version cites a symbol: those of one symbol stand together. */
export const referenceKey = (symbol: string, pathId: number): Buffer =>
  Buffer.concat([Buffer.from(symbol), Buffer.of(0), idKey(pathId)]);

export const pathIdOfReference = (key: Uint8Array): number =>
  Buffer.from(key.buffer, key.byteOffset, key.length).readUInt32BE(key.length - 4);

export function partKey(seq: number, index: number, part: number): Buffer {
  const key = Buffer.allocUnsafe(12);
  key.writeUIntBE(seq, 0, 6);
  key.writeUIntBE(index, 6, 4);
  key.writeUInt16BE(part, 10);
  return key;
}

/** A shelf stands under the last part, out of the way of parts that the same change's body may come to have. */
export const shelfKey = (seq: number, index: number): Buffer => partKey(seq, index, 0xffff);

/** LMDB's keys end at 1,978 bytes; a longer path keeps its beginning (for the order) and a digest. */
const plainPathBytesMax = 1024;

export function pathKey(path: Uint8Array): Buffer {
  if (path.length <= plainPathBytesMax) return Buffer.concat([path, Buffer.of(0)]);
  return Buffer.concat([path.subarray(0, plainPathBytesMax), Buffer.of(0), digest(path)]);
}
