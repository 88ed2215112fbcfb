import type { Mode } from '../core/mode.ts';
import { modeNumberOf, modeOfNumber } from './mode-number.ts';
import type { Place } from './entry.ts';

/** Where a path's newest version stands; mode undefined: it is a tombstone. */
export interface Head {
  readonly place: Place;
  readonly mode: Mode | undefined;
}

export function encodePlace(place: Place): Buffer {
  const bytes = Buffer.allocUnsafe(10);
  bytes.writeUIntBE(place.seq, 0, 6);
  bytes.writeUInt32BE(place.index, 6);
  return bytes;
}

export function encodeHead({ seq, index }: Place, mode: Mode | undefined): Buffer {
  const bytes = Buffer.allocUnsafe(11);
  bytes.writeUIntBE(seq, 0, 6);
  bytes.writeUInt32BE(index, 6);
  bytes[10] = modeNumberOf(mode);
  return bytes;
}

export const decodePlace = (bytes: Buffer): Place => ({ seq: bytes.readUIntBE(0, 6), index: bytes.readUInt32BE(6) });

export const decodeHead = (bytes: Buffer): Head => ({ place: decodePlace(bytes), mode: modeOfNumber(bytes[10] ?? 0) });
