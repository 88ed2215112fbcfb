import { corrupt } from '../store/faults.ts';
import type { EntryMarks } from '../format/entry-codec.ts';
import type { Place } from '../format/entry.ts';
import { decodePlace } from '../format/head.ts';
import { headKey, pathIdOfHead } from '../format/keys.ts';
import type { LogReader } from './log-reader.ts';
import type { Version } from './version.ts';

/** Paths of a branch in one generation at most. */
const youngMax = 128 * 1024;
/** Paths of watched branches together, at most. */
const watchedMax = 1024 * 1024;
/** A process that is further behind than this starts anew instead of reading what it missed. */
const lagMax = 32 * 1024;

/**
 * A branch that was added while its heads were looked at. All that landed on it is known, so that a walk up forks of
 * forks, of which a history with many side lines has hundreds, need not ask the tree at each of them.
 */
interface WatchedBranch {
  readonly paths: Set<number>;
  readonly parentId: number;
  readonly forkSeq: number;
  readonly parent: WatchedBranch | undefined;
}

/** The newest version of one path on one branch. */
export class HeadCell {
  readonly branchId: number;
  readonly pathId: number;
  /** Of the transaction that is running: not flushed yet. */
  staged: Version | undefined = undefined;
  /** Once false it is not kept up any more: whoever holds it must ask anew. */
  isCurrent = true;
  private readonly reader: LogReader;
  private newest: Version | undefined;
  /** What another process has landed since; read when it is asked for. */
  private landed: Place | undefined = undefined;

  constructor(reader: LogReader, branchId: number, pathId: number, newest: Version | undefined) {
    this.reader = reader;
    this.branchId = branchId;
    this.pathId = pathId;
    this.newest = newest;
    if (newest !== undefined) newest.headOf++;
  }

  /** undefined: it never was there. */
  get version(): Version | undefined {
    if (this.landed !== undefined) {
      const version = this.reader.version(this.landed);
      version.headOf++;
      this.moveOn(version);
    }
    return this.newest;
  }

  /** `place` is the newest version by now. */
  supersedeBy(place: Place): void {
    const newest = this.landed ?? this.newest?.place;
    if ((newest?.seq ?? 0) < place.seq) this.landed = place;
  }

  /** `version` is the newest, as far as the running transaction goes. */
  stage(version: Version): void {
    const before = this.staged;
    version.headOf++;
    this.staged = version;
    if (before !== undefined) this.letGo(before);
  }

  settle(): void {
    if (this.staged === undefined) return;
    this.moveOn(this.staged);
    this.staged = undefined;
  }

  private moveOn(version: Version): void {
    const before = this.newest;
    this.landed = undefined;
    this.newest = version;
    if (before === undefined) return;
    if (!version.isHeld) version.near = before.isHeld ? before : before.near;
    before.near = undefined;
    this.letGo(before);
  }

  private letGo(version: Version): void {
    version.headOf--;
    if (version.headOf === 0) this.reader.superseded(version);
  }

  /** It is not kept up any more. */
  drop(): void {
    this.isCurrent = false;
    if (this.newest !== undefined) this.letGo(this.newest);
  }
}

/**
 * The newest versions of paths, kept in memory as of the newest entry that this
 * process has taken in, so that landing asks neither the tree nor the log.
 * Inside a transaction `catchUp` comes first, then they are the truth; outside
 * they may be behind other processes, which an optimistic reader survives.
 */
export class Heads {
  private readonly reader: LogReader;
  private young = new Map<number, HeadCell>();
  private old = new Map<number, HeadCell>();
  private staged: HeadCell[] = [];
  private watched = new Map<number, WatchedBranch>();
  private watchedCount = 0;
  private readonly readAheadOf = new Set<number>();
  /** Every cell is as of this seq or later; -1: there are none. */
  private seenSeq = -1;

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  private keyOf(branchId: number, pathId: number): number {
    return branchId * 0x1_0000_0000 + pathId;
  }

  private known(key: number): HeadCell | undefined {
    const young = this.young.get(key);
    if (young !== undefined) return young;
    const old = this.old.get(key);
    if (old !== undefined) this.keep(key, old);
    return old;
  }

  private keep(key: number, cell: HeadCell): void {
    this.young.set(key, cell);
    if (this.young.size < youngMax) return;
    const { old, young } = this;
    this.old = young;
    this.young = new Map();
    for (const [oldKey, dropped] of old) if (!young.has(oldKey)) dropped.drop();
  }

  cell(branchId: number, pathId: number): HeadCell {
    const key = this.keyOf(branchId, pathId);
    const known = this.known(key);
    if (known !== undefined) return known;
    if (this.seenSeq < 0) this.seenSeq = this.reader.store.counters.lastSeq;
    const cell = new HeadCell(this.reader, branchId, pathId, this.find(branchId, pathId));
    this.keep(key, cell);
    return cell;
  }

