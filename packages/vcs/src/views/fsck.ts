import { MoundError } from '../core/errors.ts';
import type { CommitId, RepoPath } from '../core/ids.ts';
import type { ChangeRow, LandingEntry, LogEntry, Place } from '../format/entry.ts';
import { blobIdOf, commitIdOf } from '../format/hash.ts';
import { seqKey, seqOfKey } from '../format/keys.ts';
import { digestCommitBody } from '../land/commit-body.ts';
import { decodeHead, decodePlace } from '../format/head.ts';
import type { LogReader } from '../log/log-reader.ts';
import { linkAfter } from '../log/places.ts';
import { keptOf } from './conflicts.ts';
import type { FsckReport } from './types.ts';

type Finding = FsckReport['errors'][number];

/** Findings listed; more are the same damage again. */
const findingsMax = 1000;

/**
 * Reads the whole log once, checks every object, chain and commit id, and
 * compares the indexes with what the log says they should be.
 */
export class Fsck {
  private readonly reader: LogReader;
  private readonly errors: Finding[] = [];
  private readonly heads = new Map<string, Place>();
  private readonly records = new Map<string, Place>();
  private readonly commits = new Map<number, CommitId>();
  private readonly forks = new Map<number, { parentId: number; at: number }>();
  private objects = 0;

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  run(): FsckReport {
    this.reader.store.refresh();
    // Caches hold what was written, not what is on disk.
    this.reader.forget();
    const { lastSeq } = this.reader.store.counters;
    for (let seq = 1; seq <= lastSeq; seq++)
      this.attempt(seq, undefined, () => this.entry(this.reader.mustGetEntry(seq)));
    for (const key of this.reader.store.tables.log.getKeys({ start: seqKey(lastSeq + 1), limit: 1 })) {
      this.add('index-wrong', seqOfKey(key), `the log goes on after its last seq, ${lastSeq}`);
    }
    this.compareHeads();
    this.compareRecords();
    const errors = this.errors.slice(0, findingsMax);
    return { ok: this.errors.length === 0, entries: lastSeq, objects: this.objects, errors };
  }

  private add(code: string, seq: number, message: string, path?: string): void {
    this.errors.push({ code, message, seq, ...(path !== undefined && { path }) });
  }

  /** Damage makes one finding and the walk goes on. */
  private attempt(seq: number, path: string | undefined, check: () => void): void {
    try {
      check();
    } catch (error) {
      const code = error instanceof MoundError ? error.code : 'corrupt-store';
      this.add(code, seq, error instanceof Error ? error.message : String(error), path);
    }
  }

  private entry(entry: LogEntry): void {
    this.reader.author(entry.authorId);
    this.reader.branch(entry.branchId);
    switch (entry.kind) {
      case 'landing':
        return this.landing(entry);
      case 'conflict':
      case 'parked':
        keptOf(this.reader, entry);
        if (
          this.reader.store.tables[entry.kind === 'conflict' ? 'conflicts' : 'parked'].get(seqKey(entry.seq)) ===
          undefined
        ) {
          this.add('index-wrong', entry.seq, `${entry.kind} ${entry.seq} is not listed`);
        }
        return;
      case 'fork':
        this.forks.set(entry.branchId, { parentId: entry.parentId, at: entry.at });
        return;
      default:
        return;
    }
  }

  private landing(entry: LandingEntry): void {
    const { seq, branchId } = entry;
    for (const [index, row] of entry.changes.entries()) {
      const path = this.reader.pathOf(row.pathId);
      this.attempt(seq, path, () => this.change(branchId, { seq, index }, row, path));
    }
    for (const [index, row] of entry.records.entries()) {
      const before = this.records.get(row.key);
      if ((before?.seq ?? 0) !== row.previous.seq) this.add('chain-broken', seq, `record ${row.key} skips a version`);
      this.records.set(row.key, { seq, index });
    }
    if (entry.commit === undefined) return;
    this.commits.set(seq, entry.commit);
    const parents = entry.parents.map((parent) => this.commits.get(parent));
    if (parents.includes(undefined)) return this.add('parent-missing', seq, `commit ${entry.commit} lacks a parent`);
    const author = this.reader.author(entry.authorId);
    const changes = entry.changes.map((row) => ({
      path: this.reader.pathOf(row.pathId),
      mode: row.mode,
      blob: row.blob,
    }));
    const body = digestCommitBody({ ...entry, author }, changes, entry.gitRaw);
    if (commitIdOf(parents as CommitId[], entry.time, body) !== entry.commit) {
      this.add('object-damaged', seq, `commit ${entry.commit} does not match its id`);
    }
  }

  private change(branchId: number, place: Place, row: ChangeRow, path: RepoPath): void {
    const before = this.expectedHead(branchId, row.pathId);
    if ((before?.seq ?? 0) !== row.previous.seq) {
      this.add(
        'chain-broken',
        place.seq,
        `${path} names version ${row.previous.seq} before it, not ${before?.seq ?? 0}`,
        path,
      );
    }
    const link = linkAfter(row.previous, this.reader.linkOfChange);
    if (link.depth !== row.depth || link.jump.seq !== row.jump.seq || link.jump.index !== row.jump.index) {
      this.add('chain-broken', place.seq, `${path} does not link to its older versions as it must`, path);
    }
    const { form, base } = row.body;
    const chain = base.seq === 0 ? 0 : this.reader.version(base).chain + (form === 'same' ? 0 : 1);
    if (row.body.base.seq >= place.seq || row.body.chain !== chain) {
      this.add('chain-broken', place.seq, `${path} names no earlier version as its delta's base`, path);
    }
    this.heads.set(`${branchId}/${row.pathId}`, place);
    if (row.blob === undefined) return;
    this.objects++;
    if (blobIdOf(this.reader.decode(place)) !== row.blob) {
      const message = `blob ${row.blob} of ${path} is damaged; commits from seq ${place.seq} on need it`;
      this.add('object-damaged', place.seq, message, path);
    }
  }

  private expectedHead(branchId: number, pathId: number, seqMax = Number.MAX_SAFE_INTEGER): Place | undefined {
    let head = this.heads.get(`${branchId}/${pathId}`);
    while (head !== undefined && head.seq > seqMax) {
      const { previous } = this.reader.change(head);
      head = previous.seq === 0 ? undefined : previous;
    }
    const fork = this.forks.get(branchId);
    if (head !== undefined || fork === undefined) return head;
    return this.expectedHead(fork.parentId, pathId, Math.min(seqMax, fork.at));
  }

  private compareHeads(): void {
    let count = 0;
    for (const { key, value } of this.reader.store.tables.heads.getRange({})) {
      count++;
      const [branchId, pathId] = [key.readUInt32BE(0), key.readUInt32BE(4)];
      const expected = this.heads.get(`${branchId}/${pathId}`);
      const { place } = decodeHead(value);
      if (expected?.seq !== place.seq || expected.index !== place.index) {
        this.add('index-wrong', place.seq, `the head of path ${pathId} on branch ${branchId} is not the log's newest`);
      }
    }
    if (count !== this.heads.size) this.add('index-wrong', 0, `${this.heads.size - count} heads are missing`);
  }

  private compareRecords(): void {
    let count = 0;
    for (const { key, value } of this.reader.store.tables.records.getRange({})) {
      count++;
      const place = decodePlace(value);
      if (this.records.get(key.toString('utf8'))?.seq !== place.seq) {
        this.add('index-wrong', place.seq, `record ${key.toString('utf8')} does not stand at the log's newest`);
      }
    }
    if (count !== this.records.size) this.add('index-wrong', 0, `${this.records.size - count} records are missing`);
  }
}
