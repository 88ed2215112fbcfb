import type { RepoPath } from '../core/ids.ts';
import type { DiscardCause, HunkAccount, HunkFate } from '../core/intent.ts';
import { limits } from '../core/limits.ts';
import type { Rejected } from '../core/outcome.ts';
import { isWellFormed } from '../core/text.ts';
import { reject } from '../intent/reject.ts';
import { addedMarkers, type ConflictShape, type FileState, type MergeInput } from '../merge/index.ts';
import type { AccountRow } from './account-codec.ts';
import { bytesOf, stretchesOf, type Stretch } from './stretches.ts';

/** One conflicted path and what a resolution makes of it (null: deleted). */
export interface ResolvedPath {
  readonly path: RepoPath;
  readonly input: MergeInput;
  readonly result: FileState | null;
  readonly shape: ConflictShape;
}

type Side = HunkAccount['side'];

/** What the resolver's powers over a hunk depend on. */
export interface Powers {
  /** Seqs of the entries that brought what a side has in a stretch of the path at an index of those resolved. */
  from(at: number, side: Side, stretch: Stretch): readonly number[];
  /** Whether the resolver may discard what these entries brought for a reason in its own words. */
  mayDiscardFreely(from: readonly number[]): boolean;
  /** What a file holds with the resolution landed; undefined where there is none. */
  contentAt(path: string): Uint8Array | undefined;
}

const sides = ['current', 'incoming'] as const;
const newline = 0x0a;
const noBytes = Buffer.alloc(0);

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

/** Whether it can be seen that a side lost nothing of a hunk; else the resolver must say how it fared. */
function isSeenKept(side: Buffer, other: Buffer, base: Buffer, result: FileState | null): boolean {
  // A side that did not change these lines has nothing to lose.
  if (side.equals(base)) return true;
  const content = result === null ? noBytes : bytesOf(result.content);
  if (side.length > 0) return holdsLines(content, side);
  // A side that deleted the lines is kept where nothing stands in their place.
  return !holdsLines(content, base) && (other.length === 0 || !holdsLines(content, other));
}

const isSaid = (text: string | undefined): boolean => (text ?? '').trim() !== '';

/** Why a cause cannot stand; undefined where it can. */
function faultOfCause(cause: DiscardCause, text: Buffer, powers: Powers): string | undefined {
  switch (cause.kind) {
    case 'decision':
      return isSaid(cause.id) ? undefined : 'names no decision';
    case 'check':
      return isSaid(cause.command) && isSaid(cause.finding) ? undefined : 'gives no failing check with its finding';
    case 'identical': {
      const content = powers.contentAt(cause.path);
      const isThere = content !== undefined && text.length > 0 && holdsLines(bytesOf(content), text);
      return isThere ? undefined : `is not what stands in ${cause.path}`;
    }
  }
}

/** Why an account cannot stand; undefined where it can. */
function faultOf(
  account: HunkFate,
  isKept: boolean,
  text: Buffer,
  from: readonly number[],
  powers: Powers,
): string | undefined {
  if (account.fate === 'kept') return isKept ? undefined : 'is not to be seen in the result';
  if (account.fate === 'transformed') return undefined;
  if (account.because !== undefined) return faultOfCause(account.because, text, powers);
  if (!isSaid(account.reason)) return 'is discarded without a reason';
  return powers.mayDiscardFreely(from) ? undefined : "is another's: cite a decision, a check or where the same stands";
}

