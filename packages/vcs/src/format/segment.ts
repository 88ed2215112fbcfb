import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { chunkBytesFor } from '../core/allocate.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { checksum, unsealed } from './seal.ts';

/**
 * Older entries of the log stand together in segments: their texts are alike,
 * so deflated together they need half of the room. A segment is short, since
 * reading one entry inflates all of it, and fills one page of the store.
 */

/** What fits into one page of LMDB beside its header, with the row's own. */
const segmentBytesMax = 4096 - 16 - 16;
/** Bytes of all entries of one segment: reading it stays cheap however well they deflate. */
const plainBytesMax = 16 * 1024;
export const segmentCountMax = 64;

const writer = new ByteWriter();

function encode(entries: readonly Uint8Array[]): Buffer {
  writer.begin();
  for (const entry of entries) writer.sized(entry);
  const plain = writer.copied();
  const packed = deflateRawSync(plain, { level: 9 });
  writer.begin().varint(entries.length).varint(plain.length).raw(packed);
  return writer.uint32(checksum(writer.written())).copied();
}

export interface EncodedSegment {
  readonly bytes: Buffer;
  /** How many of the offered entries it holds. */
  readonly count: number;
}

/** A segment of as many of the entries as fill it, at least one. `guess`: how many the one before took. */
export function encodeSegment(entries: readonly Uint8Array[], guess: number): EncodedSegment {
  let plainCount = 0;
  for (let bytes = 0; plainCount < Math.min(entries.length, segmentCountMax); plainCount++) {
    bytes += entries[plainCount]?.length ?? 0;
    if (bytes > plainBytesMax && plainCount > 0) break;
  }
  let best: EncodedSegment | undefined;
  let count = Math.max(1, Math.min(guess, plainCount));
  // Each try is scaled from the last one; three find a count that leaves little of the page empty.
  for (let attempt = 0; attempt < 3; attempt++) {
    const bytes = encode(entries.slice(0, count));
    if (bytes.length <= segmentBytesMax || count === 1) {
      if (best === undefined || count > best.count) best = { bytes, count };
    }
    const next = Math.max(1, Math.min(plainCount, Math.floor((count * segmentBytesMax) / bytes.length)));
    if (next === count || (best !== undefined && next <= best.count)) break;
    count = next;
  }
  return best ?? { bytes: encode(entries.slice(0, 1)), count: 1 };
}

/** Errors: `object-damaged`, `RangeError`. */
export function decodeSegment(bytes: Uint8Array): Buffer[] {
  const inner = unsealed(bytes);
  const header = new ByteReader(inner);
  const count = header.varint();
  const plainBytes = header.varint();
  const plain = inflateRawSync(header.rest(), {
    maxOutputLength: Math.max(1, plainBytes),
    chunkSize: chunkBytesFor(plainBytes),
  });
  const reader = new ByteReader(plain);
  const entries: Buffer[] = [];
  for (let i = 0; i < count; i++) entries.push(reader.sized());
  return entries;
}
