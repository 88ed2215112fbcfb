import type { EntryMarks } from '../format/entry-codec.ts';
import type { LogEntry } from '../format/entry.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Counters } from '../store/counters.ts';

/** An index from a key that an entry carries to the entry's seq. */
export interface LaggingSpec {
  readonly table: 'operations' | 'commits';
  /** The counter that says up to which seq the table is complete. */
  readonly counter: 'operationsSeq' | 'commitsSeq';
  /** Whether each landing asks for a key; otherwise the tail is searched when one is asked for. */
  readonly isAskedOften: boolean;
  /** No two entries carry the same key. */
  keyOf(entry: EntryMarks | LogEntry): string | undefined;
  bytesOf(key: string): Buffer;
}

export const operationSpec: LaggingSpec = {
  table: 'operations',
  counter: 'operationsSeq',
  isAskedOften: true,
  // What a parked intent came to at last carries its operation id, too; the index leads to the first entry.
  keyOf: (entry) => {
    if (entry.kind === 'landing' || entry.kind === 'conflict') {
      return entry.unparks > 0 ? undefined : entry.operationId;
    }
    return entry.kind === 'parked' || entry.kind === 'closed' ? entry.operationId : undefined;
  },
  bytesOf: (key) => Buffer.from(key),
};

const prefixDigits = 24;

/** A prefix of the id is enough to find the entry; the entry says whether it is the one. */
export const commitSpec: LaggingSpec = {
  table: 'commits',
  counter: 'commitsSeq',
  isAskedOften: false,
  keyOf: (entry) => (entry.kind === 'landing' ? entry.commit : undefined),
  bytesOf: (key) => Buffer.from(key.slice(0, prefixDigits), 'hex'),
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
  /** Keys of the newest entries that carry one, oldest first, and their seqs. */
  private keys: string[] = [];
  private seqs: number[] = [];
  private readonly known: Map<string, number> | undefined;
  /** Entries up to here are in the tail or the table. */
  private seenSeq = 0;
  private droppedSeq = 0;
  private draining:
    | { readonly sorted: { readonly keys: string[]; readonly seqs: number[] }; at: number; readonly through: number }
    | undefined;

  constructor(reader: LogReader, spec: LaggingSpec) {
    this.reader = reader;
    this.spec = spec;
    this.known = spec.isAskedOften ? new Map() : undefined;
  }

  private add(entry: EntryMarks | LogEntry): void {
    const key = this.spec.keyOf(entry);
    if (key === undefined) return;
    this.keys.push(key);
    this.seqs.push(entry.seq);
    this.known?.set(key, entry.seq);
  }

  /** Takes in the entries up to `counters.lastSeq`, whoever wrote them. */
  catchUp(counters: Counters): void {
    const tableSeq = counters[this.spec.counter];
    if (tableSeq > this.droppedSeq) this.drop(tableSeq);
    for (let seq = Math.max(this.seenSeq, tableSeq) + 1; seq <= counters.lastSeq; seq++)
      this.add(this.reader.marks(seq));
    this.seenSeq = Math.max(this.seenSeq, counters.lastSeq);
  }

  /** Rows up to here stand in the table. */
  private drop(tableSeq: number): void {
    const left = this.seqs.findIndex((seq) => seq > tableSeq);
    const count = left < 0 ? this.seqs.length : left;
    const dropped = this.keys.splice(0, count);
    this.seqs.splice(0, count);
    if (this.known) for (const key of dropped) this.known.delete(key);
    this.droppedSeq = tableSeq;
  }

  /** Takes in what this process has just flushed, after `catchUp` at the same transaction's start. */
  learn(written: readonly LogEntry[]): void {
    for (const entry of written) this.add(entry);
    this.seenSeq = Math.max(this.seenSeq, written.at(-1)?.seq ?? 0);
  }

  /** Seq of the entry with this key. Call `catchUp` first. */
  seqOf(key: string): number | undefined {
    const known = this.known ? this.known.get(key) : this.seqs[this.keys.indexOf(key)];
    if (known !== undefined) return known;
    return this.reader.store.tables[this.spec.table].getBinary(this.spec.bytesOf(key))?.readUIntBE(0, 6);
  }

  /** Inside a transaction: moves a bounded slice of a full tail into the table. True: there is more to come. */
  drain(counters: Counters): boolean {
    if (this.draining && this.draining.through <= counters[this.spec.counter]) this.draining = undefined;
    const isAnothers = counters.drainer !== 0 && counters.drainer !== process.pid;
    // One that died is replaced when the tail has grown so much further.
    if (isAnothers && this.keys.length < 2 * tailMax) return false;
    if (!this.draining) {
      // Few entries may carry a key: the table must still keep up, or a new process would read the whole log.
      if (this.keys.length < tailMax && this.seenSeq - counters[this.spec.counter] < lagMax) return false;
      const { keys, seqs } = this;
      const order = Array.from(keys, (_, at) => at).toSorted((a, b) => ((keys[a] ?? '') < (keys[b] ?? '') ? -1 : 1));
      const sorted = { keys: order.map((at) => keys[at] ?? ''), seqs: order.map((at) => seqs[at] ?? 0) };
      this.draining = { sorted, at: 0, through: this.seenSeq };
    }
    const { sorted, at, through } = this.draining;
    const end = Math.min(at + sliceMax, sorted.keys.length);
    const value = Buffer.allocUnsafe(6);
    for (let i = at; i < end; i++) {
      value.writeUIntBE(sorted.seqs[i] ?? 0, 0, 6);
      this.reader.store.put(this.spec.table, this.spec.bytesOf(sorted.keys[i] ?? ''), value);
    }
    this.reader.store.steps.reach('index-slice-drained');
    this.draining.at = end;
    if (end < sorted.keys.length) return true;
    counters[this.spec.counter] = through;
    this.draining = undefined;
    return false;
  }

  /** After a transaction that was rolled back: its slices are written again, which is idempotent. */
  forget(): void {
    this.draining = undefined;
  }
}
