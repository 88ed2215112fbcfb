/** Compared byte by byte: a native comparison costs more than that. */
const fewBytes = 64;

/** How many of the first `bound` bytes two contents share. */
export function commonPrefixBytes(one: Uint8Array, other: Uint8Array, bound: number): number {
  const sameBytes = (from: number, to: number): number => {
    let at = from;
    while (at < to && one[at] === other[at]) at++;
    return at;
  };
  return sharedBytes(bound, sameBytes, (from, to) => isSame(one.subarray(from, to), other.subarray(from, to)));
}

/** How many of the last `bound` bytes two contents share. */
export function commonSuffixBytes(one: Uint8Array, other: Uint8Array, bound: number): number {
  const [oneLast, otherLast] = [one.length - 1, other.length - 1];
  const sameBytes = (from: number, to: number): number => {
    let at = from;
    while (at < to && one[oneLast - at] === other[otherLast - at]) at++;
    return at;
  };
  const part = (content: Uint8Array, from: number, to: number): Uint8Array =>
    content.subarray(content.length - to, content.length - from);
  return sharedBytes(bound, sameBytes, (from, to) => isSame(part(one, from, to), part(other, from, to)));
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/**
 * Steps that double up to the first difference, then halves of the last step.
 * `sameBytes` gives the first place from `from` on where the two differ, or `to`.
 */
function sharedBytes(
  bound: number,
  sameBytes: (from: number, to: number) => number,
  areSame: (from: number, to: number) => boolean,
): number {
  let high = Math.min(fewBytes, bound);
  let low = sameBytes(0, high);
  if (low < high) return low;
  while (high < bound) {
    high = Math.min(high * 2, bound);
    if (!areSame(low, high)) break;
    low = high;
  }
  while (high - low > fewBytes) {
    const middle = (low + high) >> 1;
    if (areSame(low, middle)) low = middle;
    else high = middle;
  }
  return sameBytes(low, high);
}
