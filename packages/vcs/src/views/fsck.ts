import { isMoundError, MoundError } from '../core/errors.ts';
import type { BlobId, CommitId, RepoPath } from '../core/ids.ts';
import { citedSymbolsOf } from '../decisions/index.ts';
import type { ChangeRow, ConflictEntry, LandingEntry, LogEntry, ParkedEntry, Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import { seqKey, seqOfKey } from '../format/keys.ts';
import { getUnchanged } from '../land/first-outcome.ts';
import { keptOf } from '../land/kept.ts';
import type { LogReader } from '../log/log-reader.ts';
import { getObject, hasObject, headOfObject, stagedObjects } from '../log/staged.ts';
import { segmentCountMax } from '../format/segment.ts';
import { blobsOfOverlay, decodeOverlay, decodeWorkspace, idOfOverlayKey, overlayKey } from '../format/workspace.ts';
import { linkAfter } from '../log/places.ts';
import { commitIdFrom } from './author-witness.ts';
import { compareIndexes } from './compare-indexes.ts';
import { Damage } from './damage.ts';
import { rebuildIndexes, type CitingBlobs } from './rebuild-indexes.ts';
import type { FsckFinding, FsckReport } from './types.ts';

/** Findings listed; more are the same damage again. */
const findingsMax = 1000;

interface DraftFinding extends FsckFinding {
  /** Damaged object or entry whose dependents are to be named. */
  readonly at?: Place;
}

/**
 * Checks LMDB's pages, reads the whole log once, checks every object, chain and
 * commit id, and compares every index with what the log says it should be.
 */
export class Fsck {
  private readonly reader: LogReader;
  private readonly errors: DraftFinding[] = [];
  private readonly heads = new Map<string, Place>();
  private readonly records = new Map<string, Place>();
  private readonly commits = new Map<number, CommitId>();
  private readonly forks = new Map<number, { parentId: number; at: number }>();
  private readonly damage = new Damage();
  /** Staged objects that records name. */
  private readonly named = new Set<BlobId>();
  private readonly citing: CitingBlobs = new Map();
  private objects = 0;
  private parts = 0;
  private entries = 0;

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  run(): FsckReport {
    for (const { page, table, message } of this.reader.store.checkPages().faults) {
      this.add('page-damaged', 0, `page ${page} of ${table} is damaged: ${message}`, { table });
    }
    // Reading through a damaged tree may end the process: what is wrong is known already.
    if (this.errors.length === 0) this.contents();
    const errors = this.errors.slice(0, findingsMax).map(({ at, ...finding }): FsckFinding => {
      const neededBy = at && this.damage.neededBy(at);
      return neededBy && neededBy.count > 0
        ? { ...finding, neededBy: { count: neededBy.count, commits: neededBy.commits } }
        : finding;
    });
    const errorCount = this.errors.length;
    return { ok: errorCount === 0, entries: this.entries, objects: this.objects, errors, errorCount };
  }

  private contents(): void {
    this.reader.store.refresh();
    // Caches hold what was written, not what is on disk.
    this.reader.forget();
    const lastSeq = this.lastSeq();
    this.entries = lastSeq;
    for (let seq = 1; seq <= lastSeq; seq++) this.entryAt(seq);
    for (const key of this.reader.store.tables.log.getKeys({ start: seqKey(lastSeq + 1), limit: 1 })) {
      this.add('index-wrong', seqOfKey(key), `the log goes on after its last seq, ${lastSeq}`);
    }
    const parts = this.reader.store.tables.parts.getKeysCount();
    if (parts !== this.parts) {
      this.add('corrupt-store', 0, `there are ${parts} parts of long bodies; the log names ${this.parts}`, {
        table: 'parts',
      });
    }
    this.staged();
    this.unchanged();
    this.workspaces();
    // What they must hold follows from the log: from a damaged one nothing does.
    if (!this.damage.isInLog) this.indexes();
    if (this.damage.isAny) this.damage.count(this.reader);
  }

  /** Newest seq by the counters, or by the log itself where they are damaged. */
  private lastSeq(): number {
    const { store } = this.reader;
    const [newest] = store.tables.log.getKeys({ reverse: true, limit: 1 });
    const [segment] = store.tables.segments.getKeys({ reverse: true, limit: 1 });
    const found = newest ? seqOfKey(newest) : segment ? seqOfKey(segment) + segmentCountMax : 0;
    try {
      const { lastSeq } = store.counters;
      // A count that is far too high would be a very long walk through nothing.
      return Math.min(lastSeq, found + 1);
    } catch (error) {
      this.add('index-wrong', 0, messageOf(error), { table: 'meta' });
      return found;
    }
  }

  private add(code: string, seq: number, message: string, more: Partial<DraftFinding> = {}): void {
    this.errors.push({ code, message, seq, ...more });
  }

  /** Damage makes one finding and the walk goes on. */
  private attempt(seq: number, path: string | undefined, check: () => void): void {
    try {
      check();
    } catch (error) {
      const code = error instanceof MoundError ? error.code : 'corrupt-store';
      this.add(code, seq, messageOf(error), path === undefined ? {} : { path });
    }
  }

  private entryAt(seq: number): void {
    let entry: LogEntry;
    try {
      entry = this.reader.mustGetEntry(seq);
    } catch (error) {
      this.damage.addEntry(seq);
      this.add('corrupt-store', seq, messageOf(error), { at: { seq, index: 0 } });
      return;
    }
    this.attempt(seq, undefined, () => this.entry(entry));
  }

  private entry(entry: LogEntry): void {
    this.reader.author(entry.authorId);
    this.reader.branch(entry.branchId);
    switch (entry.kind) {
      case 'landing':
        return this.landing(entry);
      case 'conflict':
      case 'parked':
        this.parts += entry.keptParts;
        this.kept(entry);
        return;
      case 'fork':
        this.forks.set(entry.branchId, { parentId: entry.parentId, at: entry.at });
        return;
      default:
        return;
    }
  }

  /** Each content is made once, so that one that stands on damaged bytes is found. */
  private kept(entry: ConflictEntry | ParkedEntry): void {
    for (const edit of keptOf(this.reader, entry).edits) {
      this.attempt(entry.seq, edit.path, () => void (edit.kind === 'put' && edit.content));
    }
  }

  private landing(entry: LandingEntry): void {
    const { seq, branchId } = entry;
    this.parts += new Set(entry.changes.flatMap(({ body }) => body.shelf?.index ?? [])).size;
    for (const [index, row] of entry.changes.entries()) {
      this.parts += row.body.parts;
      this.attempt(seq, undefined, () => {
        const path = this.reader.pathOf(row.pathId);
        this.attempt(seq, path, () => this.change(branchId, { seq, index }, row, path));
      });
    }
    for (const [index, row] of entry.records.entries()) {
      const before = this.records.get(row.key);
      if ((before?.seq ?? 0) !== row.previous.seq) this.add('chain-broken', seq, `record ${row.key} skips a version`);
      this.records.set(row.key, { seq, index });
      for (const blob of row.objects) this.named.add(blob);
    }
    if (entry.commit === undefined) return;
    this.commits.set(seq, entry.commit);
    const parents = entry.parents.map((parent) => this.commits.get(parent));
    if (parents.includes(undefined)) return this.add('parent-missing', seq, `commit ${entry.commit} lacks a parent`);
    if (commitIdFrom(this.reader, entry, this.reader.author(entry.authorId)) !== entry.commit) {
      this.add('object-damaged', seq, `commit ${entry.commit} does not match its id`);
    }
  }

  private change(branchId: number, place: Place, row: ChangeRow, path: RepoPath): void {
    const before = this.expectedHead(branchId, row.pathId);
    this.heads.set(`${branchId}/${row.pathId}`, place);
    if ((before?.seq ?? 0) !== row.previous.seq) {
      const message = `${path} names version ${row.previous.seq} before it, not ${before?.seq ?? 0}`;
      this.add('chain-broken', place.seq, message, { path });
    }
    if (row.blob !== undefined) this.object(place, row, path);
    const link = linkAfter(row.previous, this.reader.linkOfChange);
    if (link.depth !== row.depth || link.jump.seq !== row.jump.seq || link.jump.index !== row.jump.index) {
      this.add('chain-broken', place.seq, `${path} does not link to its older versions as it must`, { path });
    }
    const { form, base } = row.body;
    const chain = base.seq === 0 ? 0 : this.reader.version(base).chain + (form === 'same' ? 0 : 1);
    if (row.body.base.seq >= place.seq || row.body.chain < chain) {
      this.add('chain-broken', place.seq, `${path} names no earlier version as its delta's base`, { path });
    }
  }

  private object(place: Place, row: ChangeRow, path: RepoPath): void {
    if (row.body.form === 'purged') {
      const isTold = row.blob !== undefined && this.reader.store.tables.purges.getBinary(Buffer.from(row.blob, 'hex'));
      if (!isTold)
        this.add('object-missing', place.seq, `blob ${row.blob} of ${path} is gone, and no purge tells of it`, {
          path,
        });
      return;
    }
    this.objects++;
    // One finding for what is damaged; what stands on it is counted with it.
    if (this.damage.isBeneath(row.body.base)) return this.damage.addBeneath(place);
    const { blob } = row;
    if (blob === undefined) return;
    let fault: string | undefined;
    try {
      const content = this.reader.decode(place);
      const isWhole = blobIdOf(content) === blob;
      const cites = isWhole ? citedSymbolsOf(content) : undefined;
      if (cites !== undefined) this.citing.set(blob, cites);
      if (isWhole) this.reader.remember(this.reader.version(place), content);
      else fault = 'its bytes are not those of its id';
    } catch (error) {
      if (!isMoundError(error)) throw error;
      fault = error.message;
    }
    if (fault === undefined) return;
    this.damage.addObject(place);
    this.add('object-damaged', place.seq, `blob ${blob} of ${path} (seq ${place.seq}) is damaged: ${fault}`, {
      path,
      blob,
      at: place,
    });
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

  private staged(): void {
    const { store } = this.reader;
    for (const { blob, rows } of stagedObjects(store)) {
      this.objects++;
      try {
        const head = headOfObject(store, blob);
        if (getObject(store, blob) === undefined || head?.rows !== rows) throw new Error('its rows are not all there');
      } catch (error) {
        this.add('object-damaged', 0, `staged object ${blob}: ${messageOf(error)}`, { blob, table: 'objects' });
      }
    }
    for (const blob of this.named) {
      if (!hasObject(store, blob))
        this.add('object-missing', 0, `a record names object ${blob}, which is gone`, { blob });
    }
  }

  private unchanged(): void {
    for (const key of this.reader.store.tables.unchanged.getKeys({})) {
      this.attempt(0, undefined, () => getUnchanged(this.reader, key.toString('utf8')));
    }
  }

  /** Rows of workspaces are no index: what they say stands nowhere else. */
  private workspaces(): void {
    const { store } = this.reader;
    const ids = new Set<string>();
    for (const { key, value } of store.tables.workspaces.getRange({})) {
      const name = key.toString('utf8');
      this.attemptRow('workspaces', `workspace ${name}`, () => {
        const { id, branchId } = decodeWorkspace(Buffer.from(key), Buffer.from(value));
        ids.add(id);
        this.reader.branch(branchId);
      });
    }
    for (const { key, value } of store.tables.overlays.getRange({})) {
      const id = idOfOverlayKey(key);
      this.attemptRow('overlays', `a row of workspace ${id}`, () => {
        const row = decodeOverlay(Buffer.from(value));
        if (!overlayKey(id, row.path).equals(key)) throw new Error(`its key is not that of ${row.path}`);
        if (!ids.has(id)) throw new Error('there is no such workspace');
        for (const blob of blobsOfOverlay(row)) {
          const isThere =
            hasObject(store, blob) || store.tables.purges.getBinary(Buffer.from(blob, 'hex')) !== undefined;
          if (!isThere)
            throw new MoundError('no-such-object', `the edit of ${row.path} names object ${blob}, which is gone`);
        }
      });
    }
  }

  private attemptRow(table: 'workspaces' | 'overlays', what: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      const code = error instanceof MoundError ? error.code : 'corrupt-store';
      this.add(code, 0, `${what}: ${messageOf(error)}`, { table });
    }
  }

  private indexes(): void {
    this.attempt(0, undefined, () => {
      for (const { table, key, fault, found, expected } of compareIndexes(
        this.reader,
        rebuildIndexes(this.reader, this.citing),
      )) {
        const what = { missing: 'lacks a row', extra: 'has a row too many', different: 'has a wrong row' }[fault];
        const shown = `${expected === undefined ? '' : `; expected ${expected}`}${found === undefined ? '' : `; found ${found}`}`;
        this.add('index-wrong', 0, `${table} ${what} at ${key}${shown}; 'mound fsck --repair' rebuilds it`, { table });
      }
    });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
