import { Packr } from 'msgpackr';

/**
 * Positional arrays only: no records, no shared structures, no maps, so the
 * bytes depend on the value alone and may be hashed (canonical bytes).
 */
const packr = new Packr({ useRecords: false, variableMapSize: true, moreTypes: false, int64AsType: 'number' });

export type Packable = null | boolean | number | string | Uint8Array | readonly Packable[];

export function pack(value: Packable): Buffer {
  return packr.pack(value);
}

/** Decoded buffers alias the input: pass bytes that nobody writes to afterwards. */
export function unpack(bytes: Uint8Array): Packable {
  return packr.unpack(bytes) as Packable;
}
