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
    if (at === 0 || content[at - 1] === 0x0a) return true;
  }
  return false;
}

/** How a hunk's side fares in the result where that can be seen; undefined where the resolver must say. */
function seenFate(side: Buffer, base: Buffer, result: FileState | null): 'kept' | undefined {
  if (result === null) return side.length === 0 ? 'kept' : undefined;
  // A side that did not change these lines, or whose lines stand in the result, lost nothing.
  if (side.equals(base) || holdsLines(bytesOf(result.content), side)) return 'kept';
  return undefined;
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
        const fate = seenFate(bytesOf(hunk[side].text), bytesOf(hunk.base.text), result);
        const account = named ?? (fate ? { ...place, fate } : otherwise && { ...place, ...otherwise });
        const isComplete = account && (account.fate !== 'discarded' || (account.reason ?? '').trim() !== '');
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
