import type { CheckVerdict } from './run-check.ts';

/**
 * Narrows down the first bad of candidates in their order, the last of which is bad: what was skipped leaves more
 * than one that it may be, and so does an end before it is found.
 */
export async function firstBad(
  candidates: readonly number[],
  tryOne: (seq: number) => Promise<CheckVerdict>,
  isOver: () => boolean = () => false,
): Promise<number[]> {
  let low = 0;
  let high = candidates.length - 1;
  const skipped = new Set<number>();
  while (low < high && !isOver()) {
    // Nearest to the middle that is not skipped.
    const open = candidates.slice(low, high).flatMap((seq, at) => (skipped.has(seq) ? [] : [low + at]));
    if (open.length === 0) break;
    const middle = (low + high - 1) / 2;
    const at = open.reduce((best, next) => (Math.abs(next - middle) < Math.abs(best - middle) ? next : best));
    const seq = candidates[at] ?? 0;
    const verdict = await tryOne(seq);
    if (verdict === 'skipped') skipped.add(seq);
    else if (verdict === 'passed') low = at + 1;
    else high = at;
  }
  return candidates.slice(low, high + 1);
}
