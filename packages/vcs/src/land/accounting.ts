import type { RepoPath } from '../core/ids.ts';
import type { HunkAccount } from '../core/intent.ts';
import type { Rejected } from '../core/outcome.ts';
import { pack } from '../format/codec.ts';
import { reject } from '../intent/reject.ts';
import { addedMarkers, mergeFile, type FileState, type MergeInput } from '../merge/index.ts';

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
    const merged = mergeFile(input);
    for (const hunk of merged.kind === 'conflict' ? merged.hunks : []) {
      for (const side of sides) {
        const place = { path, side, hunk: hunk.index };
        const named = accounts.find((a) => a.path === path && a.side === side && a.hunk === hunk.index);
        const other = hunk[side === 'current' ? 'incoming' : 'current'];
        const isKept = isSeenKept(bytesOf(hunk[side].text), bytesOf(other.text), bytesOf(hunk.base.text), result);
        const seen = isKept ? ({ ...place, fate: 'kept' } as const) : undefined;
        const account: HunkAccount | undefined = named ?? seen ?? (otherwise && { ...place, ...otherwise });
        const isTrue = account?.fate !== 'kept' || isKept;
        const isReasoned = account?.fate !== 'discarded' || (account.reason ?? '').trim() !== '';
        const isComplete = account !== undefined && isTrue && isReasoned;
        if (isComplete) complete.push(account);
        else missing.push(`${path} hunk ${hunk.index} ${side}`);
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
