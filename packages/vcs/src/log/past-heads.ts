import { decodeMarks } from '../format/entry-codec.ts';
import type { Place } from '../format/entry.ts';
import type { LogReader } from './log-reader.ts';
import type { Version } from './version.ts';

/** Reading one entry of the log costs so much less than walking back along the versions of one path. */
const entriesPerWalk = 30;

/**
 * Every path's version as of a past seq, for a listing. Walking back from each
 * head reads the log here and there, some steps a path; reading on from the seq
 * reads each later entry once: what a path changes first after the seq names
 * the version that stood there. It goes on from where it ended the last time.
 */
export class PastHeads {
  private readonly reader: LogReader;
  private readonly branchId: number;
  private readonly seq: number;
  /** By path, of those that changed since; undefined: it was not there. */
  private readonly before = new Map<number, Version | undefined>();
  private through: number;

  constructor(reader: LogReader, branchId: number, seq: number) {
    this.reader = reader;
    this.branchId = branchId;
    this.seq = seq;
    this.through = seq;
  }

  /** Reads what was appended; false where it is too much to be worth it for so many paths. */
  readOn(lastSeq: number, pathCount: number): boolean {
    if (lastSeq - this.through > pathCount * entriesPerWalk) return false;
    const found: [pathId: number, previous: Place][] = [];
    const tell = (pathId: number, previous: Place): void => void found.push([pathId, previous]);
    const places = new Map<number, Place>();
    for (let seq = this.through + 1; seq <= lastSeq; seq++) {
      const marks = decodeMarks(seq, this.reader.mustGetBytes(seq), tell);
      if (marks.kind === 'landing' && marks.branchId === this.branchId) {
        for (const [pathId, previous] of found) {
          if (!places.has(pathId) && !this.before.has(pathId)) places.set(pathId, previous);
        }
      }
      found.length = 0;
    }
    this.through = Math.max(this.through, lastSeq);
    // In the order of the log: what stands together is read once.
    for (const [pathId, place] of [...places].toSorted(([, a], [, b]) => a.seq - b.seq)) {
      this.before.set(pathId, place.seq === 0 ? undefined : this.reader.version(place));
    }
    return true;
  }

  /** Call `readOn` first. */
  get(pathId: number): Version | undefined {
    const version = this.before.has(pathId) ? this.before.get(pathId) : this.reader.heads.get(this.branchId, pathId);
    // On a fork the version before may be the parent's, and later than a seq before the fork.
    return version && this.reader.versionAsOf(version, this.seq);
  }
}
