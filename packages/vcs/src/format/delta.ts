import { allocate } from '../core/allocate.ts';

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

class DeltaWriter {
  private readonly chunks: Buffer[] = [];

  private varint(value: number): void {
    const bytes: number[] = [];
    let rest = value;
    while (rest >= 0x80) {
      bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    bytes.push(rest);
    this.chunks.push(Buffer.from(bytes));
  }

  copy(offset: number, length: number): void {
    if (length === 0) return;
    this.varint(length * 2);
    this.varint(offset);
  }

  insert(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.varint(bytes.length * 2 + 1);
    this.chunks.push(bytes);
  }

  finish(): Buffer {
    return Buffer.concat(this.chunks);
  }
}

function commonPrefix(a: Buffer, b: Buffer): number {
  const bound = Math.min(a.length, b.length);
  let at = 0;
  // Buffer.compare runs natively: halve the work by blocks before going byte by byte.
  for (let step = 1024; at + step <= bound && a.compare(b, at, at + step, at, at + step) === 0;) at += step;
  while (at < bound && a[at] === b[at]) at++;
  return at;
}

function commonSuffix(a: Buffer, b: Buffer, bound: number): number {
  let length = 0;
  const step = 1024;
  while (
    length + step <= bound &&
    a.compare(b, b.length - length - step, b.length - length, a.length - length - step, a.length - length) === 0
  ) {
    length += step;
  }
  while (length < bound && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

/** Writes the middle of the target as copies of base blocks where it finds them. */
function writeSearched(writer: DeltaWriter, base: Buffer, middle: Buffer): void {
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
  const writer = new DeltaWriter();
  writer.copy(0, prefix);
  const middle = target.subarray(prefix, target.length - suffix);
  const baseMiddle = base.length - suffix - prefix;
  if (middle.length < searchBytesMin || baseMiddle < blockBytes || middle.length > searchBytesMax)
    writer.insert(middle);
  else writeSearched(writer, base, middle);
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