/** What is wrong with the form of an account that came from outside; undefined where nothing is. */
function formFault({ fate, reason, because }: HunkFate): string | undefined {
  const { decision, identical, check } = { decision: ['id'], identical: ['path'], check: ['command', 'finding'] };
  const fields: Readonly<Record<string, readonly string[]>> = { decision, identical, check };
  if (!['kept', 'transformed', 'discarded'].includes(fate)) return 'has no fate that there is';
  const texts: unknown[] = reason === undefined ? [] : [reason];
  if (because !== undefined) {
    const named = fields[because.kind];
    if (named === undefined) return 'has a cause of no kind that there is';
    texts.push(...named.map((field) => (because as Readonly<Record<string, unknown>>)[field]));
  }
  const isFit = (text: unknown): boolean =>
    typeof text === 'string' && isWellFormed(text) && Buffer.byteLength(text) <= limits.messageBytesMax;
  return texts.every(isFit) ? undefined : `has a text that is none, or over ${limits.messageBytesMax} bytes`;
}

const malformed = (message: string, path: string): Rejected =>
  reject('invalid-intent', message, 'correct the account and resolve again', { paths: path === '' ? [] : [path] });

/**
 * Every hunk of each side is kept, transformed, or discarded with a reason.
 * What can be seen to be kept needs no word; all else needs an account. `otherwise`
 * stands for the hunks that `accounts` does not name.
 */
export function accountFor(
  resolved: readonly ResolvedPath[],
  accounts: readonly HunkAccount[],
  otherwise: HunkFate | undefined,
  powers: Powers,
): { readonly accounts: readonly AccountRow[] } | Rejected {
  const complete: AccountRow[] = [];
  const missing: string[] = [];
  const unused = new Set(accounts);
  for (const account of accounts) {
    const fault = formFault(account);
    if (fault !== undefined) return malformed(`an account of ${account.path} ${fault}`, account.path);
  }
  const otherwiseFault = otherwise && formFault(otherwise);
  if (otherwiseFault !== undefined) return malformed(`'otherwise' ${otherwiseFault}`, '');
  /** Hunks of a path so far: several edits may have been led to it. */
  const counts = new Map<RepoPath, number>();
  for (const [at, { path, input, result, shape }] of resolved.entries()) {
    if (result !== null) {
      const inputs = [input.base, input.current, input.incoming].flatMap((state) => (state ? [state.content] : []));
      const [line] = addedMarkers(result.content, inputs);
      if (line !== undefined) {
        return reject('resolution-has-markers', `${path} line ${line} is a conflict marker`, 'resolve that hunk too', {
          paths: [path],
        });
      }
    }
    const stretches = stretchesOf(input, shape);
    const before = counts.get(path) ?? 0;
    counts.set(path, before + stretches.length);
    for (const stretch of stretches) {
      const { base, texts, where } = stretch;
      const index = before + stretch.index;
      for (const side of sides) {
        const named = accounts.find((a) => a.path === path && a.side === side && a.hunk === index);
        if (named !== undefined) unused.delete(named);
        const text = texts[side];
        if (text === undefined) continue;
        const other = texts[side === 'current' ? 'incoming' : 'current'] ?? noBytes;
        const isKept = isSeenKept(text, other, base, result);
        const account = named ?? (isKept ? ({ fate: 'kept' } as const) : otherwise);
        const isGone = account?.fate === 'discarded';
        const from = isGone ? powers.from(at, side, stretch) : [];
        const fault = account === undefined ? '' : faultOf(account, isKept, text, from, powers);
        if (account !== undefined && fault === undefined) {
          const { fate, reason, because } = account;
          const said = { ...(reason !== undefined && { reason }), ...(because && { because }) };
          complete.push({ path, side, hunk: index, fate, ...said, from });
        } else missing.push(`${path} hunk ${index} ${side}${where}${fault && ` (it ${fault})`}`);
      }
    }
  }
  const [strange] = unused;
  if (strange !== undefined && missing.length === 0) {
    const { path, side, hunk } = strange;
    return malformed(`an account names hunk ${hunk} of ${side} in ${path}, which is not there`, path);
  }
  if (missing.length === 0) return { accounts: complete };
  return reject(
    'resolution-unaccounted',
    `no account of ${missing.join(', ')}`,
    'say for each whether it was kept, transformed or discarded, with a reason where discarded',
    { paths: [...new Set(resolved.map(({ path }) => path))] },
  );
}
