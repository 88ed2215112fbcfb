import { MoundError } from '../core/errors.ts';
import type { LogReader } from '../log/log-reader.ts';
import { parseRuleBytes } from '../rules/parse-rule.ts';
import { rulePrefix, type NamedRule } from '../rules/rule.ts';
import { RuleSet } from '../rules/rule-set.ts';
import { defaultSignals, parseSignalsBytes, signalsKey, type SignalPolicy } from '../rules/signals.ts';
import type { Counters } from '../store/counters.ts';

/** Why a record's value cannot stand under its key; undefined where it can. */
export function faultOfPolicy(key: string, value: Uint8Array | null): string | undefined {
  if (value === null || !isPolicyKey(key)) return undefined;
  try {
    if (key === signalsKey) parseSignalsBytes(value);
    else parseRuleBytes(value);
    return undefined;
  } catch (error) {
    if (error instanceof MoundError) return error.message;
    throw error;
  }
}

/** Whether a record is one of the store's own that change what lands. */
export const isPolicyKey = (key: string): boolean => key.startsWith(rulePrefix) || key === signalsKey;

/** Rules that were read before, by key: one that was not written since is not parsed again. */
type KnownRules = Map<string, { readonly seq: number; readonly rule: NamedRule | undefined }>;

/** The rules as they are now. Errors: `invalid-argument` where one was written by a newer version. */
export function readRules(reader: LogReader, known: KnownRules = new Map()): NamedRule[] {
  const range = { start: Buffer.from(rulePrefix), end: Buffer.from(`${rulePrefix}\u{10ffff}`) };
  const keys = [...reader.store.tables.records.getKeys(range)].map((key) => key.toString('utf8'));
  return keys.flatMap((key) => {
    const place = reader.recordHead(key);
    let found = known.get(key);
    if (found?.seq !== place.seq) {
      const { value } = reader.record(place);
      const rule = value === null ? undefined : { name: key.slice(rulePrefix.length), rule: parseRuleBytes(value) };
      found = { seq: place.seq, rule };
      known.set(key, found);
    }
    return found.rule ?? [];
  });
}

export function readSignals(reader: LogReader): SignalPolicy {
  const place = reader.recordHead(signalsKey);
  const value = place.seq === 0 ? null : reader.record(place).value;
  return value === null ? defaultSignals : parseSignalsBytes(value);
}

/** The rules in force, read anew when a landing has changed one; nothing is read while there are none. */
export class RuleStore {
  private readonly reader: LogReader;
  private seq = 0;
  private readonly known: KnownRules = new Map();
  private rules: RuleSet | undefined;
  private policy = defaultSignals;

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  /** Inside a transaction, or after a refresh. */
  get(counters: Counters): RuleSet | undefined {
    this.catchUp(counters);
    return this.rules;
  }

  /** How files are watched. As of the same. */
  signals(counters: Counters): SignalPolicy {
    this.catchUp(counters);
    return this.policy;
  }

  private catchUp({ rulesSeq }: Counters): void {
    if (rulesSeq === this.seq) return;
    const rules = readRules(this.reader, this.known);
    this.rules = rules.length === 0 ? undefined : new RuleSet(rules);
    this.policy = readSignals(this.reader);
    this.seq = rulesSeq;
  }

  /** After a transaction that was rolled back. */
  forget(): void {
    this.known.clear();
    this.seq = 0;
    this.rules = undefined;
    this.policy = defaultSignals;
  }
}
