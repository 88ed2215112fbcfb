import { totalmem } from 'node:os';
import { copyOf } from '../core/allocate.ts';
import { MoundError, invariant } from '../core/errors.ts';
import type { BlobId, CommitId, RepoPath } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import { bytesOfPath, pathOfBytes } from '../core/path.ts';
import { decodeAuthor, encodeAuthor } from '../format/author.ts';
import { decodeBranch, type BranchRow } from '../format/branch.ts';
import { decodeEntry, decodeMarks, type EntryMarks } from '../format/entry-codec.ts';
import {
  nowhere,
  type ChangeRow,
  type LandingEntry,
  type Link,
  type LogEntry,
  type Place,
  type RecordRow,
} from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import { decodeHead, decodePlace, type Head } from '../format/head.ts';
import { authorKey, headKey, idKey, partKey, pathKey, seqKey, shelfKey } from '../format/keys.ts';
import { unsealed } from '../format/seal.ts';
import { BoundedCache } from '../core/bounded-cache.ts';
import { corrupt } from '../store/faults.ts';
import type { Store } from '../store/store.ts';
import { decodeBody } from './body.ts';
import { Contents } from './contents.ts';
import { Heads } from './heads.ts';
import { Holders } from './holders.ts';
import { LastingContents } from './lasting-contents.ts';
import { placeAsOf } from './places.ts';
import { Segments } from './segments.ts';
import { versionOf, type Version } from './version.ts';

const noBytes = Buffer.alloc(0);
/** Where nothing else is asked for, and at most an eighth of the machine's memory. */
const contentCacheBytesMax = 640 * 1024 * 1024;
const entryCacheMax = 8 * 1024;
/** Bytes of bodies and raw commits in them: an entry may hold a whole tree of files. */
const entryCacheBytesMax = 64 * 1024 * 1024;
const versionCacheMax = 128 * 1024;

/** Changes of one entry whose versions are cached; those beyond are read from the log each time. */
const cachedChangesMax = 4096;
const versionKey = (place: Place): number => place.seq * cachedChangesMax + place.index;

/** Memory of one decoded change, about. */
const changeBytes = 256;

/** Never less than its share of the count. */
function entrySizeOf(entry: LogEntry): number {
  let bytes = 0;
  if (entry.kind === 'landing') {
    bytes += entry.gitRaw?.length ?? 0;
    for (const { body } of entry.changes) bytes += body.bytes.length + changeBytes;
  }
  return Math.max(bytes, entryCacheBytesMax / entryCacheMax);
}

/** Reads the log and its indexes; no state but caches of what never changes. */
export class LogReader {
  readonly store: Store;
  /** For as long as it takes all indexes to take them in. */
  private readonly entryMarks = new BoundedCache<number, EntryMarks>(entryCacheMax, () => 1);
  private readonly entries = new BoundedCache<number, LogEntry>(entryCacheBytesMax, entrySizeOf);
  private readonly versions = new BoundedCache<number, Version>(versionCacheMax, () => 1);
  private readonly holders = new Holders();
  private readonly contents: Contents;
  private readonly lasting = new LastingContents();
  private readonly commitIds = new BoundedCache<number, CommitId>(1024, () => 1);
  private readonly branchIds = new Map<string, number>();
  private readonly forks = new Map<number, Pick<BranchRow, 'parentId' | 'forkSeq'>>();
  private readonly pathIds = new Map<RepoPath, number>();
  private readonly pathNames = new Map<number, RepoPath>();
  private readonly authors = new Map<number, Author>();
  private readonly authorIds = new Map<string, number>();
  /** Ids by object: an admitted author is not written to any more. */
  private knownAuthors = new WeakMap<Author, number>();

  /** The newest versions of paths, for landing. */
  readonly heads: Heads;
  private readonly segments: Segments;
  private seenRewrites = 0;

  constructor(store: Store, contentsBytesMax = contentCacheBytesMax) {
    this.store = store;
    this.contents = new Contents(Math.min(contentsBytesMax, totalmem() / 8));
    this.heads = new Heads(this);
    this.segments = new Segments(store);
  }

  /** Lets later reads see what other processes have committed; gives the newest seq. */
  refresh(): number {
    this.store.refresh();
    const { lastSeq, rewrites } = this.store.counters;
    this.noticeRewrites(rewrites);
    this.heads.catchUp(lastSeq);
    return lastSeq;
  }

