import { allocate } from '../core/allocate.ts';
import { ByteWriter } from './bytes.ts';

/**
 * A delta says how to make a target from a base: copies of base ranges and
 * inserted bytes, each headed by `varint(length * 2 + isInsert)`; a copy goes
 * on with `varint(offset)`, an insert with its bytes.
 *
 * Agents' edits are small and local, so one pass that cuts off the common
 * prefix and suffix finds nearly all; a longer middle is searched again for
 * blocks of the base (the idea of rsync, Tridgell 1996, with blocks that begin
 * at lines where there are lines, and exact comparison instead of a strong sum).
 */
const blockBytes = 24;
/** A middle shorter than this is cheaper to insert than to search. */
const searchBytesMin = 256;
/** A middle longer than this is not searched: the work stays bounded. */
const searchBytesMax = 1024 * 1024;

const writer = new ByteWriter();

function copy(offset: number, length: number): void {
  if (length > 0) writer.varint(length * 2).varint(offset);
}

function insert(bytes: Buffer, start: number, end: number): void {
  if (end > start) writer.varint((end - start) * 2 + 1).range(bytes, start, end);
}

/** Native comparisons of ever shorter ranges, so that few bytes are left to a loop. */
const comparedBytes = [1024, 128] as const;

function commonPrefix(a: Buffer, b: Buffer): number {
  const bound = Math.min(a.length, b.length);
  let at = 0;
  for (const step of comparedBytes) {
    while (at + step <= bound && a.compare(b, at, at + step, at, at + step) === 0) at += step;
  }
  while (at < bound && a[at] === b[at]) at++;
  return at;
}

function commonSuffix(a: Buffer, b: Buffer, bound: number): number {
  let length = 0;
  for (const step of comparedBytes) {
    while (length + step <= bound) {
      const [endA, endB] = [a.length - length, b.length - length];
      if (a.compare(b, endB - step, endB, endA - step, endA) !== 0) break;
      length += step;
    }
  }
  while (length < bound && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

/** A hash over all of a block's words (as FNV-1a mixes bytes); equality is checked byte by byte anyway. */
function keyOf(bytes: Buffer, at: number): number {
  let key = 0x811c9dc5;
  for (let word = at; word < at + blockBytes; word += 4) {
    key = Math.imul(key ^ bytes.readUInt32LE(word), 0x01000193);
    key ^= key >>> 15;
  }
  return key;
}

const newline = 0x0a;
/** Bytes without a line end from which on a content is taken to have no lines. */
const lineBytesMax = 512;

function hasLines(bytes: Buffer): boolean {
  const end = bytes.indexOf(newline);
  return end >= 0 && end < lineBytesMax;
}

/** The start of the block after the one at `at`: at the next line, or `step` bytes on where there are hardly any. */
function nextStart(bytes: Buffer, at: number, step: number): number {
  if (step > 0) return at + step;
  const end = bytes.indexOf(newline, at);
  return end < 0 ? bytes.length : end + 1;
}

/** Places of a base's blocks by their key; open addressing, the first of equal keys stays. */
class BlockTable {
  private readonly slots: Int32Array;
  private readonly mask: number;
  private readonly base: Buffer;

  constructor(base: Buffer, step: number) {
    const averageBytes = step > 0 ? step : 10;
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, (2 * base.length) / averageBytes)));
    this.slots = new Int32Array(size);
    this.mask = size - 1;
    this.base = base;
    let count = 0;
    for (let at = 0; at + blockBytes <= base.length && count < size / 2; at = nextStart(base, at, step)) {
      const slot = this.slotOf(keyOf(base, at), base, at);
      if (this.slots[slot] !== 0) continue;
      this.slots[slot] = at + 1;
      count++;
    }
  }

  /** The slot that holds an equal block, or the free one where it would stand. */
  private slotOf(key: number, bytes: Buffer, at: number): number {
    for (let slot = key & this.mask; ; slot = (slot + 1) & this.mask) {
      const found = this.slots[slot] ?? 0;
      if (found === 0) return slot;
      if (this.base.compare(bytes, at, at + blockBytes, found - 1, found - 1 + blockBytes) === 0) return slot;
    }
  }

  /** Where the base has the block at `at`; -1: nowhere. */
  find(bytes: Buffer, at: number): number {
    return (this.slots[this.slotOf(keyOf(bytes, at), bytes, at)] ?? 0) - 1;
  }
}

/** Writes the middle of the target as copies of base blocks where it finds them. */
function writeSearched(base: Buffer, middle: Buffer): void {
  const isText = hasLines(base) && hasLines(middle);
  const table = new BlockTable(base, isText ? 0 : blockBytes);
  const step = isText ? 0 : 1;
  let written = 0;
  for (let at = 0; at + blockBytes <= middle.length;) {
    let from = table.find(middle, at);
    if (from < 0) {
      at = nextStart(middle, at, step);
      continue;
    }
    let start = at;
    while (start > written && from > 0 && middle[start - 1] === base[from - 1]) {
      start--;
      from--;
    }
    const length = commonPrefix(base.subarray(from), middle.subarray(start));
    insert(middle, written, start);
    copy(from, length);
    written = start + length;
    // Back to the start of a line, unless the copy ended at one.
    at = isText && middle[written - 1] !== newline ? nextStart(middle, written, 0) : written;
  }
  insert(middle, written, middle.length);
}

export function encodeDelta(base: Buffer, target: Buffer): Buffer {
  const prefix = commonPrefix(base, target);
  const suffix = commonSuffix(base, target, Math.min(base.length, target.length) - prefix);
  const end = target.length - suffix;
  const middleBytes = end - prefix;
  writer.begin();
  copy(0, prefix);
  const isSearched =
    middleBytes >= searchBytesMin && middleBytes <= searchBytesMax && base.length - suffix - prefix >= blockBytes;
  if (isSearched) writeSearched(base, target.subarray(prefix, end));
  else insert(target, prefix, end);
  copy(base.length - suffix, suffix);
  return writer.copied();
}

/** Undefined where the delta does not fit the base: damaged bytes. */
export function applyDelta(base: Buffer, delta: Buffer, size: number): Buffer | undefined {
  const target = allocate(size);
  let at = 0;
  let read = 0;
  const varint = (): number => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = delta[read++];
      if (byte === undefined) return NaN;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  };
  while (read < delta.length) {
    const head = varint();
    const length = Math.floor(head / 2);
    if (head % 2 === 1) {
      if (at + length > size || read + length > delta.length) return undefined;
      delta.copy(target, at, read, read + length);
      read += length;
    } else {
      const offset = varint();
      if (!(at + length <= size && offset + length <= base.length)) return undefined;
      base.copy(target, at, offset, offset + length);
    }
    at += length;
  }
  return at === size ? target : undefined;
}
