import { invariant, MoundError } from '../core/errors.ts';
import type { FileVersion, RepoPath, Seq } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import { bytesOfPath, isPathFault, parsePath } from '../core/path.ts';
import type { BranchRow } from '../format/branch.ts';
import { decodePlace } from '../format/head.ts';
import type { Place, RecordRow } from '../format/entry.ts';
import { Lineage } from '../land/lineage.ts';
import type { LogReader } from '../log/log-reader.ts';
import { PastHeads } from '../log/past-heads.ts';
import { placeAsOf } from '../log/places.ts';
import type { Version } from '../log/version.ts';
import type { FileHead, RecordHead, RedirectView, Snapshot, Whereabouts } from './api.ts';
import { redirectsOf, whereaboutsOf } from './redirects.ts';

export class LogSnapshot implements Snapshot {
  readonly branch: string;
  readonly seq: Seq;
  readonly durableSeq: Seq;
  private readonly reader: LogReader;
  private readonly branchId: number;
  private past: PastHeads | undefined;

  constructor(reader: LogReader, branch: BranchRow, seq: number, durableSeq: number) {
    this.reader = reader;
    this.branch = branch.name;
    this.branchId = branch.id;
    this.seq = seq as Seq;
    this.durableSeq = durableSeq as Seq;
  }

  private rawHead(path: string): { path: RepoPath; head: Version } | undefined {
    const repoPath = repoPathOf(path);
    const pathId = this.reader.getPathId(repoPath);
    const head = pathId === undefined ? undefined : this.asOf(pathId);
    return head && { path: repoPath, head };
  }

  head(path: string): FileHead | undefined {
    this.reader.store.mustBeOpen();
    const found = this.rawHead(path);
    return found && this.fileHead(found.path, found.head);
  }

  redirects(path: string): RedirectView[] {
    this.reader.store.mustBeOpen();
    return redirectsOf(this.reader, this.lineage, repoPathOf(path), this.seq);
  }

  whereabouts(path: string, asOf = this.seq as number): Whereabouts | undefined {
    this.reader.store.mustBeOpen();
    const repoPath = repoPathOf(path);
    const head = this.versionOf(repoPath);
    return head && whereaboutsOf(this.reader, this.lineage, repoPath, this.reader.versionAsOf(head, asOf));
  }

  private get lineage(): Lineage {
    return new Lineage(this.reader, this.branchId, (path) => this.versionOf(path));
  }

  /** The newest version of a path as of this snapshot, a tombstone too. */
  private versionOf(path: RepoPath): Version | undefined {
    const pathId = this.reader.getPathId(path);
    const newest = pathId === undefined ? undefined : this.reader.heads.get(this.branchId, pathId);
    return newest && this.reader.versionAsOf(newest, this.seq);
  }

  /** The live version of a path as of this snapshot. */
  private asOf(pathId: number): Version | undefined {
    const newest = this.reader.heads.get(this.branchId, pathId);
    const version = newest && this.reader.versionAsOf(newest, this.seq);
    return version?.target === undefined ? undefined : version;
  }

  private fileHead(path: RepoPath, { place, target, size }: Version): FileHead {
    invariant(target !== undefined, 'a live head has a blob');
    return { path, version: place.seq as FileVersion, blob: target.blob, mode: target.mode, size };
  }

  read(path: string): Buffer | undefined {
    this.reader.store.mustBeOpen();
    const found = this.rawHead(path);
    return found && this.reader.content(found.head.place);
  }

  readText(path: string): string | undefined {
    return this.read(path)?.toString('utf8');
  }

  list(prefix = ''): FileHead[] {
    this.reader.store.mustBeOpen();
    const heads: FileHead[] = [];
    const directory = prefix.replace(/\/+$/, '');
    if (Buffer.byteLength(directory) > limits.pathBytesMax) return heads;
    const start =
      directory === '' ? Buffer.of(1) : Buffer.concat([bytesOfPath(directory as RepoPath), Buffer.from('/')]);
    const end =
      directory === '' ? Buffer.of(255, 255) : Buffer.concat([bytesOfPath(directory as RepoPath), Buffer.from('0')]);
    const past = directory === '' ? this.pastHeads() : undefined;
    if (directory === '' && past === undefined) this.reader.heads.readAhead(this.branchId);
    for (const { value } of this.reader.store.tables.paths.getRange({ start, end })) {
      const pathId = value.readUInt32BE(0);
      const version = past ? past.get(pathId) : this.asOf(pathId);
      if (version?.target === undefined) continue;
      heads.push(this.fileHead(this.reader.pathOf(pathId), version));
    }
    return heads;
  }

  /** Where all files are listed as of a past seq, and the log since then is quicker read than each file's chain. */
  private pastHeads(): PastHeads | undefined {
    const lastSeq = this.reader.refresh();
    if (lastSeq === this.seq) return undefined;
    this.past ??= new PastHeads(this.reader, this.branchId, this.seq);
    return this.past.readOn(lastSeq, this.reader.store.counters.nextPathId) ? this.past : undefined;
  }

  record(key: string): RecordHead | undefined {
    this.reader.store.mustBeOpen();
    const place = placeAsOf(this.reader.recordHead(key), this.seq, this.reader.linkOfRecord);
    return recordHead(place, place.seq === 0 ? undefined : this.reader.record(place));
  }

  records(keyPrefix = ''): RecordHead[] {
    this.reader.store.mustBeOpen();
    const start = keyPrefix === '' ? Buffer.of(0) : Buffer.from(keyPrefix);
    const records: RecordHead[] = [];
    for (const { key, value } of this.reader.store.tables.records.getRange({ start })) {
      const name = key.toString('utf8');
      if (!name.startsWith(keyPrefix)) break;
      const place = placeAsOf(decodePlace(value), this.seq, this.reader.linkOfRecord);
      const head = recordHead(place, place.seq === 0 ? undefined : this.reader.record(place));
      if (head) records.push(head);
    }
    return records;
  }
}

/** Imported names that no new change may use can be read all the same. */
function repoPathOf(path: string): RepoPath {
  const parsed = path.startsWith('//hex:') ? (path as RepoPath) : parsePath(path);
  return isPathFault(parsed) ? (path as RepoPath) : parsed;
}

function recordHead({ seq }: Place, row: RecordRow | undefined): RecordHead | undefined {
  if (row === undefined || row.value === null) return undefined;
  return { key: row.key, version: seq as Seq, value: Buffer.from(row.value), objects: row.objects };
}

/** Errors: `no-such-seq`. */
export function checkSeq(seq: number, lastSeq: number): void {
  if (Number.isSafeInteger(seq) && seq >= 0 && seq <= lastSeq) return;
  throw new MoundError('no-such-seq', `there is no seq ${seq}; the newest is ${lastSeq}`, { seq, lastSeq });
}
