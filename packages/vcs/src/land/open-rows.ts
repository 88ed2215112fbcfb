import type { RepoPath } from '../core/ids.ts';
import type { ConflictEntry, LandingEntry } from '../format/entry.ts';
import { conflictSideKey, seqKey } from '../format/keys.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Counters } from '../store/counters.ts';

const openCounters = { conflicts: 'conflictsOpen', parked: 'parkedOpen' } as const;

/** Which conflicts and parked intents are open, kept inside the transaction of the entries that open and end them. */
export class OpenRows {
  private readonly reader: LogReader;
  private readonly counters: Counters;
  private readonly paths: { pathId(path: RepoPath): number };
  /** Seqs of conflicts of which this batch landed an incoming side. */
  readonly metSides = new Set<number>();

  constructor(reader: LogReader, counters: Counters, paths: { pathId(path: RepoPath): number }) {
    this.reader = reader;
    this.counters = counters;
    this.paths = paths;
  }

  /** A conflict with its incoming sides, so that a landing that brings one of them is noticed. */
  openConflict({ seq, branchId, paths }: ConflictEntry): void {
    this.open('conflicts', seq);
    for (const { path, incoming } of paths) {
      const key = conflictSideKey(branchId, this.paths.pathId(path as RepoPath), incoming);
      const known = this.reader.store.tables.conflictSides.getBinary(key) ?? Buffer.alloc(0);
      this.reader.store.put('conflictSides', key, Buffer.concat([known, seqKey(seq)]));
    }
  }

  closeConflict(seq: number, by: number): void {
    this.close('conflicts', seq, by);
    const entry = this.reader.mustGetEntry(seq);
    if (entry.kind !== 'conflict') return;
    for (const { path, incoming } of entry.paths) {
      const key = conflictSideKey(entry.branchId, this.paths.pathId(path as RepoPath), incoming);
      const known = this.reader.store.tables.conflictSides.getBinary(key);
      const left = known && withoutSeq(known, seq);
      if (left === undefined) continue;
      if (left.length === 0) this.reader.store.remove('conflictSides', key);
      else this.reader.store.put('conflictSides', key, left);
    }
  }

  /** Conflicts of which a landing brings an incoming side: they may be over. */
  noticeSides({ branchId, changes }: LandingEntry): void {
    for (const { pathId, blob, mode } of changes) {
      const target = blob === undefined || mode === undefined ? undefined : { blob, mode };
      const seqs = this.reader.store.tables.conflictSides.getBinary(conflictSideKey(branchId, pathId, target));
      for (let at = 0; seqs !== undefined && at < seqs.length; at += 6) this.metSides.add(seqs.readUIntBE(at, 6));
    }
  }

  /** A conflict or a parked intent: open until `close` names the entry that ended it. */
  open(table: 'conflicts' | 'parked', seq: number): void {
    this.reader.store.put(table, seqKey(seq), seqKey(0));
    this.reader.store.steps.reach('row-opened');
    this.counters[openCounters[table]]++;
  }

  close(table: 'conflicts' | 'parked', seq: number, by: number): void {
    const wasOpen = this.reader.store.tables[table].getBinary(seqKey(seq))?.readUIntBE(0, 6) === 0;
    if (wasOpen) this.counters[openCounters[table]]--;
    this.reader.store.put(table, seqKey(seq), seqKey(by));
    this.reader.store.steps.reach('row-closed');
  }
}

/** Seqs of six bytes each, without one; undefined: it is not there. */
export function withoutSeq(seqs: Buffer, seq: number): Buffer | undefined {
  for (let at = 0; at < seqs.length; at += 6) {
    if (seqs.readUIntBE(at, 6) === seq) return Buffer.concat([seqs.subarray(0, at), seqs.subarray(at + 6)]);
  }
  return undefined;
}
