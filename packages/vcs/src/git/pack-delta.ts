/** A delta must be worth it: at most this share of the content. */
const worthwhile = 0.6;

const copySizeMax = 0xffffff;
const insertSizeMax = 127;

/**
 * git's delta of `target` against `base` as their common beginning, what
 * differs, and their common end: a few microseconds, and what an edit mostly
 * is. Undefined where that would save little.
 */
export function encodeDelta(base: Buffer, target: Buffer): Buffer | undefined {
  // Git takes a delta of fewer than four bytes for a broken one, and only that of nothing is so short.
  if (target.length === 0) return undefined;
  const shorter = Math.min(base.length, target.length);
  const before = commonPrefix(base, target, shorter);
  const after = commonSuffix(base, target, shorter - before);
  const middle = target.subarray(before, target.length - after);
  if (middle.length > target.length * worthwhile) return undefined;
  const bytes: Buffer[] = [sizeOf(base.length), sizeOf(target.length)];
  pushCopies(bytes, 0, before);
  for (let start = 0; start < middle.length; start += insertSizeMax) {
    const piece = middle.subarray(start, start + insertSizeMax);
    bytes.push(Buffer.from([piece.length]), piece);
  }
  pushCopies(bytes, base.length - after, after);
  return Buffer.concat(bytes);
}

const stride = 512;

/** Whole strides are compared natively, only the one that differs by bytes. */
function commonPrefix(a: Buffer, b: Buffer, length: number): number {
  let same = 0;
  while (same + stride <= length && a.compare(b, same, same + stride, same, same + stride) === 0) same += stride;
  while (same < length && a[same] === b[same]) same++;
  return same;
}

function commonSuffix(a: Buffer, b: Buffer, length: number): number {
  let same = 0;
  while (
    same + stride <= length &&
    a.compare(b, b.length - same - stride, b.length - same, a.length - same - stride, a.length - same) === 0
  ) {
    same += stride;
  }
  while (same < length && a[a.length - same - 1] === b[b.length - same - 1]) same++;
  return same;
}

function sizeOf(size: number): Buffer {
  const bytes: number[] = [];
  let rest = size;
  while (rest >= 128) {
    bytes.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

/** Each copy: a byte of flags, then the offset's and the size's bytes that are not zero. */
function pushCopies(bytes: Buffer[], offset: number, length: number): void {
  for (let done = 0; done < length; done += copySizeMax) {
    const size = Math.min(copySizeMax, length - done);
    const operation = [0x80];
    let flags = 0x80;
    for (let part = 0; part < 4; part++) {
      const byte = Math.floor((offset + done) / 256 ** part) & 0xff;
      if (byte !== 0) {
        flags |= 1 << part;
        operation.push(byte);
      }
    }
    for (let part = 0; part < 3; part++) {
      const byte = (size >> (8 * part)) & 0xff;
      // A size of 0x10000 is written as no size at all; here its third byte is written, which reads the same.
      if (byte !== 0) {
        flags |= 0x10 << part;
        operation.push(byte);
      }
    }
    operation[0] = flags;
    bytes.push(Buffer.from(operation));
  }
}
