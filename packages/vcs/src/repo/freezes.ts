import { MoundError } from '../core/errors.ts';
import { parkedIdOf, type ParkedId, type RepoPath, type Seq } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import { isPathFault, parsePath } from '../core/path.ts';
import type { Clock } from '../core/ports.ts';
import { encodeFlag } from '../format/contention.ts';
import type { ParkedEntry } from '../format/entry.ts';
import { headKey, seqKey, seqOfKey } from '../format/keys.ts';
import type { Lander } from '../land/lander.ts';
import { noExtras } from '../land/prepared.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Store } from '../store/store.ts';
import { keptOf } from '../views/conflicts.ts';
import type { ActOptions } from './api.ts';

/** Marks on paths, and the parked intents that wait for a thaw. */
export class Freezes {
  private readonly store: Store;
  private readonly reader: LogReader;
  private readonly lander: Lander;
  private readonly clock: Clock;

  constructor(reader: LogReader, lander: Lander, clock: Clock) {
    this.store = reader.store;
    this.reader = reader;
    this.lander = lander;
    this.clock = clock;
  }

  async mark(kind: 'flag' | 'freeze' | 'thaw', path: string, options: ActOptions): Promise<Seq> {
    const repoPath = mustParsePath(path);
    const time = this.clock.now();
    return this.lander.act((writer, counters) => {
      const branchId = this.reader.branchNamed(options.branch ?? 'main').id;
      const authorId = writer.authorId(options.author);
      const entry = { time, branchId, authorId, path: repoPath, reason: options.reason };
      const key = headKey(branchId, writer.pathId(repoPath));
      if (kind === 'flag') {
        const flagged = writer.append({ ...entry, kind, signal: undefined });
        this.store.put('flags', key, encodeFlag({ seq: flagged, time }));
        return flagged;
      }
      const seq = writer.append({ ...entry, kind });
      const isFrozen = this.store.tables.freezes.getBinary(key) !== undefined;
      if (kind === 'freeze') {
        this.store.put('freezes', key, seqKey(seq));
        if (!isFrozen) counters.freezes++;
      }
      if (kind === 'thaw' && isFrozen) {
        this.store.tables.freezes.removeSync(key);
        counters.freezes--;
      }
      return seq;
    });
  }

  async thaw(
    path: string,
    options: ActOptions,
  ): Promise<{ readonly seq: Seq; readonly parked: { readonly id: ParkedId; readonly outcome: Outcome }[] }> {
    const seq = await this.mark('thaw', path, options);
    this.store.steps.reach('thaw-marked');
    const parked: { id: ParkedId; outcome: Outcome }[] = [];
    // All that are open: another freeze may have ended since without anyone to decide its intents again.
    for (const parkedSeq of this.openParked()) {
      // One that fails must not hold up those behind it; it waits for the next thaw.
      const outcome = await this.unpark(parkedSeq).catch(() => undefined);
      if (outcome) parked.push({ id: parkedIdOf(parkedSeq), outcome });
    }
    return { seq, parked };
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
      writer.close('parked', seq, writer.append({ ...ending, code, message }));
      return outcome;
    });
  }

  /** Goes on where a process died between a thaw and what it was to set free. */
  async unparkThawed(): Promise<void> {
    if (this.store.isReadOnly) return;
    // One that cannot be decided now must keep nobody from opening the repository.
    for (const seq of this.openParked()) await this.unpark(seq).catch(() => undefined);
  }
}

function mustParsePath(path: string): RepoPath {
  const parsed = parsePath(path);
  if (isPathFault(parsed)) throw new MoundError('invalid-argument', `path '${path}' ${parsed.reason}`, { path });
  return parsed;
}
