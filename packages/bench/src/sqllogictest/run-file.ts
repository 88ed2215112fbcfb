import type { Engine, Session } from './engine.ts';
import { expectedHash, firstHashThreshold, judge } from './judge.ts';
import type { Ledger } from './ledger.ts';
import type { Failure, RecordOutcome } from './outcome.ts';
import { parseTest } from './parse.ts';
import { endsFile, isSkipped, type QueryRecord, type StatementRecord, type TestRecord } from './record.ts';

/** Told of every failure; the receiver bounds what it keeps. */
export type OnFailure = (failure: Failure) => void;

interface Found {
  readonly outcome: RecordOutcome;
  readonly reason?: string;
}

/** Engines tell more than one line. */
const firstLineOf = (text: string): string => text.split('\n', 1)[0] ?? '';

const right: Found = { outcome: 'right' };

/** Where results under one label came up first. */
interface LabelUse {
  readonly hash: string;
  readonly record: number;
}

/**
 * Runs the records of one file on one engine, from the first that the ledger
 * knows nothing of. What it knows ran in an engine that is gone: statements
 * that came out right are told to the new one, so that the records behind the
 * one that ended it are judged on their own.
 */
class FileRun {
  private readonly records: readonly TestRecord[];
  private readonly dialect: string;
  private readonly session: Session;
  private readonly ledger: Ledger;
  private readonly onFailure: OnFailure;
  private readonly labels = new Map<string, LabelUse>();
  private threshold = firstHashThreshold;

  constructor(records: readonly TestRecord[], dialect: string, session: Session, ledger: Ledger, onFailure: OnFailure) {
    this.records = records;
    this.dialect = dialect;
    this.session = session;
    this.ledger = ledger;
    this.onFailure = onFailure;
  }

  async run(): Promise<void> {
    for (const [index, record] of this.records.entries()) {
      const known = this.ledger.outcome(index);
      if (known !== 'pending') await this.repeat(record, index, known);
      else this.note(record, index, await this.take(record, index));
      if (endsFile(record) && this.ledger.outcome(index) !== 'skipped') return;
    }
  }

  private note(record: TestRecord, index: number, { outcome, reason }: Found): void {
    this.ledger.set(index, outcome);
    if (reason !== undefined) this.onFailure({ line: record.line, outcome, reason: firstLineOf(reason) });
  }

  private async take(record: TestRecord, index: number): Promise<Found> {
    if (isSkipped(record.conditions, this.dialect)) return this.skip(record, index);
    switch (record.kind) {
      case 'halt':
        return { outcome: 'control' };
      case 'hash-threshold':
        this.threshold = record.threshold;
        return { outcome: 'control' };
      case 'malformed':
        return { outcome: 'error', reason: record.reason };
      case 'statement':
        return this.statement(record, index);
      case 'query':
        return this.query(record, index);
    }
  }

  /**
   * A skipped query's label still has to fit: its expected result stands for
   * what it would have given. Where it does not, what was run under the label
   * is wrong; the record itself stays skipped, for how many are attempted must
   * not depend on an engine.
   */
  private skip(record: TestRecord, index: number): Found {
    if (record.kind !== 'query' || record.label === undefined) return { outcome: 'skipped' };
    const earlier = this.labelled(record.label, expectedHash(record), index);
    if (earlier !== undefined && this.ledger.outcome(earlier) === 'right') {
      const reason = `the result expected at line ${record.line}, which is skipped, has the label '${record.label}' and is another one`;
      this.note(this.records[earlier] ?? record, earlier, { outcome: 'wrong', reason });
    }
    return { outcome: 'skipped' };
  }

  /** The record that gave another result under this label. */
  private labelled(label: string, hash: string, record: number): number | undefined {
    const first = this.labels.get(label);
    if (first === undefined) this.labels.set(label, { hash, record });
    return first === undefined || first.hash === hash ? undefined : first.record;
  }

  private async statement(record: StatementRecord, index: number): Promise<Found> {
    const failed = await this.timed(index, () => this.session.statement(record.sql));
    if (record.expect === 'ok') return failed === undefined ? right : { outcome: 'error', reason: failed.error };
    if (record.expect !== 'error')
      return { outcome: 'error', reason: `'statement ${record.expect}' is neither ok nor error` };
    return failed === undefined ? { outcome: 'wrong', reason: 'an error was expected and there is none' } : right;
  }

  private async query(record: QueryRecord, index: number): Promise<Found> {
    const rows = await this.timed(index, () => this.session.query(record.sql, record.types));
    if ('error' in rows) return { outcome: 'error', reason: rows.error };
    const from = performance.now();
    const verdict = judge(record, rows, this.threshold);
    const { label } = record;
    const earlier =
      label === undefined || verdict.labelHash === undefined
        ? undefined
        : this.labelled(label, verdict.labelHash, index);
    this.ledger.spend('judge', performance.now() - from);
    if (verdict.reason !== undefined) return { outcome: 'wrong', reason: verdict.reason };
    if (earlier === undefined) return right;
    const reason = `the result differs from that of line ${this.records[earlier]?.line ?? 0}, which has the label '${label}' too`;
    return { outcome: 'wrong', reason };
  }

  private async timed<Value>(index: number, ask: () => Value | Promise<Value>): Promise<Value> {
    this.ledger.begin(index);
    const from = performance.now();
    const answer = ask();
    const value = answer instanceof Promise ? await answer : answer;
    this.ledger.rest();
    this.ledger.spend('engine', performance.now() - from);
    return value;
  }

  private async repeat(record: TestRecord, index: number, known: RecordOutcome): Promise<void> {
    if (record.kind === 'hash-threshold' && known === 'control') this.threshold = record.threshold;
    if (record.kind === 'query' && record.label !== undefined && (known === 'right' || known === 'skipped')) {
      this.labelled(record.label, expectedHash(record), index);
    }
    if (record.kind !== 'statement' || record.expect !== 'ok' || known !== 'right') return;
    await this.timed(index, () => this.session.statement(record.sql));
  }
}

/** Runs what is left of a file. Throws what the engine throws where it breaks; the ledger says at which record. */
export async function runFile(text: string, engine: Engine, ledger: Ledger, onFailure: OnFailure): Promise<void> {
  const from = performance.now();
  const records = [...parseTest(text)];
  ledger.total = records.length;
  ledger.spend('read', performance.now() - from);
  const session = await engine.open((pid) => (ledger.process = pid));
  try {
    await new FileRun(records, engine.dialect, session, ledger, onFailure).run();
  } finally {
    await session.close();
    ledger.process = 0;
  }
}
