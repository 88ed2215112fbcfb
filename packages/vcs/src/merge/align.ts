import { anchorsOf } from './anchors.ts';
import { shortestEdit } from './shortest-edit.ts';
import { settleGroups } from './settle.ts';

/** Lines of the base that a side replaced by lines of its own; either count may be 0, not both. */
export interface Change {
  readonly baseStart: number;
  readonly baseCount: number;
  readonly sideStart: number;
  readonly sideCount: number;
}

/** Above this many lines in a gap unique lines cut it first; below it the exact search alone is quick. */
const anchoredGapLinesMin = 8000;

/** One file of a comparison and which of its lines changed. */
interface Sequence {
  readonly lines: Int32Array;
  /** By interned line: 1 where the file has such a line. */
  readonly isPresent: Uint8Array;
  readonly marks: Uint8Array;
}

function sequenceOf(lines: Int32Array, distinctCount: number): Sequence {
  const isPresent = new Uint8Array(distinctCount);
  for (const line of lines) isPresent[line] = 1;
  return { lines, isPresent, marks: new Uint8Array(lines.length) };
}

/**
 * What a side changed of the base, in order; two changes never touch. Lines are
 * interned: equal numbers, each below `distinctCount`, are equal lines.
 */
export function align(base: Int32Array, side: Int32Array, distinctCount: number): Change[] {
  const [a, b] = [sequenceOf(base, distinctCount), sequenceOf(side, distinctCount)];
  const gap = trim(base, side);
  const isLarge = gap.baseEnd - gap.baseStart + gap.sideEnd - gap.sideStart >= anchoredGapLinesMin;
  for (const part of isLarge ? anchorsOf(base, side, gap) : [gap]) markGap(a, b, part);
  settleGroups(base, a.marks, b.marks);
  settleGroups(side, b.marks, a.marks);
  return changesOf(a.marks, b.marks);
}

/** What is left between the common start and the common end. */
function trim(base: Int32Array, side: Int32Array): Gap {
  const shorter = Math.min(base.length, side.length);
  let prefix = 0;
  while (prefix < shorter && base[prefix] === side[prefix]) prefix++;
  let suffix = 0;
  while (suffix < shorter - prefix && base[base.length - 1 - suffix] === side[side.length - 1 - suffix]) suffix++;
  return { baseStart: prefix, baseEnd: base.length - suffix, sideStart: prefix, sideEnd: side.length - suffix };
}

export interface Gap {
  readonly baseStart: number;
  readonly baseEnd: number;
  readonly sideStart: number;
  readonly sideEnd: number;
}

/** Marks what changed in a gap; lines that the other file lacks never enter the search. */
function markGap(base: Sequence, side: Sequence, gap: Gap): void {
  const baseKept = keptLines(base.lines, gap.baseStart, gap.baseEnd, side.isPresent);
  const sideKept = keptLines(side.lines, gap.sideStart, gap.sideEnd, base.isPresent);
  base.marks.fill(1, gap.baseStart, gap.baseEnd);
  side.marks.fill(1, gap.sideStart, gap.sideEnd);
  const edit = shortestEdit(
    baseKept.map((line) => base.lines[line] as number),
    sideKept.map((line) => side.lines[line] as number),
  );
  baseKept.forEach((line, index) => (base.marks[line] = edit.a[index] as number));
  sideKept.forEach((line, index) => (side.marks[line] = edit.b[index] as number));
}

function keptLines(lines: Int32Array, start: number, end: number, isPresent: Uint8Array): Int32Array {
  const kept = new Int32Array(end - start);
  let count = 0;
  for (let line = start; line < end; line++) if (isPresent[lines[line] as number] === 1) kept[count++] = line;
  return kept.subarray(0, count);
}

function changesOf(baseMarks: Uint8Array, sideMarks: Uint8Array): Change[] {
  const changes: Change[] = [];
  let base = 0;
  let side = 0;
  while (base < baseMarks.length || side < sideMarks.length) {
    const baseStart = base;
    const sideStart = side;
    while (baseMarks[base] === 1) base++;
    while (sideMarks[side] === 1) side++;
    if (base > baseStart || side > sideStart) {
      changes.push({ baseStart, baseCount: base - baseStart, sideStart, sideCount: side - sideStart });
    }
    if (base < baseMarks.length || side < sideMarks.length) {
      base++;
      side++;
    }
  }
  return changes;
}
