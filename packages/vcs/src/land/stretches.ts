import {
  isText,
  joinLines,
  mergeFile,
  mergeLines,
  splitLines,
  type LineRange,
  type MergeInput,
} from '../merge/index.ts';

/** A stretch that a side changed, and what it made of it; undefined for a side that has no part in it. */
export interface Stretch {
  readonly index: number;
  readonly base: Buffer;
  readonly texts: { readonly current: Buffer | undefined; readonly incoming: Buffer | undefined };
  readonly where: string;
}

export const bytesOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * The hunks in conflict under their numbers, and behind them what one side alone
 * changed: it merged by itself, but a resolution gives the whole text and could
 * leave it out.
 */
export function stretchesOf(input: MergeInput): Stretch[] {
  const merged = mergeFile(input);
  const hunks = merged.kind === 'conflict' ? merged.hunks : [];
  const stretches = hunks.map(({ index, base, current, incoming }): Stretch => ({
    index,
    base: bytesOf(base.text),
    texts: { current: bytesOf(current.text), incoming: bytesOf(incoming.text) },
    where: '',
  }));
  return [...stretches, ...cleanStretches(input, hunks.length)];
}

function cleanStretches({ base, current, incoming }: MergeInput, from: number): Stretch[] {
  if (!base || !current || !incoming) return [];
  if (![base, current, incoming].every(isText)) return [];
  const lines = {
    base: splitLines(base.content),
    current: splitLines(current.content),
    incoming: splitLines(incoming.content),
  };
  const textOf = (side: keyof typeof lines, { start, count }: LineRange): Buffer =>
    bytesOf(joinLines(lines[side].slice(start, start + count)));
  return mergeLines(lines.base, lines.current, lines.incoming)
    .filter(({ kind }) => kind === 'current' || kind === 'incoming')
    .map((region, at): Stretch => {
      const side = region.kind === 'current' ? 'current' : 'incoming';
      const { start, count } = region[side];
      const text = textOf(side, region[side]);
      return {
        index: from + at,
        base: textOf('base', region.base),
        texts: { current: undefined, incoming: undefined, [side]: text },
        where: ` (${count} lines from ${start + 1})`,
      };
    });
}
