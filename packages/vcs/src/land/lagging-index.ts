import type { LogEntry } from '../format/entry.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Counters } from '../store/counters.ts';

/** An index from a key that an entry carries to the entry's seq. */
export interface LaggingSpec {
  readonly table: 'operations' | 'commits';
  /** The counter that says up to which seq the table is complete. */
  readonly counter: 'operationsSeq' | 'commitsSeq';
  keyOf(entry: LogEntry): string | undefined;
  bytesOf(key: string): Buffer;
}

export const operationSpec: LaggingSpec = {
  table: 'operations',
  counter: 'operationsSeq',
  keyOf: (entry) => ('operationId' in entry ? entry.operationId : undefined),
  bytesOf: (key) => Buffer.from(key),
};

/** A prefix of the id is enough to find the entry; the entry says whether it is the one. */
export const commitSpec: LaggingSpec = {
  table: 'commits',
  counter: 'commitsSeq',
  keyOf: (entry) => (entry.kind === 'landing' ? entry.commit?.slice(0, 24) : undefined),
  bytesOf: (key) => Buffer.from(key, 'hex'),
};

const tailMax = 8 * 1024;
const sliceMax = 1024;
/** Entries that a new process reads at most before it lands for the first time. */
const lagMax = 32 * 1024;

/**
 * New keys stay in memory (their entries stand in the log anyway) and go to the
 * table in sorted slices behind the hot path: random inserts into a large tree,
 * one a commit, would halve the commit rate.
 */
export class LaggingIndex {
  private readonly reader: LogReader;
  private readonly spec: LaggingSpec;
  private readonly tail = new Map<string, number>();
  /** Entries up to here are in the tail or the table. */
  private seenSeq = 0;
  private droppedSeq = 0;
  private draining: { readonly sorted: [string, number][]; at: number; readonly through: number } | undefined;

  constructor(reader: LogReader, spec: LaggingSpec) {
    this.reader = reader;
    this.spec = spec;
  }

  /** Takes in the entries up to `counters.lastSeq`, whoever wrote them. */
  catchUp(counters: Counters): void {
    const tableSeq = counters[this.spec.counter];
    for (let seq = Math.max(this.seenSeq, tableSeq) + 1; seq <= counters.lastSeq; seq++) {
      const key = this.spec.keyOf(this.reader.mustGetEntry(seq));
      if (key !== undefined && !this.tail.has(key)) this.tail.set(key, seq);
    }
    this.seenSeq = Math.max(this.seenSeq, counters.lastSeq);
    if (tableSeq > this.droppedSeq) {
      for (const [key, seq] of this.tail) if (seq <= tableSeq) this.tail.delete(key);
      this.droppedSeq = tableSeq;
    }
  }

  /** Takes in what this process has just flushed, after `catchUp` at the same transaction's start. */
  learn(written: readonly LogEntry[]): void {
    for (const entry of written) {
      const key = this.spec.keyOf(entry);
      if (key !== undefined && !this.tail.has(key)) this.tail.set(key, entry.seq);
      this.seenSeq = Math.max(this.seenSeq, entry.seq);
    }
  }

  /** Seq of the first entry with this key. Call `catchUp` first. */
  seqOf(key: string): number | undefined {
    const known = this.tail.get(key);
    if (known !== undefined) return known;
    return this.reader.store.tables[this.spec.table].getBinary(this.spec.bytesOf(key))?.readUIntBE(0, 6);
  }

  /** Inside a transaction: moves a bounded slice of a full tail into the table. */
  drain(counters: Counters): void {
    if (this.draining && this.draining.through <= counters[this.spec.counter]) this.draining = undefined;
    if (!this.draining) {
      // Few entries may carry a key: the table must still keep up, or a new process would read the whole log.
      if (this.tail.size < tailMax && this.seenSeq - counters[this.spec.counter] < lagMax) return;
      const sorted = [...this.tail].toSorted(([a], [b]) => (a < b ? -1 : 1));
      this.draining = { sorted, at: 0, through: this.seenSeq };
    }
    const { sorted, at, through } = this.draining;
    const value = Buffer.allocUnsafe(6);
    for (const [key, seq] of sorted.slice(at, at + sliceMax)) {
      value.writeUIntBE(seq, 0, 6);
      this.reader.store.put(this.spec.table, this.spec.bytesOf(key), value);
    }
    this.draining.at += sliceMax;
    if (this.draining.at < sorted.length) return;
    counters[this.spec.counter] = through;
    this.draining = undefined;
  }

  /** After a transaction that was rolled back: its slices are written again, which is idempotent. */
  forget(): void {
    this.draining = undefined;
  }
}
