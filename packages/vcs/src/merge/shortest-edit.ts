/**
 * Marks the lines that a shortest edit script changes: Myers' O(ND) search from both
 * ends, in linear space ("An O(ND) Difference Algorithm and Its Variations", 1986, 4b).
 *
 * The ties (descending diagonals, forward before backward, a deletion before an
 * insertion) are broken as git and GNU diff do, because which of several equally
 * short scripts is taken decides whether two changes touch.
 */

/** Steps after which a search stops looking for the best split and takes a good one. */
const searchStepsMin = 256;

export interface EditMarks {
  /** 1 where the line of `a` has no partner. */
  readonly a: Uint8Array;
  readonly b: Uint8Array;
}

interface Split {
  readonly x: number;
  readonly y: number;
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
}

export function shortestEdit(a: Int32Array, b: Int32Array): EditMarks {
  const marks = { a: new Uint8Array(a.length), b: new Uint8Array(b.length) };
  const diagonals = a.length + b.length + 3;
  const search: Search = {
    a,
    b,
    forward: new Int32Array(diagonals),
    backward: new Int32Array(diagonals),
    shift: b.length + 1,
    stepsMax: Math.max(searchStepsMin, Math.ceil(Math.sqrt(diagonals))),
  };
  const boxes: number[] = [0, a.length, 0, b.length];
  while (boxes.length > 0) {
    let yEnd = boxes.pop() as number;
    let yStart = boxes.pop() as number;
    let xEnd = boxes.pop() as number;
    let xStart = boxes.pop() as number;
    while (xStart < xEnd && yStart < yEnd && a[xStart] === b[yStart]) {
      xStart++;
      yStart++;
    }
    while (xStart < xEnd && yStart < yEnd && a[xEnd - 1] === b[yEnd - 1]) {
      xEnd--;
      yEnd--;
    }
    if (xStart === xEnd) marks.b.fill(1, yStart, yEnd);
    else if (yStart === yEnd) marks.a.fill(1, xStart, xEnd);
    else {
      const { x, y } = splitBox(search, xStart, xEnd, yStart, yEnd);
      boxes.push(xStart, x, yStart, y, x, xEnd, y, yEnd);
    }
  }
  return marks;
}

/** A point on a shortest path through the box, or on a good one when that is too far to seek. */
function splitBox(search: Search, xStart: number, xEnd: number, yStart: number, yEnd: number): Split {
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
      if (meetsForward && d >= bLow && d <= bHigh && (backward[d + shift] as number) <= x) return { x, y: x - d };
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
      if (!meetsForward && d >= fLow && d <= fHigh && x <= (forward[d + shift] as number)) return { x, y: x - d };
    }
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
  let best: Split = { x: box.xStart, y: box.yStart };
  let reach = -1;
  for (let d = box.fHigh; d >= box.fLow; d -= 2) {
    const x = Math.min(search.forward[d + search.shift] as number, box.xEnd, box.yEnd + d);
    if (x + (x - d) - (box.xStart + box.yStart) > reach) {
      reach = x + (x - d) - (box.xStart + box.yStart);
      best = { x, y: x - d };
    }
  }
  for (let d = box.bHigh; d >= box.bLow; d -= 2) {
    const x = Math.max(search.backward[d + search.shift] as number, box.xStart, box.yStart + d);
    if (box.xEnd + box.yEnd - (x + (x - d)) > reach) {
      reach = box.xEnd + box.yEnd - (x + (x - d));
      best = { x, y: x - d };
    }
  }
  return best;
}
