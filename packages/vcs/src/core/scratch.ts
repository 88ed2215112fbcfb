/** Numbers that a thread keeps for this at most; beyond them each array is an allocation of its own. */
const numbersMax = 1024 * 1024;

/** Zeroed memory that is given back in the order of a stack. */
class Stack<Numbers extends Int32Array | Uint8Array> {
  used = 0;
  private numbers: Numbers;
  private wanted = 0;
  private readonly allocate: (count: number) => Numbers;

  constructor(allocate: (count: number) => Numbers) {
    this.allocate = allocate;
    this.numbers = allocate(16 * 1024);
  }

  take(count: number): Numbers {
    const end = this.used + count;
    if (end > this.numbers.length) {
      this.wanted = end;
      return this.allocate(count);
    }
    const taken = this.numbers.subarray(this.used, end).fill(0) as Numbers;
    this.used = end;
    return taken;
  }

  giveBack(to: number): void {
    this.used = to;
    if (to > 0 || this.wanted === 0) return;
    const room = Math.min(numbersMax, 2 ** Math.ceil(Math.log2(this.wanted)));
    this.wanted = 0;
    if (room > this.numbers.length) this.numbers = this.allocate(room);
  }
}

const ints = new Stack((count) => new Int32Array(count));
const bytes = new Stack((count) => new Uint8Array(count));

/**
 * Runs `work`, which does not wait for anything. What it takes by
 * {@link scratchInts} and {@link scratchBytes} is memory that is used again
 * afterwards: a merge needs a dozen arrays as long as its texts, and allocating
 * and collecting them cost more than the merge itself.
 */
export function withScratch<T>(work: () => T): T {
  const [intsBefore, bytesBefore] = [ints.used, bytes.used];
  try {
    return work();
  } finally {
    ints.giveBack(intsBefore);
    bytes.giveBack(bytesBefore);
  }
}

/** Zeroed; until the innermost {@link withScratch} ends. */
export const scratchInts = (count: number): Int32Array => ints.take(count);

/** Zeroed; until the innermost {@link withScratch} ends. */
export const scratchBytes = (count: number): Uint8Array => bytes.take(count);
