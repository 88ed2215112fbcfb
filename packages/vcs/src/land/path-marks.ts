import type { RepoPath, Seq } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import { decodeFreeze, encodeFreeze, type Freeze } from '../format/freeze.ts';
import { decodeHold, encodeHold, type Hold } from '../format/hold.ts';
import { headKey } from '../format/keys.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Counters } from '../store/counters.ts';
import type { BatchWriter } from './batch-writer.ts';

/** Who acts where nobody does. */
const systemAuthor: Author = { name: 'mound', kind: 'system' };

/** What is said of a path. */
export interface Mark {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly branchId: number;
  readonly authorId: number;
  readonly path: RepoPath;
  readonly reason: string;
}

/** What keeps intents off a path, inside a transaction: freezes, and holds for one intent's merge. */
export class PathMarks {
  private readonly reader: LogReader;
  private readonly counters: Counters;
  private readonly writer: Pick<BatchWriter, 'append' | 'pathId' | 'authorId'>;

  constructor(reader: LogReader, counters: Counters, writer: Pick<BatchWriter, 'append' | 'pathId' | 'authorId'>) {
    this.reader = reader;
    this.counters = counters;
    this.writer = writer;
  }

  private freezeAt(branchId: number, pathId: number): Freeze | undefined {
    if (this.counters.freezes === 0) return undefined;
    const bytes = this.reader.store.tables.freezes.getBinary(headKey(branchId, pathId));
    return bytes && decodeFreeze(bytes);
  }

  isFrozen(branchId: number, pathId: number): boolean {
    return this.freezeAt(branchId, pathId) !== undefined;
  }

  freeze(mark: Mark & { readonly owner: string | undefined; readonly until: number }): Seq {
    const seq = this.writer.append({ kind: 'freeze', ...mark });
    const pathId = this.writer.pathId(mark.path);
    if (this.freezeAt(mark.branchId, pathId) === undefined) this.counters.freezes++;
    const { owner, until } = mark;
    this.reader.store.put('freezes', headKey(mark.branchId, pathId), encodeFreeze({ seq, owner, until }));
    return seq;
  }

  thaw(mark: Mark): Seq {
    const seq = this.writer.append({ kind: 'thaw', ...mark });
    const pathId = this.writer.pathId(mark.path);
    if (this.freezeAt(mark.branchId, pathId) === undefined) return seq;
    this.reader.store.tables.freezes.removeSync(headKey(mark.branchId, pathId));
    this.counters.freezes--;
    return seq;
  }

  /** Ends the freezes whose time is over; whether there were any. */
  expire(now: number): boolean {
    if (this.counters.freezes === 0) return false;
    const over: { readonly branchId: number; readonly pathId: number }[] = [];
    for (const { key, value } of this.reader.store.tables.freezes.getRange({})) {
      const { until } = decodeFreeze(value);
      if (until > 0 && until <= now) over.push({ branchId: key.readUInt32BE(0), pathId: key.readUInt32BE(4) });
    }
    for (const { branchId, pathId } of over) {
      const authorId = this.writer.authorId(systemAuthor);
      this.thaw({ time: now, branchId, authorId, path: this.reader.pathOf(pathId), reason: 'expired' });
      this.reader.store.steps.reach('freeze-expired');
    }
    return over.length > 0;
  }

  /** Keeps paths for one intent while its merge runs; others on them are asked again later. */
  hold(branchId: number, paths: readonly RepoPath[], hold: Hold): void {
    const { holds } = this.reader.store.tables;
    for (const path of paths) {
      const key = headKey(branchId, this.writer.pathId(path));
      if (holds.getBinary(key) === undefined) this.counters.holds++;
      this.reader.store.put('holds', key, encodeHold(hold));
    }
    this.reader.store.steps.reach('paths-held');
  }

  /** Ends the holds under a token, and those whose time is over. */
  release(token: string | undefined, now: number): void {
    if (this.counters.holds === 0) return;
    const { holds } = this.reader.store.tables;
    const ended: Buffer[] = [];
    for (const { key, value } of holds.getRange({})) {
      const hold = decodeHold(value);
      if (hold.token === token || hold.until <= now) ended.push(key);
    }
    for (const key of ended) holds.removeSync(key);
    this.counters.holds -= ended.length;
  }
}
