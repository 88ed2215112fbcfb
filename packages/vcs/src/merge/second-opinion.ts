import diff3Merge from 'diff3';
import { scratchBytes, withScratch } from '../core/scratch.ts';
import { isChanged, joined, sideOf } from './combine.ts';
import type { LineRange, Region, Sequences } from './combine.ts';

/**
 * Above these the opinion is not asked for: `diff3` costs the square of the changed
 * lines in memory. Of 200 generated merges of 1,000 to 5,000 lines it doubted none;
 * its doubts are about short texts of few distinct lines.
 */
const changedLinesMax = 400;
const middleLinesMax = 4000;

/**
 * A clean merge of repeated lines can have two right answers: the same lines, a
 * change put at one place or at another. `diff3` breaks such ties in another way
 * than `align` does, so where both merge clean, to the same lines in another
 * order, the place is a guess, and what stands between the two places becomes a
 * conflict. `diff3` is no judge in anything else: it calls conflicts where git and
 * GNU diff3 merge, merges where both conflict, and can lose a line (base `a b`,
 * current `a b b`, incoming `b b` gives `b b`).
 */
export function withDoubt(lines: Sequences, regions: readonly Region[], distinctCount: number): readonly Region[] {
  const stretches = withScratch(() => doubtableStretches(regions, lines, distinctCount));
  if (stretches.length === 0) return regions;
  const result: Region[] = [];
  let next = 0;
  for (const { start, count } of stretches) {
    result.push(...regions.slice(next, start), ...doubted(lines, regions.slice(start, start + count)));
    next = start + count;
  }
  return [...result, ...regions.slice(next)];
}

/**
 * Runs of regions, from a changed one to a changed one, that are merged clean, hold
 * changes of both sides and no line between them by which every aligner would find
 * its place: one that stands once in each text.
 */
function doubtableStretches(regions: readonly Region[], lines: Sequences, distinctCount: number): LineRange[] {
  if (!isOfBoth(regions)) return [];
  const counts = countsUpToTwo(lines, distinctCount);
  const stretches: LineRange[] = [];
  let start = -1;
  let end = -1;
  const close = (): void => {
    if (start >= 0 && mayAsk(regions.slice(start, end))) stretches.push({ start, count: end - start });
    start = -1;
  };
  for (const [index, region] of regions.entries()) {
    if (region.kind === 'conflict') close();
    else if (isChanged(region)) {
      if (start < 0) start = index;
      end = index + 1;
    } else if (start >= 0 && slice(lines.base, region.base).some((line) => counts[line] === onceInEach)) close();
  }
  close();
  return stretches;
}

/** By line: how often it stands in each of the texts, two bits a text, at most twice. */
function countsUpToTwo({ base, current, incoming }: Sequences, distinctCount: number): Uint8Array {
  const counts = scratchBytes(distinctCount);
  for (const [text, once] of [
    [base, 1],
    [current, 4],
    [incoming, 16],
  ] as const) {
    for (let at = 0; at < text.length; at++) {
      const line = text[at] as number;
      const count = counts[line] as number;
      if ((count & (once * 2)) === 0) counts[line] = count + once;
    }
  }
  return counts;
}

/** What {@link countsUpToTwo} gives of a line that stands exactly once in each text. */
const onceInEach = 1 + 4 + 16;

/** A clean stretch, or what is left of it beside the conflict that a doubt makes. */
function doubted(lines: Sequences, changed: readonly Region[]): readonly Region[] {
  const own = resultOf(lines, changed);
  const other = opinionOf(lines, joined(changed));
  if (other === undefined || !areSameLines(own, other)) return changed;
  const doubtful = doubtfulRange(changed, own, other);
  return doubtful === undefined
    ? changed
    : [
        ...changed.slice(0, doubtful.start),
        { kind: 'conflict', ...joined(changed.slice(doubtful.start, doubtful.start + doubtful.count)) },
        ...changed.slice(doubtful.start + doubtful.count),
      ];
}

function mayAsk(changed: readonly Region[]): boolean {
  if (!isOfBoth(changed)) return false;
  let changedLines = 0;
  let middleLines = 0;
  for (const { kind, base, current, incoming } of changed) {
    middleLines += base.count;
    if (kind !== 'stable') changedLines += base.count + current.count + incoming.count;
  }
  return changedLines <= changedLinesMax && middleLines <= middleLinesMax;
}

function resultOf(lines: Sequences, regions: readonly Region[]): number[] {
  return regions.flatMap((region) => {
    const side = sideOf(region);
    return [...slice(lines[side], region[side])];
  });
}

const slice = (lines: Int32Array, range: LineRange): Int32Array =>
  lines.subarray(range.start, range.start + range.count);

/** What `diff3` makes of the same stretch; undefined for a conflict. */
function opinionOf(lines: Sequences, stretch: Omit<Region, 'kind'>): number[] | undefined {
  const [current, base, incoming] = [
    slice(lines.current, stretch.current),
    slice(lines.base, stretch.base),
    slice(lines.incoming, stretch.incoming),
  ].map((part) => Array.from(part)) as [number[], number[], number[]];
  const result: number[] = [];
  for (const block of diff3Merge(current, base, incoming)) {
    if (block.ok === undefined) return undefined;
    result.push(...block.ok);
  }
  return result;
}

function areSameLines(one: readonly number[], other: readonly number[]): boolean {
  if (one.length !== other.length) return false;
  const [oneSorted, otherSorted] = [Int32Array.from(one).toSorted(), Int32Array.from(other).toSorted()];
  return oneSorted.every((line, index) => line === otherSorted[index]);
}

/**
 * The regions from the one place to the other, widened until both sides have a part
 * in it; undefined where both answers are the same.
 */
function doubtfulRange(
  changed: readonly Region[],
  own: readonly number[],
  other: readonly number[],
): LineRange | undefined {
  const firstLine = own.findIndex((line, index) => line !== other[index]);
  if (firstLine < 0) return undefined;
  const lastLine = own.findLastIndex((line, index) => line !== other[index]);
  let [from, to] = [0, changed.length - 1];
  let line = 0;
  for (const [index, region] of changed.entries()) {
    if (isChanged(region) && line <= firstLine) from = index;
    line += region[sideOf(region)].count;
    if (isChanged(region) && line > lastLine) {
      to = Math.max(index, from);
      break;
    }
  }
  while (!isOfBoth(changed.slice(from, to + 1))) {
    do from--;
    while (from > 0 && !isChanged(changed[from] as Region));
    do to++;
    while (to < changed.length - 1 && !isChanged(changed[to] as Region));
    from = Math.max(from, 0);
    to = Math.min(to, changed.length - 1);
  }
  return { start: from, count: to - from + 1 };
}

function isOfBoth(regions: readonly Region[]): boolean {
  const kinds = new Set(regions.map((region) => region.kind));
  return kinds.has('current') && kinds.has('incoming');
}
