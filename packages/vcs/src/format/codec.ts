import { Packr } from 'msgpackr';
import { MoundError } from '../core/errors.ts';

/**
 * Positional arrays only: no records, no shared structures, no maps, so the
 * bytes depend on the value alone and may be hashed (canonical bytes).
 */
const packr = new Packr({ useRecords: false, variableMapSize: true, moreTypes: false, int64AsType: 'number' });

export type Packable = null | boolean | number | string | Uint8Array | readonly Packable[];

export function pack(value: Packable): Buffer {
  return packr.pack(value);
}

/** Decoded buffers alias the input: pass bytes that nobody writes to afterwards. Errors: `corrupt-store`. */
export function unpack(bytes: Uint8Array): Packable {
  try {
    return packr.unpack(bytes) as Packable;
  } catch (cause) {
    throw undecodable(cause);
  }
}

const undecodable = (cause?: unknown): MoundError =>
  new MoundError('corrupt-store', "stored bytes cannot be decoded; run 'mound fsck'", {}, cause);

/** A row, which is an array. Errors: `corrupt-store`. */
export function unpackRow(bytes: Uint8Array): readonly Packable[] {
  const row = unpack(bytes);
  if (!Array.isArray(row)) throw undecodable();
  return row as readonly Packable[];
}
