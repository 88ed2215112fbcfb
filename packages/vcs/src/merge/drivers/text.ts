import type { DriverInput, DriverVerdict, MergeDriver } from '../driver.ts';
import { sideOf, type Region } from '../combine.ts';
import { joinLines, splitLines } from '../lines.ts';
import { mergeLines } from '../three-way.ts';

/** Line by line; what most texts are merged with. */
export const textDriver: MergeDriver = { id: 'text', version: '1', merge: (input) => mergeText(input) };

export interface TextLines {
  readonly base: readonly string[];
  readonly current: readonly string[];
  readonly incoming: readonly string[];
}

export const linesOf = ({ base, current, incoming }: DriverInput): TextLines => ({
  base: base === undefined ? [] : splitLines(base),
  current: splitLines(current),
  incoming: splitLines(incoming),
});

/** The verdict of the lines alone, which other drivers start from. */
export function mergeText(input: DriverInput): DriverVerdict {
  const lines = linesOf(input);
  const regions = mergeLines(lines.base, lines.current, lines.incoming);
  if (regions.some(({ kind }) => kind === 'conflict')) return { kind: 'conflict', lines: 'conflict', regions };
  return { kind: 'clean', lines: 'clean', content: joinLines(takeLines(lines, regions)) };
}

/** The lines of a merge without conflicts. */
export function takeLines(lines: TextLines, regions: readonly Region[]): string[] {
  const taken: string[] = [];
  for (const region of regions) {
    const side = sideOf(region);
    const { start, count } = region[side];
    for (let line = start; line < start + count; line++) taken.push(lines[side][line] as string);
  }
  return taken;
}