  /** A purge rewrites entries: what is remembered of them must not be used any more. */
  noticeRewrites(count: number): void {
    if (count !== this.seenRewrites) this.forget();
    this.seenRewrites = count;
  }

  /** After a transaction that was rolled back: what was read in it may never have been. */
  forget(): void {
    this.entries.clear();
    this.entryMarks.clear();
    this.versions.clear();
    this.holders.clear();
    this.contents.clear();
    this.lasting.clear();
    this.heads.forget();
    this.segments.forget();
    this.commitIds.clear();
    this.branchIds.clear();
    this.forks.clear();
    this.pathIds.clear();
    this.pathNames.clear();
    this.authors.clear();
    this.authorIds.clear();
    this.knownAuthors = new WeakMap();
  }

  /** Takes in a version that has just been flushed. */
  remember(version: Version, content: Buffer | undefined): void {
    if (version.blob !== undefined) this.holders.set(version.blob, version.place);
    if (content !== undefined) this.contents.hold(version, content);
  }

  rememberCommit(seq: number, commit: CommitId): void {
    this.commitIds.set(seq, commit);
  }

  /** A version that holds this content already, if it came up of late. */
  holderOf(blob: BlobId): Version | undefined {
    const place = this.holders.get(blob);
    const version = place && this.version(place);
    return version?.blob === blob ? version : undefined;
  }

  /** A version without its bytes. */
  readonly version = (place: Place): Version => {
    const known = this.knownVersion(place);
    if (known !== undefined) return known;
    const version = versionOf(place, this.change(place));
    if (place.index < cachedChangesMax) this.versions.set(versionKey(place), version);
    return version;
  };

  private knownVersion(place: Place): Version | undefined {
    return place.index < cachedChangesMax ? this.versions.get(versionKey(place)) : undefined;
  }

  commitAt(seq: number): CommitId | undefined {
    return this.commitIds.get(seq) ?? this.landing(seq).commit;
  }

  getEntry(seq: number): LogEntry | undefined {
    const cached = this.entries.get(seq);
    if (cached !== undefined) return cached;
    this.store.mustBeOpen();
    const bytes = this.entryBytes(seq);
    if (bytes === undefined) return undefined;
    const entry = decodeEntry(seq, bytes);
    this.entries.set(seq, entry);
    return entry;
  }

  /** An entry as it stands in the store, past every cache: a purge may have rewritten it in this very transaction. */
  freshEntry(seq: number): LogEntry {
    this.segments.forget();
    const bytes = this.entryBytes(seq);
    if (bytes === undefined) throw corrupt(this.store.dir, `log entry ${seq} is missing`);
    return decodeEntry(seq, Buffer.from(bytes));
  }

  /** An entry's own row, or its place in a segment. */
  private entryBytes(seq: number): Buffer | undefined {
    return this.store.tables.log.getBinary(seqKey(seq)) ?? this.segments.entryBytes(seq);
  }

  mustGetBytes(seq: number): Buffer {
    const bytes = this.entryBytes(seq);
    if (bytes === undefined) throw corrupt(this.store.dir, `log entry ${seq} is missing`);
    return bytes;
  }

  /** What indexes and heads need of an entry that another process wrote. */
  marks(seq: number): EntryMarks {
    const known = this.entryMarks.get(seq);
    if (known !== undefined) return known;
    const marks = decodeMarks(seq, this.mustGetBytes(seq));
    this.entryMarks.set(seq, marks);
    return marks;
  }

  mustGetEntry(seq: number): LogEntry {
    const entry = this.getEntry(seq);
    if (entry === undefined) throw corrupt(this.store.dir, `log entry ${seq} is missing`);
    return entry;
  }

  landing(seq: number): LandingEntry {
    const entry = this.mustGetEntry(seq);
    if (entry.kind !== 'landing') throw corrupt(this.store.dir, `log entry ${seq} is no landing`);
    return entry;
  }

  change(place: Place): ChangeRow {
    const row = this.landing(place.seq).changes[place.index];
    if (row === undefined) throw corrupt(this.store.dir, `log entry ${place.seq} has no change ${place.index}`);
    return row;
  }

  record(place: Place): RecordRow {
    const row = this.landing(place.seq).records[place.index];
    if (row === undefined) throw corrupt(this.store.dir, `log entry ${place.seq} has no record ${place.index}`);
    return row;
  }

