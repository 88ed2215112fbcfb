import { MoundError } from '../core/errors.ts';
import { parkedIdOf, type RepoPath, type Seq } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Outcome } from '../core/outcome.ts';
import { isPathFault, parsePath } from '../core/path.ts';
import type { Clock } from '../core/ports.ts';
import { encodeFlag } from '../format/contention.ts';
import type { ParkedEntry } from '../format/entry.ts';
import { decodeFreeze } from '../format/freeze.ts';
import { headKey, seqKey, seqOfKey } from '../format/keys.ts';
import type { BatchWriter } from '../land/batch-writer.ts';
import type { Mark } from '../land/path-marks.ts';
import type { Lander } from '../land/lander.ts';
import { noExtras } from '../land/prepared.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Store } from '../store/store.ts';
import { keptOf } from '../land/kept.ts';
import type { ActOptions, FlagOptions, FreezeBounds, FreezeOptions, FreezeView, Unparked } from './api.ts';

/** Longer delays are cut off by timers. */
const timerMsMax = 2 ** 31 - 1;

/** Marks on paths, and the parked intents that wait for a thaw. */
export class Freezes {
  private readonly store: Store;
  private readonly reader: LogReader;
  private readonly lander: Lander;
  private readonly clock: Clock;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(reader: LogReader, lander: Lander, clock: Clock) {
    this.store = reader.store;
    this.reader = reader;
    this.lander = lander;
    this.clock = clock;
  }

  async flag(path: string, options: FlagOptions): Promise<Seq> {
    return this.mark(path, options, (writer, mark) => {
      const seq = writer.append({ kind: 'flag', ...mark, signal: undefined });
      const key = headKey(mark.branchId, writer.pathId(mark.path));
      this.store.put('flags', key, encodeFlag({ seq, time: mark.time }));
      if (options.freeze !== undefined) writer.marks.freeze({ ...mark, ...this.bounds(options.freeze) });
      return seq;
    });
  }

  async freeze(path: string, options: FreezeOptions): Promise<Seq> {
    const bounds = this.bounds(options);
    const seq = await this.mark(path, options, (writer, mark) => writer.marks.freeze({ ...mark, ...bounds }));
    this.watch();
    return seq;
  }

  /** A freeze that somebody owns ends by itself: its owner may die. */
  private bounds({ owner, ms }: FreezeBounds): { owner: string | undefined; until: number } {
    const isTime = ms === undefined || (Number.isFinite(ms) && ms > 0);
    if (!isTime) throw new MoundError('invalid-argument', `a freeze of ${ms} ms cannot be`, { ms });
    const lasts = ms ?? (owner === undefined ? undefined : limits.ownedFreezeMs);
    return { owner, until: lasts === undefined ? 0 : Math.ceil(this.clock.now() + lasts) };
  }

  private mark<T>(path: string, options: ActOptions, write: (writer: BatchWriter, mark: Mark) => T): Promise<T> {
    const repoPath = mustParsePath(path);
    const time = this.clock.now();
    return this.lander.act((writer) => {
      const branchId = this.reader.branchNamed(options.branch ?? 'main').id;
      const authorId = writer.authorId(options.author);
      return write(writer, { time, branchId, authorId, path: repoPath, reason: options.reason });
    });
  }

  async thaw(path: string, options: ActOptions): Promise<{ readonly seq: Seq; readonly parked: readonly Unparked[] }> {
    const seq = await this.mark(path, options, (writer, mark) => writer.marks.thaw(mark));
    this.store.steps.reach('thaw-marked');
    return { seq, parked: await this.unparkAll() };
  }

  /** Ends what freezes are over, then decides again what they kept; see `Repo.unpark`. */
  async retry(): Promise<Unparked[]> {
    // Any batch ends the freezes whose time is over.
    await this.lander.act(() => undefined);
    return this.unparkAll();
  }

  /** Decides again what waits for no freeze any more, oldest first. */
  async unparkAll(): Promise<Unparked[]> {
    const parked: Unparked[] = [];
    // All that are open: another freeze may have ended since without anyone to decide its intents again.
    for (const parkedSeq of this.openParked()) {
      // One that fails must not hold up those behind it; it waits for the next thaw.
      const outcome = await this.unpark(parkedSeq).catch(() => undefined);
      if (outcome) parked.push({ id: parkedIdOf(parkedSeq), outcome });
    }
    return parked;
  }

