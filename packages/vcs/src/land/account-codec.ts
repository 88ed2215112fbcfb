import type { DiscardCause, HunkAccount } from '../core/intent.ts';
import { pack, unpack, type Packable } from '../format/codec.ts';
import type { Counters } from '../store/counters.ts';

/** An account as it stands in the log. */
export interface AccountRow extends HunkAccount {
  /** Of a discarded hunk: seqs of the entries that brought it. */
  readonly from: readonly number[];
}

const packCause = (cause: DiscardCause | undefined): Packable => {
  switch (cause?.kind) {
    case undefined:
      return null;
    case 'decision':
      return [cause.kind, cause.id];
    case 'identical':
      return [cause.kind, cause.path];
    case 'check':
      return [cause.kind, cause.command, cause.finding];
  }
};

function unpackCause(packed: Packable): DiscardCause | undefined {
  if (packed === null) return undefined;
  const [kind, first = '', second = ''] = packed as readonly string[];
  if (kind === 'decision') return { kind, id: first };
  if (kind === 'identical') return { kind, path: first };
  return { kind: 'check', command: first, finding: second };
}

export const packAccounts = (accounts: readonly AccountRow[]): Buffer =>
  pack(accounts.map((a) => [a.path, a.side, a.hunk, a.fate, a.reason ?? null, packCause(a.because), a.from]));

export function unpackAccounts(bytes: Uint8Array): AccountRow[] {
  const rows = unpack(bytes) as [string, 'current' | 'incoming', number, HunkAccount['fate'], string | null, Packable, number[]][]; // prettier-ignore
  return rows.map(([path, side, hunk, fate, reason, cause, from]) => {
    const because = unpackCause(cause);
    const row = { path, side, hunk, fate, ...(reason !== null && { reason }), ...(because && { because }) };
    return { ...row, from };
  });
}

const counterOf = { kept: 'hunksKept', transformed: 'hunksTransformed', discarded: 'hunksDiscarded' } as const;

/** Takes the accounts of a resolution into the store's counts. */
export function countFates(counters: Counters, accounts: Uint8Array | undefined): void {
  if (accounts === undefined) return;
  for (const { fate } of unpackAccounts(accounts)) counters[counterOf[fate]]++;
}
