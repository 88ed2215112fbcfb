import { crc32 } from 'node:zlib';
import { MoundError } from '../core/errors.ts';

const sealBytes = 4;

export const checksum = (bytes: Uint8Array): number => crc32(bytes);

/**
 * Bytes with their CRC-32 behind them. Contents and commits have their BLAKE3
 * besides; this finds damage in all else that an entry or a part holds.
 */
export function sealed(bytes: Buffer): Buffer {
  const result = Buffer.allocUnsafe(bytes.length + sealBytes);
  bytes.copy(result);
  result.writeUInt32LE(crc32(bytes), bytes.length);
  return result;
}

/** The bytes within the seal. Errors: `object-damaged`. */
export function unsealed(bytes: Uint8Array): Buffer {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = whole.length - sealBytes;
  const inner = whole.subarray(0, Math.max(0, end));
  if (end < 0 || whole.readUInt32LE(end) !== crc32(inner)) {
    throw new MoundError('object-damaged', 'stored bytes do not match their checksum');
  }
  return inner;
}
