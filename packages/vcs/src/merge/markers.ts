import { conflictRegions, contentsOf, type ConflictShape } from './merge-file.ts';
import { joinLines, splitLines } from './lines.ts';
import { isText } from './merge-input.ts';
import type { FileState, MergeInput } from './merge-input.ts';
import { sideOf } from './combine.ts';
import type { LineRange, Region } from './combine.ts';
import { mergeLines } from './three-way.ts';

export interface MarkerLabels {
  readonly base: string;
  readonly current: string;
  readonly incoming: string;
}

export interface MarkerOptions {
  /** `diff3` shows the base's lines too; `merge` leaves out what both sides share at the edges of a hunk. */
  readonly style: 'merge' | 'diff3';
  readonly labels?: MarkerLabels;
  /** Of the record of the conflict; default: as the lines are. */
  readonly shape?: ConflictShape;
}

const defaultLabels: MarkerLabels = { base: 'base', current: 'current', incoming: 'incoming' };

/**
 * The merged text with git's markers around each conflict, in the file's own line
 * ending and always on lines of their own: inside a hunk a last line without an
 * ending gets one (the hunks of the {@link MergeResult} keep each side's exact
 * bytes). An absent side counts as empty. undefined where a side is no text.
 */
export function renderConflict(input: MergeInput, options: MarkerOptions): Uint8Array | undefined {
  const { base, current, incoming } = input;
  if (![base, current, incoming].every((state) => state === null || isText(state))) return undefined;
  const lines = { base: linesOf(base), current: linesOf(current), incoming: linesOf(incoming) };
  const labels = options.labels ?? defaultLabels;
  const lineEnd = lineEndOf(lines.current, lines.incoming);
  const out: string[] = [];

  const take = (side: keyof MarkerLabels, { start, count }: LineRange): void => {
    for (let line = start; line < start + count; line++) out.push(lines[side][line] as string);
  };
  const takeWhole = (side: keyof MarkerLabels, range: LineRange): void => {
    take(side, range);
    const last = out.at(-1);
    if (range.count > 0 && last !== undefined && !last.endsWith('\n')) out[out.length - 1] = last + lineEnd;
  };
  // A label with a line break in it could forge a marker.
  const mark = (sign: string, label = ''): void => {
    out.push(`${sign.repeat(7)} ${label.replaceAll(/[\r\n]+/g, ' ')}`.trimEnd() + lineEnd);
  };

  const contents = contentsOf(input);
  const regions =
    contents === undefined || options.shape === undefined
      ? mergeLines(lines.base, lines.current, lines.incoming)
      : conflictRegions(contents, options.shape);
  for (const region of regions) {
    if (region.kind !== 'conflict') {
      take(sideOf(region), region[sideOf(region)]);
      continue;
    }
    const isShared = options.style === 'merge';
    const shared = isShared ? sharedEdges(lines.current, lines.incoming, region) : { prefix: 0, suffix: 0 };
    const inner = ({ start, count }: LineRange): LineRange => ({
      start: start + shared.prefix,
      count: count - shared.prefix - shared.suffix,
    });
    take('current', { start: region.current.start, count: shared.prefix });
    mark('<', labels.current);
    takeWhole('current', inner(region.current));
    if (options.style === 'diff3') {
      mark('|', labels.base);
      takeWhole('base', region.base);
    }
    mark('=');
    takeWhole('incoming', inner(region.incoming));
    mark('>', labels.incoming);
    take('current', { start: region.current.start + region.current.count - shared.suffix, count: shared.suffix });
  }
  return joinLines(out);
}

const linesOf = (state: FileState | null): string[] => (state === null ? [] : splitLines(state.content));

/** CRLF where most lines of both sides together end so; which side is which makes no difference. */
function lineEndOf(current: readonly string[], incoming: readonly string[]): string {
  let crlfLead = 0;
  for (const lines of [current, incoming]) {
    for (const line of lines) if (line.endsWith('\n')) crlfLead += line.endsWith('\r\n') ? 1 : -1;
  }
  return crlfLead > 0 ? '\r\n' : '\n';
}

/** Lines at the start and at the end of a conflict in which both sides agree. */
function sharedEdges(
  current: readonly string[],
  incoming: readonly string[],
  region: Region,
): { readonly prefix: number; readonly suffix: number } {
  const shorter = Math.min(region.current.count, region.incoming.count);
  const currentEnd = region.current.start + region.current.count - 1;
  const incomingEnd = region.incoming.start + region.incoming.count - 1;
  let prefix = 0;
  while (prefix < shorter && current[region.current.start + prefix] === incoming[region.incoming.start + prefix])
    prefix++;
  let suffix = 0;
  while (suffix < shorter - prefix && current[currentEnd - suffix] === incoming[incomingEnd - suffix]) suffix++;
  return { prefix, suffix };
}
