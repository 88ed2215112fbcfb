import type { Gap } from './align.ts';

/**
 * Cuts a gap at lines that stand exactly once on each side of it, in the longest
 * run that keeps its order (patience sorting). Gives the gaps between them.
 */
export function anchorsOf(base: Int32Array, side: Int32Array, gap: Gap): Gap[] {
  const pairs = uniquePairs(base, side, gap);
  const gaps: Gap[] = [];
  let { baseStart, sideStart } = gap;
  for (const { baseLine, sideLine } of longestRun(pairs)) {
    if (baseLine > baseStart || sideLine > sideStart) {
      gaps.push({ baseStart, baseEnd: baseLine, sideStart, sideEnd: sideLine });
    }
    baseStart = baseLine + 1;
    sideStart = sideLine + 1;
  }
  gaps.push({ baseStart, baseEnd: gap.baseEnd, sideStart, sideEnd: gap.sideEnd });
  return gaps;
}

interface Pair {
  readonly baseLine: number;
  readonly sideLine: number;
}

const repeated = -1;

function uniqueLines(lines: Int32Array, start: number, end: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let line = start; line < end; line++) {
    const id = lines[line] as number;
    places.set(id, places.has(id) ? repeated : line);
  }
  return places;
}

/** In the order of the base. */
function uniquePairs(base: Int32Array, side: Int32Array, gap: Gap): Pair[] {
  const sidePlaces = uniqueLines(side, gap.sideStart, gap.sideEnd);
  const pairs: Pair[] = [];
  for (const [id, baseLine] of uniqueLines(base, gap.baseStart, gap.baseEnd)) {
    const sideLine = sidePlaces.get(id);
    if (baseLine !== repeated && sideLine !== undefined && sideLine !== repeated) pairs.push({ baseLine, sideLine });
  }
  return pairs.toSorted((one, other) => one.baseLine - other.baseLine);
}

/** The longest run of pairs that rises on the side as well. */
function longestRun(pairs: readonly Pair[]): Pair[] {
  const previous = new Int32Array(pairs.length).fill(-1);
  /** By length - 1: the pair with the lowest line that ends a run of that length. */
  const ends: number[] = [];
  pairs.forEach(({ sideLine }, index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] as number] as Pair).sideLine < sideLine) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = ends[low - 1] as number;
    ends[low] = index;
  });
  const run: Pair[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] as number) run.push(pairs[index] as Pair);
  return run.toReversed();
}
