import { scratchBytes, scratchInts, withScratch } from '../core/scratch.ts';
import { roughRoot, shortestEdit } from './shortest-edit.ts';
import { settleGroups } from './settle.ts';

/** Lines of the base that a side replaced by lines of its own; either count may be 0, not both. */
export interface Change {
  readonly baseStart: number;
  readonly baseCount: number;
  readonly sideStart: number;
  readonly sideCount: number;
}

/** One file of a comparison and which of its lines changed. */
interface Sequence {
  readonly lines: Int32Array;
  /** By interned line: how often the file has it. */
  readonly counts: Int32Array;
  readonly marks: Uint8Array;
}

function sequenceOf(lines: Int32Array, distinctCount: number): Sequence {
  const counts = scratchInts(distinctCount);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as number;
    counts[line] = (counts[line] as number) + 1;
  }
  return { lines, counts, marks: scratchBytes(lines.length) };
}

/**
 * What a side changed of the base, in order; two changes never touch. Lines are
 * interned: equal numbers, each below `distinctCount`, are equal lines.
 */
export function align(base: Int32Array, side: Int32Array, distinctCount: number): Change[] {
  return withScratch(() => {
    const [a, b] = [sequenceOf(base, distinctCount), sequenceOf(side, distinctCount)];
    markGap(a, b, trim(base, side), distinctCount);
    settleGroups(base, a.marks, b.marks);
    settleGroups(side, b.marks, a.marks);
    return changesOf(a.marks, b.marks);
  });
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

/** Marks what changed in a gap; {@link searchedLines} says which lines enter the search. */
function markGap(base: Sequence, side: Sequence, gap: Gap, distinctCount: number): void {
  const baseKept = searchedLines(base.lines, gap.baseStart, gap.baseEnd, side.counts);
  const sideKept = searchedLines(side.lines, gap.sideStart, gap.sideEnd, base.counts);
  base.marks.fill(1, gap.baseStart, gap.baseEnd);
  side.marks.fill(1, gap.sideStart, gap.sideEnd);
  const edit = shortestEdit(linesAt(base.lines, baseKept), linesAt(side.lines, sideKept), distinctCount);
  for (let index = 0; index < baseKept.length; index++) {
    base.marks[baseKept[index] as number] = edit.a[index] as number;
  }
  for (let index = 0; index < sideKept.length; index++) {
    side.marks[sideKept[index] as number] = edit.b[index] as number;
  }
}

function linesAt(lines: Int32Array, places: Int32Array): Int32Array {
  const found = scratchInts(places.length);
  for (let index = 0; index < places.length; index++) found[index] = lines[places[index] as number] as number;
  return found;
}

const absent = 0;
const rare = 1;
const frequent = 2;

/** How far around a frequent line its neighbours are looked at. */
const neighboursMax = 100;
const frequentMax = 1024;

/**
 * Lines that the other file lacks never enter the search, nor do lines that are
 * frequent there and stand among such lines: a lone brace in a rewritten function
 * has a partner somewhere, but tells nothing. git's rule, so that both take the
 * same lines for kept.
 */
function searchedLines(lines: Int32Array, start: number, end: number, otherCounts: Int32Array): Int32Array {
  const limit = Math.min(roughRoot(lines.length), frequentMax);
  const kinds = scratchBytes(end - start);
  for (let line = start; line < end; line++) {
    const count = otherCounts[lines[line] as number] as number;
    kinds[line - start] = count === 0 ? absent : count >= limit ? frequent : rare;
  }
  const searched = scratchInts(end - start);
  let count = 0;
  for (let index = 0; index < kinds.length; index++) {
    const kind = kinds[index];
    if (kind === rare || (kind === frequent && !standsAmongAbsent(kinds, index))) searched[count++] = start + index;
  }
  return searched.subarray(0, count);
}

/**
 * True where the run of absent and frequent lines around a frequent one has absent
 * lines on both sides of it and more than three times as many of them.
 */
function standsAmongAbsent(kinds: Uint8Array, index: number): boolean {
  const before = runOf(kinds, index, -1);
  if (before.absent === 0) return false;
  const after = runOf(kinds, index, 1);
  if (after.absent === 0) return false;
  // The line itself counts on each side.
  const frequentLines = before.frequent + after.frequent + 2;
  return frequentLines * 4 < frequentLines + before.absent + after.absent;
}

function runOf(kinds: Uint8Array, index: number, step: 1 | -1): { readonly absent: number; readonly frequent: number } {
  let absentLines = 0;
  let frequentLines = 0;
  for (let distance = 1; distance <= neighboursMax; distance++) {
    const kind = kinds[index + step * distance];
    if (kind === undefined || kind === rare) break;
    if (kind === absent) absentLines++;
    else frequentLines++;
  }
  return { absent: absentLines, frequent: frequentLines };
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
