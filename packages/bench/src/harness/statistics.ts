/** What is told of a metric that was measured once a round. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly n: number;
  /** (max - min) / median: how much the rounds disagree; 0 where the median is 0. */
  readonly spread: number;
}

export function medianOf(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('the median of nothing');
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

export function summarize(values: readonly number[]): Summary {
  const median = medianOf(values);
  const min = Math.min(...values);
  const max = Math.max(...values);
  return { median, min, max, n: values.length, spread: median === 0 ? 0 : (max - min) / median };
}

/** Nearest-rank percentile; `share` in (0, 1]. */
export function percentileOf(values: Float64Array, share: number): number {
  if (values.length === 0) throw new RangeError('a percentile of nothing');
  const sorted = values.toSorted();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
