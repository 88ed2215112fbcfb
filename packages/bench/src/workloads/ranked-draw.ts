import type { SeededRandom } from './source-text.ts';

/** Draws ranks from 0 by weight; the hottest first. */
export class RankedDraw {
  /** Share of all draws that fall on this rank or a hotter one. */
  readonly #shares: Float64Array;

  constructor(weights: readonly number[]) {
    let sum = 0;
    const sums = Float64Array.from(weights, (weight) => (sum += weight));
    this.#shares = sums.map((value) => value / sum);
  }

  /** Of the draws, how many fall on the `count` hottest. */
  shareOfTop(count: number): number {
    return this.#shares[count - 1] ?? 1;
  }

  draw(random: SeededRandom): number {
    const value = random.next();
    let [low, high] = [0, this.#shares.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value < (this.#shares[middle] ?? 1)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Rank r has weight 1 / (r + 1) ** exponent: a few are hot, many are hardly touched. */
export const zipf = (count: number, exponent: number): RankedDraw =>
  new RankedDraw(Array.from({ length: count }, (_, rank) => 1 / (rank + 1) ** exponent));
