import {
  conflictHunks,
  conflictRegions,
  contentsOf,
  joinLines,
  splitLines,
  type ConflictShape,
  type FileState,
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
export function stretchesOf(input: MergeInput, shape: ConflictShape): Stretch[] {
  const { hunks, isWhole } = conflictHunks(input, shape);
  const stretches = hunks.map(({ index, base, current, incoming }): Stretch => ({
    index,
    base: bytesOf(base.text),
    texts: { current: bytesOf(current.text), incoming: bytesOf(incoming.text) },
    where: '',
  }));
  return isWhole ? stretches : [...stretches, ...cleanStretches(input, shape, hunks.length)];
}

const contentOf = (state: FileState | null): Buffer => (state === null ? Buffer.alloc(0) : bytesOf(state.content));

/** What one side alone made of a file as a whole. */
function wholeStretches({ base, current, incoming }: MergeInput): Stretch[] {
  const before = contentOf(base);
  return Object.entries({ current: contentOf(current), incoming: contentOf(incoming) })
    .filter(([, content]) => !content.equals(before))
    .map(([side, content], index) => ({
      index,
      base: before,
      texts: { current: undefined, incoming: undefined, [side]: content },
      where: ' (all of it)',
    }));
}

function cleanStretches(input: MergeInput, shape: ConflictShape, from: number): Stretch[] {
  const contents = contentsOf(input);
  if (contents?.base === undefined) return from === 0 ? wholeStretches(input) : [];
  const lines = {
    base: splitLines(contents.base),
    current: splitLines(contents.current),
    incoming: splitLines(contents.incoming),
  };
  const textOf = (side: keyof typeof lines, { start, count }: LineRange): Buffer =>
    bytesOf(joinLines(lines[side].slice(start, start + count)));
  return conflictRegions(contents, shape)
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