  readonly linkOfChange = (place: Place): Link => this.version(place);
  readonly linkOfRecord = (place: Place): Link => this.record(place);

  /** A copy of the verified bytes of one version. Errors: `object-damaged`. */
  content(place: Place): Buffer {
    return place.seq === 0 ? noBytes : copyOf(this.viewOf(this.version(place)));
  }

  /** The same as a view, neither to be written to nor to be kept: what is read or landed next may overwrite it. */
  viewOf(version: Version): Buffer {
    const known = this.contents.view(version);
    if (known !== undefined) return known;
    const { blob, place } = version;
    if (blob === undefined) return noBytes;
    const content = this.decode(place, version.near);
    version.near = undefined;
    if (blobIdOf(content) !== blob) {
      throw new MoundError(
        'object-damaged',
        `blob ${blob} (log entry ${place.seq}) is damaged on disk; run 'mound fsck'`,
        { blob, seq: place.seq },
      );
    }
    this.contents.hold(version, content);
    return content;
  }

  /** {@link content} as one buffer for all who ask for it of late; nobody may write to it. */
  lastingContent(place: Place): Buffer {
    const version = this.version(place);
    const { blob } = version;
    if (blob === undefined) return noBytes;
    return this.lasting.get(blob) ?? this.lasting.keepCopy(blob, this.viewOf(version));
  }

  /** A content that nobody writes to any more, and that may soon be asked for. */
  keepLasting(blob: BlobId, content: Buffer): void {
    this.lasting.keep(blob, content);
  }

  /** A version is no head any more: its content is not long of use. */
  superseded(version: Version): void {
    this.contents.pass(version);
  }

  /** The bytes of one version from its stored bodies alone, neither cached nor verified. */
  decode(place: Place, near?: Version): Buffer {
    const chain: { row: ChangeRow; place: Place }[] = [];
    let content: Buffer = noBytes;
    for (let at = place; at.seq !== 0; at = this.change(at).body.base) {
      const known = at === place ? undefined : this.heldAt(at, near);
      if (known !== undefined) {
        content = known;
        break;
      }
      const row = this.change(at);
      if (row.body.form === 'purged') throw purged(row.blob, at.seq);
      chain.push({ row, place: at });
      invariant(chain.length < 10_000, 'a delta chain ends');
    }
    for (const { row, place: at } of chain.toReversed())
      content = decodeBody(row.body, this.storedBytes(row, at), content);
    return content;
  }

  private heldAt(place: Place, near: Version | undefined): Buffer | undefined {
    const version = near?.isAt(place) ? near : this.knownVersion(place);
    return version && this.contents.view(version);
  }

