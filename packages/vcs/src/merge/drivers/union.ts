import type { DriverInput, DriverVerdict, MergeDriver } from '../driver.ts';
import { sideOf } from '../combine.ts';
import { joinLines } from '../lines.ts';
import { mergeLines } from '../three-way.ts';
import { linesOf } from './text.ts';

/**
 * Keeps the lines of both sides where they conflict, current's first: for lists to
 * which everybody adds. As in git, but for a line that both sides wrote among
 * others of their own: git drops the second one, here each stays, since in a list
 * two equal entries of two authors are two entries. A change that both made alike,
 * and nothing else at that place, is one change.
 */
export const unionDriver: MergeDriver = { id: 'union', version: '1', takesAdded: true, merge };

function merge(input: DriverInput): DriverVerdict {
  const lines = linesOf(input);
  const regions = mergeLines(lines.base, lines.current, lines.incoming);
  const merged: string[] = [];
  const take = (side: 'current' | 'incoming', start: number, count: number): void => {
    for (let line = start; line < start + count; line++) {
      const last = merged.at(-1);
      // A last line without an ending must not run into the next.
      if (last !== undefined && !last.endsWith('\n')) merged[merged.length - 1] = last + lineEndOf(lines[side]);
      merged.push(lines[side][line] as string);
    }
  };
  for (const region of regions) {
    for (const side of region.kind === 'conflict' ? (['current', 'incoming'] as const) : [sideOf(region)]) {
      take(side, region[side].start, region[side].count);
    }
  }
  const isConflict = regions.some(({ kind }) => kind === 'conflict');
  return { kind: 'clean', lines: isConflict ? 'conflict' : 'clean', content: joinLines(merged) };
}

const lineEndOf = (lines: readonly string[]): string => (lines[0]?.endsWith('\r\n') === true ? '\r\n' : '\n');
