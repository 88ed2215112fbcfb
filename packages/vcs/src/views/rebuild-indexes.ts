import { encodeBranch, type BranchRow } from '../format/branch.ts';
import { decodeEntry } from '../format/entry-codec.ts';
import type { Body, ConflictEntry, ForkEntry, LandingEntry, LogEntry, Place } from '../format/entry.ts';
import { encodeHead, encodePlace } from '../format/head.ts';
import {
  authorKey,
  breakageKey,
  conflictSideKey,
  headKey,
  idKey,
  pathIdOfReference,
  pathKey,
  redirectKey,
  referenceKey,
  seqKey,
  seqOfKey,
} from '../format/keys.ts';
import { encodeFreeze } from '../format/freeze.ts';
import { encodeFlag, withMark, type ContentionMark } from '../format/contention.ts';
import { decodeSegment } from '../format/segment.ts';
import { countFates } from '../land/account-codec.ts';
import { statesBreakage } from '../land/batch-writer.ts';
import { withoutSeq } from '../land/open-rows.ts';
import { directoryFoldKey, foldedDirectories, foldKey } from '../log/folds.ts';
import { commitSpec, operationSpec, type LaggingSpec } from '../land/lagging-index.ts';
import { isPolicyKey } from '../land/rule-store.ts';
import type { LogReader } from '../log/log-reader.ts';
import { bytesOfPath, pathOfBytes } from '../core/path.ts';
import { isMoundError } from '../core/errors.ts';
import type { BlobId, RepoPath } from '../core/ids.ts';
import { citedSymbolsOf } from '../decisions/index.ts';
import { encodeCounters, firstCounters, type Counters } from '../store/counters.ts';
import { isAuthorOf } from './author-witness.ts';
import { corrupt } from '../store/faults.ts';
import type { Store } from '../store/store.ts';
import type { TableName } from '../store/tables.ts';

/** Rows of one table: value by key in hex. */
export type Rows = Map<string, Buffer>;
/** What each derived table must hold. `meta` has its counters alone. */
export type Indexes = ReadonlyMap<TableName, Rows>;

/** The key of the counters in `meta`. */
export const countersKey = Buffer.from('counters').toString('hex');

const hex = (key: Uint8Array): string => Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex');

/** Rows that nothing has ended. */
const openIn = (rows: Rows): number => [...rows.values()].filter((value) => value.readUIntBE(0, 6) === 0).length;

