/** A line is cut after this many bytes, so that a file of one long line is compared in pieces as well. */
const pieceBytesMax = 64;
const newline = 10;
const carriageReturn = 13;
/** Where git looks for a NUL to tell binary from text. */
const binaryProbeBytes = 8000;

/** How many bytes of a content stand in equal pieces: piece hashes in ascending order, and the bytes of each. */
export interface SimilarityProfile {
  /** Of the content. */
  readonly size: number;
  readonly hashes: Uint32Array;
  readonly bytes: Uint32Array;
}

/**
 * The pieces of a content as a multiset: lines, each cut after 64 bytes. In a
 * text the CR of a CRLF does not count, so that another line ending is no other
 * content. The measure is that of git's rename detection.
 */
export function similarityProfile(content: Uint8Array): SimilarityProfile {
  const isText = !content.subarray(0, binaryProbeBytes).includes(0);
  const found: number[] = [];
  const lengths: number[] = [];
  let hash = 0x811c9dc5;
  let length = 0;
  for (let at = 0; at < content.length; at++) {
    const byte = content[at] as number;
    if (isText && byte === carriageReturn && content[at + 1] === newline) continue;
    // FNV-1a.
    hash = Math.imul(hash ^ byte, 0x01000193);
    length++;
    if (byte !== newline && length < pieceBytesMax) continue;
    found.push(hash >>> 0);
    lengths.push(length);
    hash = 0x811c9dc5;
    length = 0;
  }
  if (length > 0) {
    found.push(hash >>> 0);
    lengths.push(length);
  }
  const order = Uint32Array.from(found.keys()).toSorted((a, b) => (found[a] as number) - (found[b] as number));
  const hashes: number[] = [];
  const bytes: number[] = [];
  for (const piece of order) {
    const last = hashes.length - 1;
    if (last >= 0 && hashes[last] === found[piece]) bytes[last] = (bytes[last] as number) + (lengths[piece] as number);
    else {
      hashes.push(found[piece] as number);
      bytes.push(lengths[piece] as number);
    }
  }
  return { size: content.length, hashes: Uint32Array.from(hashes), bytes: Uint32Array.from(bytes) };
}

/**
 * Percent, from 0 to 100, rounded down: the bytes that stand in pieces which both
 * have, over the bytes of the larger one. Symmetrical.
 */
export function similarityOf(one: SimilarityProfile, other: SimilarityProfile): number {
  const larger = Math.max(one.size, other.size);
  if (larger === 0) return 100;
  let common = 0;
  let at = 0;
  let beside = 0;
  while (at < one.hashes.length && beside < other.hashes.length) {
    const difference = (one.hashes[at] as number) - (other.hashes[beside] as number);
    if (difference === 0) common += Math.min(one.bytes[at++] as number, other.bytes[beside++] as number);
    else if (difference < 0) at++;
    else beside++;
  }
  return Math.floor((common * 100) / larger);
}
