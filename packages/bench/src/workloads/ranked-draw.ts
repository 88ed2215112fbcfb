import type { SeededRandom } from './source-text.ts';

/** Ranks from 0, the one at `r` with weight 1 / (r + 1) ** exponent: a few are hot, many are hardly touched. */
export class Zipf {
  /** Share of all draws that fall on this rank or a hotter one. */
  readonly #shares: Float64Array;

  constructor(count: number, exponent: number) {
    let sum = 0;
    const sums = Float64Array.from({ length: count }, (_, rank) => (sum += 1 / (rank + 1) ** exponent));
    this.#shares = sums.map((value) => value / sum);
  }

  /** Of the draws, how many fall on the `count` hottest. */
  shareOfTop(count: number): number {
    return this.#shares[count - 1] ?? 1;
  }

  draw(random: SeededRandom): number {
    const value = random.next();
    const rank = this.#shares.findIndex((share) => value < share);
    return rank < 0 ? this.#shares.length - 1 : rank;
  }
}
