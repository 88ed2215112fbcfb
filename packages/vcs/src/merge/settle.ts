import { scratchBytes, withScratch } from '../core/scratch.ts';

/**
 * Moves each group of changed lines to its settled place. A group may slide where
 * the line that it gains equals the line that it loses (an inserted `a` beside an
 * `a`); groups that meet become one. Of its possible places a group takes the
 * lowest at which the other file changed too, else the lowest of all: git's rule,
 * and the reason why both sides of a merge name the same place for the same change.
 */
export function settleGroups(lines: Int32Array, marks: Uint8Array, otherMarks: Uint8Array): void {
  if (marks.includes(1)) withScratch(() => settleMarked(lines, marks, otherMarks));
}

function settleMarked(lines: Int32Array, marks: Uint8Array, otherMarks: Uint8Array): void {
  const changedAfter = changedAfterKept(otherMarks);
  /** Kept lines before the group; a group's place in the other file. */
  let kept = 0;
  let start = 0;
  while (start < lines.length) {
    if (marks[start] === 0) {
      start++;
      kept++;
      continue;
    }
    let end = start;
    while (marks[end] === 1) end++;
    const place = settle({ start, end, kept });
    start = place.end;
    kept = place.kept;
  }

  function settle(group: Group): Group {
    let place = group;
    let size: number;
    let highest: number;
    let matched: number;
    do {
      size = place.end - place.start;
      for (let up = slideUp(lines, marks, place); up; up = slideUp(lines, marks, place)) place = up;
      highest = place.kept;
      matched = changedAfter[place.kept] === 1 ? place.kept : -1;
      for (let down = slideDown(lines, marks, place); down; down = slideDown(lines, marks, place)) {
        place = down;
        if (changedAfter[place.kept] === 1) matched = place.kept;
      }
    } while (place.end - place.start !== size);
    if (place.kept === highest || matched < 0) return place;
    while (place.kept > matched) place = slideUp(lines, marks, place) ?? place;
    return place;
  }
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly kept: number;
}

/** For each number of kept lines: 1 where changed lines follow them. */
function changedAfterKept(marks: Uint8Array): Uint8Array {
  const changed = scratchBytes(marks.length + 1);
  let kept = 0;
  for (let at = 0; at < marks.length; at++) {
    if (marks[at] === 1) changed[kept] = 1;
    else kept++;
  }
  return changed;
}

function slideUp(lines: Int32Array, marks: Uint8Array, group: Group): Group | undefined {
  let { start, end } = group;
  if (start === 0 || lines[start - 1] !== lines[end - 1]) return undefined;
  marks[--start] = 1;
  marks[--end] = 0;
  while (marks[start - 1] === 1) start--;
  return { start, end, kept: group.kept - 1 };
}

function slideDown(lines: Int32Array, marks: Uint8Array, group: Group): Group | undefined {
  let { start, end } = group;
  if (end === lines.length || lines[start] !== lines[end]) return undefined;
  marks[start++] = 0;
  marks[end++] = 1;
  while (marks[end] === 1) end++;
  return { start, end, kept: group.kept + 1 };
}
