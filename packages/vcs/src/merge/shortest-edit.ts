import { scratchBytes, scratchInts } from '../core/scratch.ts';
import type { Gap } from './align.ts';
import { anchorPlaces, anchorsOf, type AnchorPlaces } from './anchors.ts';

/**
 * Marks the lines that a shortest edit script changes: Myers' O(ND) search from both
 * ends, in linear space ("An O(ND) Difference Algorithm and Its Variations", 1986, 4b).
 *
 * The ties (descending diagonals, forward before backward, a deletion before an
 * insertion) are broken as git and GNU diff do, because which of several equally
 * short scripts is taken decides whether two changes touch.
 */

/**
 * Steps after which a search stops looking for the best split. Lines that stand once
 * on each side then cut the box; where they do not, the furthest point does.
 */
const searchStepsMin = 256;

/** Cuts that leave more of a box in one piece than this would be repeated too often. */
const largestPieceMax = 0.75;

/** Until the innermost `withScratch` ends. */
export interface EditMarks {
  /** 1 where the line of `a` has no partner. */
  readonly a: Uint8Array;
  readonly b: Uint8Array;
  /** Diagonals that the search went over: what it cost. */
  readonly steps: number;
}

interface Split {
  readonly x: number;
  readonly y: number;
  /** On a shortest path. */
  readonly isBest: boolean;
}

/** The sequences under comparison, and the furthest points of the two searches by diagonal. */
interface Search {
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly forward: Int32Array;
  readonly backward: Int32Array;
  /** Added to a diagonal to make it an index. */
  readonly shift: number;
  readonly stepsMax: number;
  steps: number;
}

/** `distinctCount`: every line is below it. */
export function shortestEdit(a: Int32Array, b: Int32Array, distinctCount: number): EditMarks {
  const marks = { a: scratchBytes(a.length), b: scratchBytes(b.length) };
  // Mostly a side replaced lines by new ones, which do not enter the search: then there is nothing left.
  const whole = trim(a, b, { baseStart: 0, baseEnd: a.length, sideStart: 0, sideEnd: b.length, mayAnchor: true });
  if (whole.baseStart === whole.baseEnd && whole.sideStart === whole.sideEnd) return { ...marks, steps: 0 };
  const diagonals = a.length + b.length + 3;
  const search: Search = {
    a,
    b,
    forward: scratchInts(diagonals),
    backward: scratchInts(diagonals),
    shift: b.length + 1,
    stepsMax: Math.max(searchStepsMin, roughRoot(diagonals)),
    steps: 0,
  };
  let places: AnchorPlaces | undefined;
  const boxes: Box[] = [whole];
  for (let next = boxes.pop(); next !== undefined; next = boxes.pop()) {
    const box = trim(a, b, next);
    const { baseStart, baseEnd, sideStart, sideEnd, mayAnchor } = box;
    if (baseStart === baseEnd) marks.b.fill(1, sideStart, sideEnd);
    else if (sideStart === sideEnd) marks.a.fill(1, baseStart, baseEnd);
    else {
      const { x, y, isBest } = splitBox(search, box);
      const cuts = isBest || !mayAnchor ? [] : anchorsOf(a, b, box, (places ??= anchorPlaces(distinctCount)));
      if (areGoodCuts(box, cuts)) for (const cut of cuts) boxes.push({ ...cut, mayAnchor });
      else {
        boxes.push({ baseStart, baseEnd: x, sideStart, sideEnd: y, mayAnchor: isBest && mayAnchor });
        boxes.push({ baseStart: x, baseEnd, sideStart: y, sideEnd, mayAnchor: isBest && mayAnchor });
      }
    }
  }
  return { ...marks, steps: search.steps };
}

/** A power of two, from the square root of a count to twice as much: what git takes for a root. */
export function roughRoot(count: number): number {
  let root = 1;
  for (let left = count; left > 0; left = Math.floor(left / 4)) root *= 2;
  return root;
}

interface Box extends Gap {
  readonly mayAnchor: boolean;
}

const linesOf = (gap: Gap): number => gap.baseEnd - gap.baseStart + gap.sideEnd - gap.sideStart;

const areGoodCuts = (box: Gap, cuts: readonly Gap[]): boolean =>
  cuts.length > 0 && cuts.every((cut) => linesOf(cut) <= largestPieceMax * linesOf(box));

