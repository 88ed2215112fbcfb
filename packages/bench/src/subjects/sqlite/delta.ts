/**
 * A delta as Mound makes it for a small local edit: the common start and end of
 * two contents are cut off, the rest is kept. Head: lengths of start and end.
 */
const headBytes = 8;

/** Compared natively at first, so that few bytes are left to the loop. */
const stepBytes = 256;

function commonStart(a: Buffer, b: Buffer): number {
  const bound = Math.min(a.length, b.length);
  let at = 0;
  while (at + stepBytes <= bound && a.compare(b, at, at + stepBytes, at, at + stepBytes) === 0) at += stepBytes;
  while (at < bound && a[at] === b[at]) at++;
  return at;
}

function commonEnd(a: Buffer, b: Buffer, bound: number): number {
  const [aEnd, bEnd] = [a.length, b.length];
  let length = 0;
  while (
    length + stepBytes <= bound &&
    a.compare(b, bEnd - length - stepBytes, bEnd - length, aEnd - length - stepBytes, aEnd - length) === 0
  ) {
    length += stepBytes;
  }
  while (length < bound && a[aEnd - 1 - length] === b[bEnd - 1 - length]) length++;
  return length;
}

export function encodeSqliteDelta(base: Buffer, content: Buffer): Buffer {
  const start = commonStart(base, content);
  const end = commonEnd(base, content, Math.min(base.length, content.length) - start);
  const middle = content.length - start - end;
  const delta = Buffer.allocUnsafe(headBytes + middle);
  delta.writeUInt32LE(start, 0);
  delta.writeUInt32LE(end, 4);
  content.copy(delta, headBytes, start, start + middle);
  return delta;
}

export function applySqliteDelta(base: Buffer, delta: Buffer): Buffer {
  const [start, end] = [delta.readUInt32LE(0), delta.readUInt32LE(4)];
  return Buffer.concat([base.subarray(0, start), delta.subarray(headBytes), base.subarray(base.length - end)]);
}