  /** The freezes that hold now. */
  list(): FreezeView[] {
    this.reader.refresh();
    const views: FreezeView[] = [];
    if (this.store.counters.freezes === 0) return views;
    for (const { key, value } of this.store.tables.freezes.getRange({})) {
      const { seq, owner, until } = decodeFreeze(value);
      const entry = this.reader.mustGetEntry(seq);
      const branch = this.reader.branch(key.readUInt32BE(0)).name;
      const path = this.reader.pathOf(key.readUInt32BE(4));
      const reason = entry.kind === 'freeze' ? entry.reason : '';
      views.push({ path, branch, seq: seq as Seq, reason, owner, until: until === 0 ? undefined : until });
    }
    return views;
  }

  /** Waits for the end of the freeze that is over first: nobody else may come by. */
  readonly watch = (): void => {
    if (this.isClosed) return;
    clearTimeout(this.timer);
    const ends = this.list().flatMap(({ until }) => until ?? []);
    if (ends.length === 0) return;
    const ms = Math.min(Math.max(1, Math.min(...ends) - this.clock.now()), timerMsMax);
    this.timer = setTimeout(() => {
      void this.retry()
        .catch(() => undefined)
        .then(this.watch);
    }, ms);
    this.timer.unref();
  };

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  /** Seqs of the parked entries that still wait, oldest first. */
  private openParked(): number[] {
    this.reader.refresh();
    const open: number[] = [];
    if (this.store.counters.parkedOpen === 0) return open;
    for (const { key, value } of this.store.tables.parked.getRange({})) {
      if (value.readUIntBE(0, 6) === 0) open.push(seqOfKey(key));
    }
    return open;
  }

  /** Whether a path of a parked intent is frozen still: it waits on, whatever else came to pass. */
  private waitsOn({ branchId, paths }: ParkedEntry): boolean {
    const { freezes } = this.store.tables;
    return paths.some((path) => {
      const pathId = this.reader.getPathId(path as RepoPath);
      return pathId !== undefined && freezes.getBinary(headKey(branchId, pathId)) !== undefined;
    });
  }

  /** Decides a parked intent again; undefined where it waits on, or someone else decided it meanwhile. */
  private async unpark(seq: number): Promise<Outcome | undefined> {
    const entry = this.reader.mustGetEntry(seq);
    if (entry.kind !== 'parked' || this.waitsOn(entry)) return undefined;
    const outcome = await this.lander.land(keptOf(this.reader, entry), { ...noExtras, unparks: seq });
    this.store.steps.reach('unparked');
    if (outcome.kind === 'parked') return undefined;
    if (outcome.kind !== 'rejected') return outcome;
    // Not an answer to the intent itself: it waits for the next thaw.
    if (outcome.code === 'no-such-conflict' || outcome.code === 'overloaded') return undefined;
    const time = this.clock.now();
    const { branchId, authorId } = entry;
    const { code, message } = outcome;
    return this.lander.act((writer) => {
      if (this.store.tables.parked.getBinary(seqKey(seq))?.readUIntBE(0, 6) !== 0) return undefined;
      const ending = { kind: 'unparked', time, branchId, authorId, parked: seq, outcome: 'rejected' } as const;
      writer.rows.close('parked', seq, writer.append({ ...ending, code, message }));
      return outcome;
    });
  }

  /** Goes on where a process died between a thaw and what it was to set free, or where a freeze ended without anyone. */
  async unparkThawed(): Promise<void> {
    if (this.store.isReadOnly) return;
    const isOver = this.list().some(({ until }) => until !== undefined && until <= this.clock.now());
    // One that cannot be decided now must keep nobody from opening the repository.
    await (isOver ? this.retry() : this.unparkAll()).catch(() => undefined);
    this.watch();
  }
}

export function mustParsePath(path: string): RepoPath {
  const parsed = parsePath(path);
  if (isPathFault(parsed)) throw new MoundError('invalid-argument', `path '${path}' ${parsed.reason}`, { path });
  return parsed;
}
