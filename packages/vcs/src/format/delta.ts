import { allocate, copyOf } from '../core/allocate.ts';

/**
 * A delta says how to make a target from a base: copies of base ranges and
 * inserted bytes, each headed by `varint(length * 2 + isInsert)`; a copy goes
 * on with `varint(offset)`, an insert with its bytes.
 *
 * Agents' edits are small and local, so one pass that cuts off the common
 * prefix and suffix finds nearly all; a longer middle is searched again for
 * blocks of the base (the idea of rsync, Tridgell 1996, on fixed blocks of the
 * base and every offset of the target, with exact comparison instead of a sum).
 */
const blockBytes = 32;
/** A middle shorter than this is cheaper to insert than to search. */
const searchBytesMin = 256;
/** A middle longer than this is not searched: the work stays bounded. */
const searchBytesMax = 4 * 1024 * 1024;

/** Writes tokens into one buffer that grows and is used again; its content is copied out at the end. */
class DeltaWriter {
  private bytes = Buffer.allocUnsafeSlow(4096);
  private at = 0;

  begin(): this {
    this.at = 0;
    return this;
  }

  private reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.at + count));
    this.bytes.copy(grown, 0, 0, this.at);
    this.bytes = grown;
  }

  private varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.at++] = rest;
  }

  copy(offset: number, length: number): void {
    if (length === 0) return;
    this.reserve(16);
    this.varint(length * 2);
    this.varint(offset);
  }

  insert(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.reserve(bytes.length + 8);
    this.varint(bytes.length * 2 + 1);
    this.at += bytes.copy(this.bytes, this.at);
  }

  finish(): Buffer {
    const delta = copyOf(this.bytes.subarray(0, this.at));
    if (this.bytes.length > scratchBytesMax) this.bytes = Buffer.allocUnsafeSlow(4096);
    return delta;
  }
}

/** A larger buffer is not kept for the next delta. */
const scratchBytesMax = 1024 * 1024;
const writer = new DeltaWriter();

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

/** Writes the middle of the target as copies of base blocks where it finds them. */
function writeSearched(base: Buffer, middle: Buffer): void {
  const blocks = new Map<string, number>();
  for (let at = 0; at + blockBytes <= base.length; at += blockBytes) {
    const block = base.toString('latin1', at, at + blockBytes);
    if (!blocks.has(block)) blocks.set(block, at);
  }
  let literalStart = 0;
  let at = 0;
  while (at + blockBytes <= middle.length) {
    const found = blocks.get(middle.toString('latin1', at, at + blockBytes));
    if (found === undefined) {
      at++;
      continue;
    }
    let from = found;
    let start = at;
    while (start > literalStart && from > 0 && middle[start - 1] === base[from - 1]) {
      start--;
      from--;
    }
    let length = at - start + blockBytes;
    while (
      start + length < middle.length &&
      from + length < base.length &&
      middle[start + length] === base[from + length]
    ) {
      length++;
    }
    writer.insert(middle.subarray(literalStart, start));
    writer.copy(from, length);
    at = start + length;
    literalStart = at;
  }
  writer.insert(middle.subarray(literalStart));
}

export function encodeDelta(base: Buffer, target: Buffer): Buffer {
  const prefix = commonPrefix(base, target);
  const suffix = commonSuffix(base, target, Math.min(base.length, target.length) - prefix);
  writer.begin().copy(0, prefix);
  const middle = target.subarray(prefix, target.length - suffix);
  const baseMiddle = base.length - suffix - prefix;
  if (middle.length < searchBytesMin || baseMiddle < blockBytes || middle.length > searchBytesMax)
    writer.insert(middle);
  else writeSearched(base, middle);
  writer.copy(base.length - suffix, suffix);
  return writer.finish();
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