  private storedBytes(row: ChangeRow, place: Place): Buffer {
    const { bytes, parts, shelf } = row.body;
    if (shelf !== undefined) {
      const { index, offset, length } = shelf;
      return this.part(place.seq, shelfKey(place.seq, index)).subarray(offset, offset + length);
    }
    return parts > 0 ? this.parts(place, parts) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  private part(seq: number, key: Buffer): Buffer {
    const bytes = this.store.tables.parts.getBinary(key);
    if (bytes === undefined) throw corrupt(this.store.dir, `a part of log entry ${seq} is missing`);
    return unsealed(bytes);
  }

  parts(place: Place, count: number): Buffer {
    const parts: Buffer[] = [];
    for (let part = 0; part < count; part++) {
      parts.push(this.part(place.seq, partKey(place.seq, place.index, part)));
    }
    return Buffer.concat(parts);
  }

  getPathId(path: RepoPath): number | undefined {
    const cached = this.pathIds.get(path);
    if (cached !== undefined) return cached;
    const bytes = this.store.tables.paths.getBinary(pathKey(bytesOfPath(path)));
    if (bytes === undefined) return undefined;
    const id = bytes.readUInt32BE(0);
    this.rememberPath(id, path);
    return id;
  }

  pathOf(pathId: number): RepoPath {
    const cached = this.pathNames.get(pathId);
    if (cached !== undefined) return cached;
    const bytes = this.store.tables.pathNames.getBinary(idKey(pathId));
    if (bytes === undefined) throw corrupt(this.store.dir, `path ${pathId} has no name`);
    const path = pathOfBytes(bytes);
    this.rememberPath(pathId, path);
    return path;
  }

  private rememberPath(pathId: number, path: RepoPath): void {
    this.pathIds.set(path, pathId);
    this.pathNames.set(pathId, path);
  }

  author(authorId: number): Author {
    const cached = this.authors.get(authorId);
    if (cached !== undefined) return cached;
    const bytes = this.store.tables.authors.getBinary(idKey(authorId));
    if (bytes === undefined) throw corrupt(this.store.dir, `author ${authorId} is missing`);
    const author = decodeAuthor(bytes);
    this.authors.set(authorId, author);
    return author;
  }

  /** Its key in memory is its fields; on disk its packed bytes or their digest. */
  getAuthorId(author: Author): number | undefined {
    const known = this.knownAuthors.get(author);
    if (known !== undefined) return known;
    const id = this.findAuthorId(author);
    if (id !== undefined) this.knownAuthors.set(author, id);
    return id;
  }

  private findAuthorId(author: Author): number | undefined {
    const { name, kind, email, agent, role, model } = author;
    const key = JSON.stringify([name, kind, email, agent, role, model]);
    const cached = this.authorIds.get(key);
    if (cached !== undefined) return cached;
    const id = this.store.tables.authorIds.getBinary(authorKey(encodeAuthor(author)))?.readUInt32BE(0);
    if (id !== undefined) this.authorIds.set(key, id);
    return id;
  }

  getBranchId(name: string): number | undefined {
    const cached = this.branchIds.get(name);
    if (cached !== undefined) return cached;
    const id = this.store.tables.branchNames.getBinary(Buffer.from(name))?.readUInt32BE(0);
    if (id !== undefined) this.branchIds.set(name, id);
    return id;
  }

  branch(branchId: number): BranchRow {
    const bytes = this.store.tables.branches.getBinary(idKey(branchId));
    if (bytes === undefined) throw corrupt(this.store.dir, `branch ${branchId} is missing`);
    return decodeBranch(branchId, bytes);
  }

  /** Errors: `no-such-branch`. */
  branchNamed(name: string): BranchRow {
    const id = this.getBranchId(name);
    if (id === undefined) {
      throw new MoundError('no-such-branch', `there is no branch '${name}'; 'mound branch' lists them`, {
        branch: name,
      });
    }
    return this.branch(id);
  }

  /** The newest version of a path on a branch, own or inherited up to the fork; undefined if it never was. */
  head(branchId: number, pathId: number): Head | undefined {
    let upTo = Number.MAX_SAFE_INTEGER;
    for (let id = branchId; id >= 0;) {
      const own = this.ownHead(id, pathId);
      if (own !== undefined) return this.headAsOf(own, upTo);
      const fork = this.forkOf(id);
      upTo = Math.min(upTo, fork.forkSeq);
      id = fork.parentId;
    }
    return undefined;
  }

  /** The newest version of a path that landed on this very branch. */
  ownHead(branchId: number, pathId: number): Head | undefined {
    const bytes = this.store.tables.heads.getBinary(headKey(branchId, pathId));
    return bytes && decodeHead(bytes);
  }

  /** Where a branch was forked, which never changes; of `main` from nowhere (-1). */
  forkOf(branchId: number): Pick<BranchRow, 'parentId' | 'forkSeq'> {
    const known = this.forks.get(branchId);
    if (known !== undefined) return known;
    if (branchId === 0) return { parentId: -1, forkSeq: 0 };
    const { parentId, forkSeq } = this.branch(branchId);
    const fork = { parentId, forkSeq };
    this.forks.set(branchId, fork);
    return fork;
  }

  /** The newest version at or before a seq in the chain that ends at `head`; undefined if there is none. */
  versionAsOf(head: Version, seq: number): Version | undefined {
    if (head.place.seq <= seq) return head;
    const place = placeAsOf(head.place, seq, this.version);
    return place.seq === 0 ? undefined : this.version(place);
  }

  headAsOf(head: Head, seq: number): Head | undefined {
    if (head.place.seq <= seq) return head;
    const place = placeAsOf(head.place, seq, this.linkOfChange);
    return place.seq === 0 ? undefined : { place, mode: this.version(place).mode };
  }

  recordHead(key: string): Place {
    const bytes = this.store.tables.records.getBinary(Buffer.from(key));
    return bytes === undefined ? nowhere : decodePlace(bytes);
  }
}

const purged = (blob: BlobId | undefined, seq: number): MoundError =>
  new MoundError('purged', `blob ${blob} (log entry ${seq}) was purged; 'mound events' tells when and why`, {
    blob: blob ?? null,
    seq,
  });
