import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { MoundError } from '../core/errors.ts';
import type { BlobId } from '../core/ids.ts';
import { sealed, unsealed } from './seal.ts';

/** A staged object's bytes stand in rows of at most this many. */
const rowBytesMax = 1024 * 1024;
const headBytes = 13;

/** What the first row of a staged object says of it. */
export interface StagedHead {
  /** Milliseconds since 1970 at which it was staged last. */
  readonly time: number;
  /** Bytes of the content. */
  readonly size: number;
  readonly rows: number;
  readonly isDeflated: boolean;
}

/** The key of one row of an object: its id and the row's number. */
export function objectKey(blob: BlobId, row: number): Buffer {
  const key = Buffer.allocUnsafe(34);
  key.write(blob, 'hex');
  key.writeUInt16BE(row, 32);
  return key;
}

export const blobOfObjectKey = (key: Buffer): BlobId => key.toString('hex', 0, 32) as BlobId;
export const rowOfObjectKey = (key: Buffer): number => key.readUInt16BE(32);

/** The rows of a staged object, in order. The first begins with `u48 time, u32 size, u16 rows, u8 deflated`. */
export function encodeObject(content: Buffer, time: number): Buffer[] {
  const packed = deflateRawSync(content, { level: 1 });
  const isDeflated = packed.length < content.length * 0.9;
  const bytes = isDeflated ? packed : content;
  const rows = Math.max(1, Math.ceil(bytes.length / rowBytesMax));
  return Array.from({ length: rows }, (_, row) => {
    const part = bytes.subarray(row * rowBytesMax, (row + 1) * rowBytesMax);
    return sealed(row > 0 ? part : Buffer.concat([encodeHead({ time, size: content.length, rows, isDeflated }), part]));
  });
}

function encodeHead({ time, size, rows, isDeflated }: StagedHead): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUIntBE(time, 0, 6);
  head.writeUInt32BE(size, 6);
  head.writeUInt16BE(rows, 10);
  head[12] = isDeflated ? 1 : 0;
  return head;
}

/** Errors: `object-damaged`. */
export function decodeStagedHead(first: Buffer): StagedHead {
  const bytes = unsealed(first);
  return {
    time: bytes.readUIntBE(0, 6),
    size: bytes.readUInt32BE(6),
    rows: bytes.readUInt16BE(10),
    isDeflated: bytes[12] === 1,
  };
}

/** The first row with another time. */
export function restaged(first: Buffer, time: number): Buffer {
  const bytes = Buffer.from(unsealed(first));
  bytes.writeUIntBE(time, 0, 6);
  return sealed(bytes);
}

/** The content of rows that are all there, not compared with the id. Errors: `object-damaged`. */
export function decodeObject(rows: readonly Buffer[]): Buffer {
  const [first] = rows;
  if (first === undefined) throw new MoundError('object-damaged', 'a staged object has no rows');
  const { size, isDeflated } = decodeStagedHead(first);
  const bytes = Buffer.concat(rows.map((row, at) => (at === 0 ? unsealed(row).subarray(headBytes) : unsealed(row))));
  try {
    return isDeflated ? inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) }) : bytes;
  } catch (cause) {
    throw new MoundError('object-damaged', 'a staged object cannot be decoded', {}, cause);
  }
}