/** In the order of their ids. */
const byId = (rows: Rows): [string, Buffer][] => [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * Computes what every table that is derived from the log must hold, from the
 * log alone and from what is not in it: the names of paths and authors (of each,
 * two tables hold both directions, and what one lacks is taken from the other)
 * and the marks of export. The lagging tables come out complete, and the
 * counters say so. Reads one committed state, past every cache; holds all rows
 * in memory. `unchanged`, `holds`, `git-by-seq` and the identity cannot be derived.
 * `citing`: where all contents were read already, what they cite; else each is read.
 * Errors: `corrupt-store` where the log itself has a gap or cannot be decoded.
 */
export function rebuildIndexes(reader: LogReader, citing?: CitingBlobs): Indexes {
  reader.store.refresh();
  return new Rebuild(reader, citing).run();
}

/** What blobs cite, of those that cite something. */
export type CitingBlobs = Map<BlobId, readonly string[]>;

class Rebuild {
  private readonly reader: LogReader;
  private readonly store: Store;
  private readonly tables = new Map<TableName, Rows>();
  private readonly counters: Counters = { ...firstCounters };
  private readonly branches = new Map<number, BranchRow>();
  /** First parent of each commit's entry; 0: none. */
  private readonly firstParents = new Map<number, number>();
  private readonly pathIds = new Map<RepoPath, number>();
  /** Conflicts that nothing has ended yet, by seq. */
  private readonly open = new Map<number, ConflictEntry>();

  private readonly citing: CitingBlobs;
  private readonly isRead: boolean;
  private readonly purgedPaths = new Set<number>();

  constructor(reader: LogReader, citing: CitingBlobs | undefined) {
    this.reader = reader;
    this.store = reader.store;
    this.citing = citing ?? new Map();
    this.isRead = citing !== undefined;
  }

  run(): Indexes {
    for (const name of derived) this.tables.set(name, new Map());
    this.addBranch({ id: 0, name: 'main', parentId: -1, forkSeq: 0, commitSeq: 0 });
    this.names();
    const { log, segments, gitBySeq, unchanged, holds } = this.store.tables;
    for (const { key, value } of segments.getRange({})) {
      for (const [at, bytes] of decodeSegment(value).entries()) this.take(seqOfKey(key) + at, bytes);
    }
    this.counters.compactedSeq = this.counters.lastSeq;
    for (const { key, value } of log.getRange({})) this.take(seqOfKey(key), value);
    this.citedByPurged();
    this.counters.conflictsOpen = openIn(this.rows('conflicts'));
    this.counters.parkedOpen = openIn(this.rows('parked'));
    for (const branch of this.branches.values()) this.put('branches', idKey(branch.id), encodeBranch(branch));
    for (const { key, value } of gitBySeq.getRange({})) this.put('seqByGit', value, key);
    this.counters.operationsSeq = this.counters.lastSeq;
    this.counters.commitsSeq = this.counters.lastSeq;
    this.counters.freezes = this.rows('freezes').size;
    this.counters.redirects = this.rows('redirects').size;
    this.counters.unchanged = unchanged.getCount();
    this.counters.holds = holds.getCount();
    this.rows('meta').set(countersKey, encodeCounters(this.counters));
    return this.tables;
  }

  private take(seq: number, bytes: Buffer): void {
    const next = this.counters.lastSeq + 1;
    if (seq !== next) throw corrupt(this.store.dir, `log entry ${next} is missing`);
    this.counters.lastSeq = seq;
    this.entry(decodeEntry(seq, Buffer.from(bytes)));
  }

  private rows(table: TableName): Rows {
    const rows = this.tables.get(table);
    if (rows === undefined) throw new Error(`${table} is not derived`);
    return rows;
  }

  private put(table: TableName, key: Uint8Array, value: Uint8Array): void {
    this.rows(table).set(hex(key), Buffer.from(value));
  }

  /** Names and their ids, from whichever table has them. */
  private names(): void {
    const { paths, pathNames, authors, authorIds } = this.store.tables;
    for (const { key, value } of paths.getRange({})) {
      const name = key.subarray(0, -1);
      // A longer key holds the path's beginning alone.
      if (hex(pathKey(name)) === hex(key)) this.put('pathNames', value, name);
    }
    for (const { key, value } of pathNames.getRange({})) {
      const other = this.rows('pathNames').get(hex(key));
      if (other === undefined || !this.isFolded(other, key) || this.isFolded(value, key)) {
        this.put('pathNames', key, value);
      }
    }
    const directories = new Set<RepoPath>();
    for (const [key, bytes] of byId(this.rows('pathNames'))) {
      const id = Number.parseInt(key, 16);
      const path = pathOfBytes(bytes);
      // A name has one id: a further one was never given.
      if (this.pathIds.has(path)) {
        this.rows('pathNames').delete(key);
        continue;
      }
      this.pathIds.set(path, id);
      this.put('paths', pathKey(bytesOfPath(path)), idKey(id));
      this.put('folds', foldKey(path, id), Buffer.of(1));
      for (const directory of foldedDirectories(path)) {
        if (directories.has(directory)) continue;
        directories.add(directory);
        this.put('folds', directoryFoldKey(directory, id), Buffer.of(2));
      }
      this.counters.nextPathId = Math.max(this.counters.nextPathId, id + 1);
    }
    for (const { key, value } of authorIds.getRange({})) {
      if (hex(authorKey(key)) === hex(key)) this.put('authors', value, key);
    }
    for (const { key, value } of authors.getRange({})) {
      const other = this.rows('authors').get(hex(key));
      const isDisputed = other !== undefined && !other.equals(value);
      const isRight = !isDisputed || isAuthorOf(this.reader, key.readUInt32BE(0), other) !== true;
      if (isRight) this.put('authors', key, value);
    }
    for (const [key, packed] of byId(this.rows('authors'))) {
      const id = Number.parseInt(key, 16);
      if (this.rows('authorIds').has(hex(authorKey(packed)))) {
        this.rows('authors').delete(key);
        continue;
      }
      this.put('authorIds', authorKey(packed), idKey(id));
      this.counters.nextAuthorId = Math.max(this.counters.nextAuthorId, id + 1);
    }
  }

  /** The third witness of a path's name, where the two tables that hold it differ. */
  private isFolded(name: Buffer, id: Buffer): boolean {
    return this.store.tables.folds.getBinary(foldKey(pathOfBytes(name), id.readUInt32BE(0))) !== undefined;
  }

  private addBranch(branch: BranchRow): void {
    this.branches.set(branch.id, branch);
    this.put('branchNames', Buffer.from(branch.name), idKey(branch.id));
    this.counters.nextBranchId = Math.max(this.counters.nextBranchId, branch.id + 1);
  }

  private branch(id: number, seq: number): BranchRow {
    const branch = this.branches.get(id);
    if (branch === undefined)
      throw corrupt(this.store.dir, `log entry ${seq} is on branch ${id}, which no entry forked`);
    return branch;
  }

  private first(spec: LaggingSpec, entry: LogEntry): void {
    const key = spec.keyOf(entry);
    if (key === undefined) return;
    const bytes = spec.bytesOf(key);
    if (!this.rows(spec.table).has(hex(bytes))) this.put(spec.table, bytes, seqKey(entry.seq));
  }

  private entry(entry: LogEntry): void {
    this.first(operationSpec, entry);
    this.first(commitSpec, entry);
    switch (entry.kind) {
      case 'landing':
        return this.landing(entry);
      case 'conflict':
        this.closeConflict(entry.replaces, entry.seq);
        this.openConflict(entry);
        for (const path of new Set(entry.paths.map((row) => row.path)))
          this.contended(entry, this.markKey(entry.branchId, path));
        return this.close('parked', entry.unparks, entry.seq);
      case 'parked':
        this.closeConflict(entry.replaces, entry.seq);
        return this.put('parked', seqKey(entry.seq), seqKey(0));
      case 'closed':
        return this.closeConflict(entry.conflict, entry.seq);
      case 'unparked':
        return this.close('parked', entry.parked, entry.seq);
      case 'freeze':
        return this.put(
          'freezes',
          this.markKey(entry.branchId, entry.path),
          encodeFreeze({ seq: entry.seq, owner: entry.owner, until: entry.until ?? 0 }),
        );
      case 'thaw':
        this.rows('freezes').delete(hex(this.markKey(entry.branchId, entry.path)));
        return;
      case 'flag':
        return this.put('flags', this.markKey(entry.branchId, entry.path), encodeFlag(entry));
      case 'piled':
        return;
      case 'purge':
        for (const blob of entry.blobs) this.put('purges', Buffer.from(blob, 'hex'), seqKey(entry.seq));
        return;
      case 'fork':
        return this.fork(entry);
      case 'tag':
        return this.put('tags', Buffer.from(entry.name), seqKey(entry.at));
    }
  }

  private markKey(branchId: number, path: string): Buffer {
    const id = this.pathIds.get(path as RepoPath);
    if (id === undefined) throw corrupt(this.store.dir, `no table gives the id of ${path}`);
    return headKey(branchId, id);
  }

  private close(table: 'conflicts' | 'parked', seq: number, by: number): void {
    if (seq > 0) this.put(table, seqKey(seq), seqKey(by));
  }

  private contended(mark: ContentionMark, key: Buffer): void {
    this.put('contention', key, withMark(this.rows('contention').get(hex(key)), mark));
  }

  private sideKeys({ branchId, paths }: ConflictEntry): Buffer[] {
    return paths.map(({ path, incoming }) => {
      const id = this.markKey(branchId, path).readUInt32BE(4);
      return conflictSideKey(branchId, id, incoming);
    });
  }

  private openConflict(entry: ConflictEntry): void {
    this.put('conflicts', seqKey(entry.seq), seqKey(0));
    this.open.set(entry.seq, entry);
    for (const key of this.sideKeys(entry)) {
      const known = this.rows('conflictSides').get(hex(key)) ?? Buffer.alloc(0);
      this.put('conflictSides', key, Buffer.concat([known, seqKey(entry.seq)]));
    }
  }

  private closeConflict(seq: number, by: number): void {
    this.close('conflicts', seq, by);
    const entry = this.open.get(seq);
    if (entry === undefined) return;
    this.open.delete(seq);
    const rows = this.rows('conflictSides');
    for (const key of this.sideKeys(entry)) {
      const left = withoutSeq(rows.get(hex(key)) ?? Buffer.alloc(0), seq);
      if (left === undefined || left.length === 0) rows.delete(hex(key));
      else rows.set(hex(key), left);
    }
  }

  /** What a purged content cited is not known any more: what the table says of its path stands. */
  private citedByPurged(): void {
    if (this.purgedPaths.size === 0) return;
    for (const { key, value } of this.store.tables.references.getRange({})) {
      if (this.purgedPaths.has(pathIdOfReference(key))) this.put('references', key, value);
    }
  }

  private cited(pathId: number, blob: BlobId, form: Body['form'], place: Place): void {
    if (form === 'purged') this.purgedPaths.add(pathId);
    if (!this.isRead && form !== 'same' && form !== 'purged' && !this.citing.has(blob)) {
      const symbols = citesAt(this.reader, place);
      if (symbols !== undefined) this.citing.set(blob, symbols);
    }
    for (const symbol of this.citing.get(blob) ?? [])
      this.put('references', referenceKey(symbol, pathId), Buffer.of(1));
  }

  private fork({ seq, branchId: id, name, parentId, at: forkSeq }: ForkEntry): void {
    let { commitSeq } = this.branch(parentId, seq);
    while (commitSeq > forkSeq) commitSeq = this.firstParents.get(commitSeq) ?? 0;
    this.addBranch({ id, name, parentId, forkSeq, commitSeq });
  }

  private landing(entry: LandingEntry): void {
    const { seq, branchId } = entry;
    const branch = this.branch(branchId, seq);
    for (const [index, { pathId, mode, blob, body }] of entry.changes.entries()) {
      this.put('heads', headKey(branchId, pathId), encodeHead({ seq, index }, mode));
      if (blob !== undefined) this.cited(pathId, blob, body.form, { seq, index });
      if (body.form !== 'none' && body.form !== 'same' && body.form !== 'purged') this.counters.objects++;
    }
    for (const [index, { key }] of entry.records.entries()) {
      this.put('records', Buffer.from(key), encodePlace({ seq, index }));
      if (isPolicyKey(key)) this.counters.rulesSeq = seq;
    }
    if (statesBreakage(entry)) this.put('breakages', breakageKey(branchId, seq), Buffer.of(1));
    if (entry.split !== undefined) this.put('redirects', redirectKey(branchId, entry.split.pathId, seq), Buffer.of(1));
    this.closeConflict(entry.resolves, seq);
    countFates(this.counters, entry.accounts);
    this.close('parked', entry.unparks, seq);
    if (entry.gitRaw === undefined) {
      for (const { pathId } of entry.merged) this.contended(entry, headKey(branchId, pathId));
    }
    if (entry.commit === undefined) return;
    this.counters.commits++;
    this.firstParents.set(seq, entry.parents[0] ?? 0);
    this.branches.set(branchId, { ...branch, commitSeq: seq });
  }
}

/** What cannot be read cites nothing that could be looked up. */
function citesAt(reader: LogReader, place: Place): readonly string[] | undefined {
  try {
    return citedSymbolsOf(reader.decode(place));
  } catch (error) {
    if (isMoundError(error)) return undefined;
    throw error;
  }
}

/** Every table but the log and what cannot be derived from it. */
const derived: readonly TableName[] = [
  'meta',
  'heads',
  'paths',
  'pathNames',
  'folds',
  'authors',
  'authorIds',
  'branches',
  'branchNames',
  'records',
  'operations',
  'commits',
  'conflicts',
  'conflictSides',
  'parked',
  'freezes',
  'flags',
  'contention',
  'tags',
  'seqByGit',
  'purges',
  'redirects',
  'references',
  'breakages',
];
