import type { RepoPath } from '../core/ids.ts';
import type { HunkAccount } from '../core/intent.ts';
import type { Rejected } from '../core/outcome.ts';
import { pack } from '../format/codec.ts';
import { reject } from '../intent/reject.ts';
import {
  addedMarkers,
  isText,
  joinLines,
  mergeFile,
  mergeLines,
  splitLines,
  type FileState,
  type LineRange,
  type MergeInput,
} from '../merge/index.ts';

/** One conflicted path and what a resolution makes of it (null: deleted). */
export interface ResolvedPath {
  readonly path: RepoPath;
  readonly input: MergeInput;
  readonly result: FileState | null;
}

const sides = ['current', 'incoming'] as const;

const bytesOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** `text` stands in `content` as whole lines. */
function holdsLines(content: Buffer, text: Buffer): boolean {
  for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + 1)) {
    const end = at + text.length;
    const isLineStart = at === 0 || content[at - 1] === newline;
    const isLineEnd = content[end - 1] === newline || end === content.length || content[end] === newline;
    if (isLineStart && isLineEnd) return true;
  }
  return false;
}

const newline = 0x0a;

/** Whether it can be seen that a side lost nothing of a hunk; else the resolver must say how it fared. */
function isSeenKept(side: Buffer, other: Buffer, base: Buffer, result: FileState | null): boolean {
  // A side that did not change these lines has nothing to lose.
  if (side.equals(base)) return true;
  const content = result === null ? Buffer.alloc(0) : bytesOf(result.content);
  if (side.length > 0) return holdsLines(content, side);
  // A side that deleted the lines is kept where nothing stands in their place.
  return !holdsLines(content, base) && (other.length === 0 || !holdsLines(content, other));
}

/** A stretch that a side changed, and what it made of it; undefined for a side that has no part in it. */
interface Stretch {
  readonly index: number;
  readonly base: Buffer;
  readonly texts: { readonly current: Buffer | undefined; readonly incoming: Buffer | undefined };
  readonly where: string;
}

/**
 * The hunks in conflict under their numbers, and behind them what one side alone
 * changed: it merged by itself, but a resolution gives the whole text and could
 * leave it out.
 */
function stretchesOf(input: MergeInput): Stretch[] {
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

const noBytes = Buffer.alloc(0);

/**
 * Every hunk of each side is kept, transformed, or discarded with a reason.
 * What can be seen to be kept needs no word; all else needs an account.
 */
export function accountFor(
  resolved: readonly ResolvedPath[],
  accounts: readonly HunkAccount[],
  otherwise: Pick<HunkAccount, 'fate' | 'reason'> | undefined,
): { readonly accounts: readonly HunkAccount[] } | Rejected {
  const complete: HunkAccount[] = [];
  const missing: string[] = [];
  for (const { path, input, result } of resolved) {
    if (result !== null) {
      const inputs = [input.base, input.current, input.incoming].flatMap((state) => (state ? [state.content] : []));
      const [line] = addedMarkers(result.content, inputs);
      if (line !== undefined) {
        return reject('resolution-has-markers', `${path} line ${line} is a conflict marker`, 'resolve that hunk too', {
          paths: [path],
        });
      }
    }
    for (const { index, base, texts, where } of stretchesOf(input)) {
      for (const side of sides) {
        const text = texts[side];
        if (text === undefined) continue;
        const place = { path, side, hunk: index };
        const named = accounts.find((a) => a.path === path && a.side === side && a.hunk === index);
        const other = texts[side === 'current' ? 'incoming' : 'current'] ?? noBytes;
        const isKept = isSeenKept(text, other, base, result);
        const seen = isKept ? ({ ...place, fate: 'kept' } as const) : undefined;
        const account: HunkAccount | undefined = named ?? seen ?? (otherwise && { ...place, ...otherwise });
        const isTrue = account?.fate !== 'kept' || isKept;
        const isReasoned = account?.fate !== 'discarded' || (account.reason ?? '').trim() !== '';
        const isComplete = account !== undefined && isTrue && isReasoned;
        if (isComplete) complete.push(account);
        else missing.push(`${path} hunk ${index} ${side}${where}`);
      }
    }
  }
  if (missing.length === 0) return { accounts: complete };
  return reject(
    'resolution-unaccounted',
    `no account of ${missing.join(', ')}`,
    'say for each whether it was kept, transformed or discarded, with a reason where discarded',
    { paths: [...new Set(resolved.map(({ path }) => path))] },
  );
}

export const packAccounts = (accounts: readonly HunkAccount[]): Buffer =>
  pack(accounts.map((a) => [a.path, a.side, a.hunk, a.fate, a.reason ?? null]));
