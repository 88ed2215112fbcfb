import type { Change } from './align.ts';

/** Lines from `start` (from 0), `count` of them. */
export interface LineRange {
  readonly start: number;
  readonly count: number;
}

/**
 * A stretch of a merge and where it stands in the three inputs. The result takes
 * the lines of `current` or `incoming` where only that side changed them, of either
 * where `both` made the same change, and nothing yet where they are in conflict.
 */
export interface Region {
  readonly kind: 'stable' | 'current' | 'incoming' | 'both' | 'conflict';
  readonly base: LineRange;
  readonly current: LineRange;
  readonly incoming: LineRange;
}

export interface Sequences {
  readonly base: Int32Array;
  readonly current: Int32Array;
  readonly incoming: Int32Array;
}

/** Changes of one side that fall into a cluster, by index in its list. */
interface Run {
  readonly changes: readonly Change[];
  from: number;
  to: number;
}

/**
 * Lays the changes of both sides over the base. Changes that overlap or touch, so
 * that no common line stands between them, are one region, and a conflict unless
 * both sides made of it the same.
 */
export function combine(
  lines: Sequences,
  currentChanges: readonly Change[],
  incomingChanges: readonly Change[],
): Region[] {
  const regions: Region[] = [];
  const current: Run = { changes: currentChanges, from: 0, to: 0 };
  const incoming: Run = { changes: incomingChanges, from: 0, to: 0 };
  let base = 0;
  for (;;) {
    const start = Math.min(startOf(current), startOf(incoming));
    const shiftCurrent = shiftAt(current.changes, current.to);
    const shiftIncoming = shiftAt(incoming.changes, incoming.to);
    const stableEnd = Math.min(start, lines.base.length);
    if (stableEnd > base) regions.push(stable(base, stableEnd, shiftCurrent, shiftIncoming));
    if (start === Infinity) return regions;
    const end = gather(current, incoming, start);
    regions.push(regionOf(lines, start, end, current, incoming));
    current.from = current.to;
    incoming.from = incoming.to;
    base = end;
  }
}

const startOf = (run: Run): number => run.changes[run.to]?.baseStart ?? Infinity;

/** How far a side's lines stand from the base's before its change `index`. */
function shiftAt(changes: readonly Change[], index: number): number {
  const before = changes[index - 1];
  return before ? before.sideStart + before.sideCount - before.baseStart - before.baseCount : 0;
}

function stable(start: number, end: number, shiftCurrent: number, shiftIncoming: number): Region {
  const count = end - start;
  return {
    kind: 'stable',
    base: { start, count },
    current: { start: start + shiftCurrent, count },
    incoming: { start: start + shiftIncoming, count },
  };
}

/** Takes every change that touches the cluster into it; gives its end in the base. */
function gather(current: Run, incoming: Run, start: number): number {
  let end = start;
  for (;;) {
    const next = startOf(current) <= startOf(incoming) ? current : incoming;
    if (startOf(next) > end) return end;
    const change = next.changes[next.to++] as Change;
    end = Math.max(end, change.baseStart + change.baseCount);
  }
}

function regionOf(lines: Sequences, start: number, end: number, current: Run, incoming: Run): Region {
  const ranges = {
    base: { start, count: end - start },
    current: rangeOf(current, start, end),
    incoming: rangeOf(incoming, start, end),
  };
  if (incoming.from === incoming.to) return { kind: 'current', ...ranges };
  if (current.from === current.to) return { kind: 'incoming', ...ranges };
  const alike = isSame(lines.current, ranges.current, lines.incoming, ranges.incoming);
  return { kind: alike ? 'both' : 'conflict', ...ranges };
}

/** The lines of a side that stand for the base's from `start` to `end`. */
function rangeOf(run: Run, start: number, end: number): LineRange {
  const sideStart = start + shiftAt(run.changes, run.from);
  return { start: sideStart, count: end + shiftAt(run.changes, run.to) - sideStart };
}

function isSame(one: Int32Array, oneRange: LineRange, other: Int32Array, otherRange: LineRange): boolean {
  if (oneRange.count !== otherRange.count) return false;
  for (let index = 0; index < oneRange.count; index++) {
    if (one[oneRange.start + index] !== other[otherRange.start + index]) return false;
  }
  return true;
}

/** The side whose lines the result of a region takes; in a conflict, where there is none, `current`. */
export function sideOf(region: Region): 'current' | 'incoming' {
  return region.kind === 'incoming' ? 'incoming' : 'current';
}

export const isChanged = (region: Region): boolean => region.kind !== 'stable';

/** One stretch from the start of the first region to the end of the last. */
export function joined(regions: readonly Region[]): Omit<Region, 'kind'> {
  const [first, last] = [regions[0] as Region, regions.at(-1) as Region];
  const span = (side: 'base' | 'current' | 'incoming'): LineRange => ({
    start: first[side].start,
    count: last[side].start + last[side].count - first[side].start,
  });
  return { base: span('base'), current: span('current'), incoming: span('incoming') };
}

/**
 * Makes one conflict of the changes that touch these lines of the base and of all
 * between them; of every change where no lines are named, or none touches them.
 */
export function refuse(regions: readonly Region[], lines: LineRange | undefined): readonly Region[] {
  const isMeant = (region: Region): boolean =>
    isChanged(region) &&
    (lines === undefined ||
      (region.base.start <= lines.start + lines.count && region.base.start + region.base.count >= lines.start));
  const first = regions.findIndex(isMeant);
  if (first < 0) return lines === undefined ? regions : refuse(regions, undefined);
  const last = regions.findLastIndex(isMeant);
  return [
    ...regions.slice(0, first),
    { kind: 'conflict', ...joined(regions.slice(first, last + 1)) },
    ...regions.slice(last + 1),
  ];
}
