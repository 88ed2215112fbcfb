/** The first step. */
const fewBytes = 64;

type IsSame = (from: number, to: number) => boolean;

/** How many of the first `bound` bytes two contents share. */
export function commonPrefixBytes(one: Uint8Array, other: Uint8Array, bound: number): number {
  return sharedBytes(bound, (from, to) => Buffer.compare(one.subarray(from, to), other.subarray(from, to)) === 0);
}

/** How many of the last `bound` bytes two contents share. */
export function commonSuffixBytes(one: Uint8Array, other: Uint8Array, bound: number): number {
  const part = (content: Uint8Array, from: number, to: number): Uint8Array =>
    content.subarray(content.length - to, content.length - from);
  return sharedBytes(bound, (from, to) => Buffer.compare(part(one, from, to), part(other, from, to)) === 0);
}

/** Steps that double up to the first difference, then halves of the last step. */
function sharedBytes(bound: number, isSame: IsSame): number {
  let low = 0;
  let high = Math.min(fewBytes, bound);
  while (isSame(low, high)) {
    if (high === bound) return bound;
    low = high;
    high = Math.min(high * 2, bound);
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isSame(low, middle)) low = middle;
    else high = middle;
  }
  return low;
}
