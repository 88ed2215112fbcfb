import { MoundError } from '../core/errors.ts';
import type { Precondition, RecordWrite } from '../core/intent.ts';
import { contentionMarksMax } from '../format/contention.ts';
import { countOf, fieldsOf, parseJson } from './parse-rule.ts';

/** What is noticed about files, and from where on. Null turns a signal off. */
export interface SignalPolicy {
  /** A file returns to what it was within so many of its newest versions. */
  readonly oscillation: { readonly versions: number } | null;
  /** Somebody asks for what another has landed already. */
  readonly pileOn: boolean;
  /** A file that is no binary has more bytes, or more lines, than this. */
  readonly megafile: { readonly bytes: number; readonly lines: number } | null;
  /**
   * Within so many milliseconds, so many intents found the file changed under them and had to be merged, or would
   * not merge; or the intents of so many authors did.
   */
  readonly contention: { readonly windowMs: number; readonly intents: number; readonly authors: number } | null;
  /** A file that is flagged is flagged again after so many milliseconds at the earliest. */
  readonly flagAgainMs: number;
  /**
   * A file that the store flags is frozen with it, for so many milliseconds at most; `owner`: whose intents land all
   * the same, an agent's id, else an author's name.
   */
  readonly freeze: { readonly ms: number; readonly owner?: string } | null;
}

export const defaultSignals: SignalPolicy = {
  oscillation: { versions: 8 },
  pileOn: true,
  megafile: { bytes: 256 * 1024, lines: 5000 },
  contention: { windowMs: 10 * 60 * 1000, intents: 20, authors: 8 },
  flagAgainMs: 60 * 60 * 1000,
  freeze: null,
};

/** The record that holds the policy, as JSON; fields that it leaves out are the default's. */
export const signalsKey = 'mound/signals';

/** Contents below this are never looked at for their lines: they are no megafiles, and counting takes time. */
export const megafileBytesMin: number = 16 * 1024;

const names = ['oscillation', 'pileOn', 'megafile', 'contention', 'flagAgainMs', 'freeze'] as const;

function partOf<K extends string>(value: unknown, what: string, fields: readonly K[], most: Partial<Record<K, number>> = {}): Record<K, number> | null | undefined {
  if (value === undefined || value === null) return value;
  const given = fieldsOf(value, what, fields);
  const entries = fields.map((field) => {
    const count = countOf(given[field], `"${what}.${field}"`);
    const bound = most[field];
    if (bound !== undefined && count > bound) throw new MoundError('invalid-argument', `"${what}.${field}" is over ${bound}`);
    return [field, count] as const;
  });
  return Object.fromEntries(entries) as Record<K, number>;
} // prettier-ignore

function freezeOf(value: unknown): SignalPolicy['freeze'] {
  if (value === undefined || value === null) return null;
  const { ms, owner } = fieldsOf(value, 'freeze', ['ms', 'owner']);
  const lasts = countOf(ms, '"freeze.ms"');
  if (lasts === 0) throw new MoundError('invalid-argument', '"freeze.ms" is 0: such a freeze cannot be');
  if (owner === undefined) return { ms: lasts };
  if (typeof owner !== 'string' || owner === '') throw new MoundError('invalid-argument', '"freeze.owner" is no text');
  return { ms: lasts, owner };
}

/** Versions that a look at a file's history takes in at most. */
const versionsMax = 64;

/** Reads a policy from what JSON gives. Errors: `invalid-argument`, which says what is wrong. */
export function parseSignals(value: unknown): SignalPolicy {
  const fields = fieldsOf(value, 'the policy', names);
  const most = { intents: contentionMarksMax, authors: contentionMarksMax };
  const oscillation = partOf(fields['oscillation'], 'oscillation', ['versions'], { versions: versionsMax });
  const megafile = partOf(fields['megafile'], 'megafile', ['bytes', 'lines']);
  const contention = partOf(fields['contention'], 'contention', ['windowMs', 'intents', 'authors'], most);
  const { pileOn = defaultSignals.pileOn, flagAgainMs = defaultSignals.flagAgainMs } = fields;
  if (typeof pileOn !== 'boolean') throw new MoundError('invalid-argument', '"pileOn" is neither true nor false');
  return {
    oscillation: oscillation === undefined ? defaultSignals.oscillation : oscillation,
    pileOn,
    megafile: megafile === undefined ? defaultSignals.megafile : megafile,
    contention: contention === undefined ? defaultSignals.contention : contention,
    flagAgainMs: countOf(flagAgainMs, '"flagAgainMs"'),
    freeze: freezeOf(fields['freeze']),
  };
}

export const parseSignalsBytes = (value: Uint8Array): SignalPolicy => parseSignals(parseJson(value));

/**
 * What an intent writes to tune the signals, or to have the default ones again (null); the same for every process
 * from its landing on. Errors: `invalid-argument`.
 */
export function signalsRecord(policy: Partial<SignalPolicy> | null, expect: Precondition): RecordWrite {
  return { key: signalsKey, expect, value: policy === null ? null : JSON.stringify(parseSignals(policy)) };
}
