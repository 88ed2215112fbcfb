import type { Gap } from './align.ts';

/** By line: where it stands in the base and in the side, + 1; all 0 between two calls. */
export interface AnchorPlaces {
  readonly base: Int32Array;
  readonly side: Int32Array;
}

export const anchorPlaces = (distinctCount: number): AnchorPlaces => ({
  base: new Int32Array(distinctCount),
  side: new Int32Array(distinctCount),
});

/**
 * Cuts a gap at lines that stand exactly once on each side of it, in the longest
 * run that keeps its order (patience sorting). Gives the gaps between them: the
 * gap itself where there is no such line.
 */
export function anchorsOf(base: Int32Array, side: Int32Array, gap: Gap, places: AnchorPlaces): Gap[] {
  const pairs = uniquePairs(base, side, gap, places);
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

function fillPlaces(places: Int32Array, lines: Int32Array, start: number, end: number): void {
  for (let line = start; line < end; line++) {
    const id = lines[line] as number;
    places[id] = places[id] === 0 ? line + 1 : repeated;
  }
}

/** In the order of the base. */
function uniquePairs(base: Int32Array, side: Int32Array, gap: Gap, places: AnchorPlaces): Pair[] {
  const { baseStart, baseEnd, sideStart, sideEnd } = gap;
  fillPlaces(places.base, base, baseStart, baseEnd);
  fillPlaces(places.side, side, sideStart, sideEnd);
  const pairs: Pair[] = [];
  for (let baseLine = baseStart; baseLine < baseEnd; baseLine++) {
    const id = base[baseLine] as number;
    const sidePlace = places.side[id] as number;
    if (places.base[id] !== repeated && sidePlace > 0) pairs.push({ baseLine, sideLine: sidePlace - 1 });
  }
  for (let line = baseStart; line < baseEnd; line++) places.base[base[line] as number] = 0;
  for (let line = sideStart; line < sideEnd; line++) places.side[side[line] as number] = 0;
  return pairs;
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
