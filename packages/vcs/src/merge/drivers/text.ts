import type { DriverInput, DriverVerdict, MergeDriver } from '../driver.ts';
import { sideOf, type Region } from '../combine.ts';
import { cutTexts, type CutTexts } from '../cut-text.ts';
import { splitLines } from '../lines.ts';
import { mergeCut } from '../three-way.ts';

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
export function mergeText({ base, current, incoming }: DriverInput): DriverVerdict {
  const cut = cutTexts(base ?? noContent, current, incoming);
  const regions = mergeCut(cut);
  if (regions.some(({ kind }) => kind === 'conflict')) return { kind: 'conflict', lines: 'conflict', regions };
  return { kind: 'clean', lines: 'clean', content: takeBytes(cut, regions) };
}

const noContent = new Uint8Array(0);

function takeBytes(cut: CutTexts, regions: readonly Region[]): Uint8Array {
  const parts = regions.map((region) => {
    const side = sideOf(region);
    const { content, starts } = cut[side];
    const { start, count } = region[side];
    return content.subarray(starts[start], starts[start + count]);
  });
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
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
