import type { DriverInput, DriverVerdict, MergeDriver } from '../driver.ts';
import { sideOf, type Region } from '../combine.ts';
import { cutTexts, joinCut, type CutTexts } from '../cut-text.ts';
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

/** The verdict of the lines alone, and what it was made from. */
export interface LineMerge {
  readonly cut: CutTexts;
  readonly regions: readonly Region[];
  readonly verdict: DriverVerdict;
}

/** What other drivers start from. */
export function mergeByLine({ base, current, incoming }: DriverInput): LineMerge {
  const cut = cutTexts(base ?? new Uint8Array(0), current, incoming);
  const regions = mergeCut(cut);
  const isConflict = regions.some(({ kind }) => kind === 'conflict');
  const verdict: DriverVerdict = isConflict
    ? { kind: 'conflict', lines: 'conflict', regions }
    : { kind: 'clean', lines: 'clean', content: joinRegions(cut, regions) };
  return { cut, regions, verdict };
}

export const mergeText = (input: DriverInput): DriverVerdict => mergeByLine(input).verdict;

const joinRegions = (cut: CutTexts, regions: readonly Region[]): Uint8Array =>
  joinCut(
    cut,
    regions.map((region) => ({ text: cut[sideOf(region)], ...region[sideOf(region)] })),
  );