  /**
   * From the index, up to the nearest ancestor of which the head is known: forks of forks may be many. Cells may be
   * behind another process that has forked since; nothing would tell the fork's cell later of what it missed so.
   */
  private find(branchId: number, pathId: number): Version | undefined {
    let upTo = Number.MAX_SAFE_INTEGER;
    let watched = this.watched.get(branchId);
    for (let id = branchId; id >= 0;) {
      const cell = upTo <= this.seenSeq ? this.young.get(this.keyOf(id, pathId)) : undefined;
      const version = cell ? (cell.staged ?? cell.version) : this.own(id, pathId);
      if (version !== undefined) return this.reader.versionAsOf(version, upTo);
      // What is known includes what was inherited.
      if (cell !== undefined) return undefined;
      const fork = this.reader.forkOf(id);
      upTo = Math.min(upTo, fork.forkSeq);
      id = fork.parentId;
      // All that had landed on the parent was known when a watched branch was added.
      watched = watched?.parent ?? (upTo <= this.seenSeq ? this.watched.get(id) : undefined);
      for (; watched?.paths.has(pathId) === false; watched = watched.parent) {
        upTo = Math.min(upTo, watched.forkSeq);
        id = watched.parentId;
      }
    }
    return undefined;
  }

  private own(branchId: number, pathId: number): Version | undefined {
    const head = this.reader.ownHead(branchId, pathId);
    // A damaged index must not pass another file's bytes for this one's.
    if (head !== undefined && this.reader.change(head.place).pathId !== pathId) {
      throw corrupt(
        this.reader.store.dir,
        `the head of path ${pathId} leads to another path; try 'mound fsck --repair'`,
      );
    }
    return head && this.reader.version(head.place);
  }

  /**
   * Reads the versions of all paths of a branch, once, for whoever is about to ask for each: in the order of the log,
   * so that entries that stand together are read once.
   */
  readAhead(branchId: number): void {
    if (this.readAheadOf.has(branchId)) return;
    this.readAheadOf.add(branchId);
    const { heads } = this.reader.store.tables;
    const unknown: { readonly pathId: number; readonly seq: number }[] = [];
    for (const { key, value } of heads.getRange({ start: headKey(branchId, 0), end: headKey(branchId + 1, 0) })) {
      const pathId = pathIdOfHead(key);
      if (this.known(this.keyOf(branchId, pathId)) === undefined) unknown.push({ pathId, seq: decodePlace(value).seq });
      if (unknown.length === youngMax) break;
    }
    for (const { pathId } of unknown.toSorted((a, b) => a.seq - b.seq)) this.cell(branchId, pathId);
  }

  get(branchId: number, pathId: number): Version | undefined {
    const cell = this.cell(branchId, pathId);
    return cell.staged ?? cell.version;
  }

  /** Inside the transaction that adds a branch, before anything lands on it. */
  added(branchId: number, { parentId, forkSeq }: Pick<WatchedBranch, 'parentId' | 'forkSeq'>): void {
    if (this.seenSeq < 0) this.seenSeq = this.reader.store.counters.lastSeq;
    this.watched.set(branchId, { paths: new Set(), parentId, forkSeq, parent: this.watched.get(parentId) });
  }

  private landedOn(branchId: number, pathId: number): void {
    const paths = this.watched.get(branchId)?.paths;
    if (paths === undefined || paths.has(pathId)) return;
    paths.add(pathId);
    if (++this.watchedCount > watchedMax) this.unwatch();
  }

  private unwatch(): void {
    this.watched = new Map();
    this.watchedCount = 0;
  }

  /** Inside a transaction: what later decisions of the same transaction see. */
  stage(cell: HeadCell, version: Version): void {
    if (cell.staged === undefined) this.staged.push(cell);
    cell.stage(version);
    this.landedOn(cell.branchId, cell.pathId);
  }

  /** The transaction is flushed up to this seq. */
  settle(lastSeq: number): void {
    for (const cell of this.staged) cell.settle();
    this.staged = [];
    if (this.seenSeq >= 0) this.seenSeq = lastSeq;
  }

  /** Whether the heads are as of a seq at least; takes in what is there to make it so. */
  hasSeen(seq: number): boolean {
    if (seq <= this.seenSeq) return true;
    const { lastSeq } = this.reader.store.counters;
    this.catchUp(lastSeq);
    if (this.seenSeq < 0) this.seenSeq = lastSeq;
    return seq <= lastSeq;
  }

  /** Takes in what other processes have landed, up to `lastSeq`. */
  catchUp(lastSeq: number): void {
    if (this.seenSeq < 0 || lastSeq <= this.seenSeq) return;
    if (lastSeq - this.seenSeq > lagMax) return this.forget();
    for (let seq = this.seenSeq + 1; seq <= lastSeq; seq++) this.take(this.reader.marks(seq));
    this.seenSeq = lastSeq;
  }

  private take(entry: EntryMarks): void {
    if (entry.kind !== 'landing') return;
    for (const [index, pathId] of entry.pathIds.entries()) {
      this.landedOn(entry.branchId, pathId);
      this.known(this.keyOf(entry.branchId, pathId))?.supersedeBy({ seq: entry.seq, index });
    }
  }

  /** After a transaction that was rolled back. */
  forget(): void {
    for (const cells of [this.old, this.young]) for (const cell of cells.values()) cell.isCurrent = false;
    this.young = new Map();
    this.old = new Map();
    this.staged = [];
    this.unwatch();
    this.readAheadOf.clear();
    this.seenSeq = -1;
  }
}