/** The box without the lines that both files start and end with. */
function trim(a: Int32Array, b: Int32Array, box: Box): Box {
  let { baseStart, baseEnd, sideStart, sideEnd } = box;
  while (baseStart < baseEnd && sideStart < sideEnd && a[baseStart] === b[sideStart]) {
    baseStart++;
    sideStart++;
  }
  while (baseStart < baseEnd && sideStart < sideEnd && a[baseEnd - 1] === b[sideEnd - 1]) {
    baseEnd--;
    sideEnd--;
  }
  return { baseStart, baseEnd, sideStart, sideEnd, mayAnchor: box.mayAnchor };
}

/** A point on a shortest path through the box, or on a good one when that is too far to seek. */
function splitBox(search: Search, box: Gap): Split {
  const { baseStart: xStart, baseEnd: xEnd, sideStart: yStart, sideEnd: yEnd } = box;
  const { a, b, forward, backward, shift, stepsMax } = search;
  const lowest = xStart - yEnd;
  const highest = xEnd - yStart;
  const first = xStart - yStart;
  const last = xEnd - yEnd;
  const meetsForward = ((first - last) & 1) !== 0;
  let fLow = first;
  let fHigh = first;
  let bLow = last;
  let bHigh = last;
  forward[first + shift] = xStart;
  backward[last + shift] = xEnd;
  for (let step = 1; ; step++) {
    if (fLow > lowest) forward[--fLow - 1 + shift] = -1;
    else fLow++;
    if (fHigh < highest) forward[++fHigh + 1 + shift] = -1;
    else fHigh--;
    for (let d = fHigh; d >= fLow; d -= 2) {
      const below = forward[d - 1 + shift] as number;
      const above = forward[d + 1 + shift] as number;
      let x = below >= above ? below + 1 : above;
      while (x < xEnd && x - d < yEnd && a[x] === b[x - d]) x++;
      forward[d + shift] = x;
      if (meetsForward && d >= bLow && d <= bHigh && (backward[d + shift] as number) <= x)
        return { x, y: x - d, isBest: true };
    }
    if (bLow > lowest) backward[--bLow - 1 + shift] = 0x7fffffff;
    else bLow++;
    if (bHigh < highest) backward[++bHigh + 1 + shift] = 0x7fffffff;
    else bHigh--;
    for (let d = bHigh; d >= bLow; d -= 2) {
      const below = backward[d - 1 + shift] as number;
      const above = backward[d + 1 + shift] as number;
      let x = below < above ? below : above - 1;
      while (x > xStart && x - d > yStart && a[x - 1] === b[x - 1 - d]) x--;
      backward[d + shift] = x;
      if (!meetsForward && d >= fLow && d <= fHigh && x <= (forward[d + shift] as number))
        return { x, y: x - d, isBest: true };
    }
    search.steps += fHigh - fLow + bHigh - bLow + 4;
    if (step >= stepsMax) return furthest(search, { xStart, xEnd, yStart, yEnd, fLow, fHigh, bLow, bHigh });
  }
}

interface Frontier {
  readonly xStart: number;
  readonly xEnd: number;
  readonly yStart: number;
  readonly yEnd: number;
  readonly fLow: number;
  readonly fHigh: number;
  readonly bLow: number;
  readonly bHigh: number;
}

/** The point that has come furthest from its own corner, on either front. */
function furthest(search: Search, box: Frontier): Split {
  let best: Split = { x: box.xStart, y: box.yStart, isBest: false };
  let reach = -1;
  for (let d = box.fHigh; d >= box.fLow; d -= 2) {
    const x = Math.min(search.forward[d + search.shift] as number, box.xEnd, box.yEnd + d);
    if (x + (x - d) - (box.xStart + box.yStart) > reach) {
      reach = x + (x - d) - (box.xStart + box.yStart);
      best = { x, y: x - d, isBest: false };
    }
  }
  for (let d = box.bHigh; d >= box.bLow; d -= 2) {
    const x = Math.max(search.backward[d + search.shift] as number, box.xStart, box.yStart + d);
    if (box.xEnd + box.yEnd - (x + (x - d)) > reach) {
      reach = box.xEnd + box.yEnd - (x + (x - d));
      best = { x, y: x - d, isBest: false };
    }
  }
  return best;
}
