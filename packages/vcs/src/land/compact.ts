import type { CompactReport } from '../core/compact-report.ts';
import { seqKey } from '../format/keys.ts';
import { encodeSegment } from '../format/segment.ts';
import type { Lander } from './lander.ts';
import type { LogReader } from '../log/log-reader.ts';

/** The newest entries stay as they are: other processes catch up on them, and stale intents are based on them. */
const keptCount = 16 * 1024;
/** Entries that one transaction moves at most: it bounds how long others wait. */
const sliceCount = 256;

interface NewSegment {
  readonly firstSeq: number;
  readonly bytes: Buffer;
  /** As they stood when the segment was made. */
  readonly rows: readonly Buffer[];
}

/**
 * Moves older entries of the log into deflated segments, while writers run: a
 * slice is read and deflated outside, and one transaction puts it in the place
 * of its rows, if these are still what was read. Whoever is killed in between
 * leaves the log whole; the next run goes on where the last one ended.
 */
export class Compaction {
  private readonly reader: LogReader;
  private readonly lander: Lander;

  constructor(reader: LogReader, lander: Lander) {
    this.reader = reader;
    this.lander = lander;
  }

  /** `signal` ends it after the slice that is being moved. */
  async run(keep = keptCount, signal?: AbortSignal): Promise<CompactReport> {
    let report: CompactReport = { entries: 0, segments: 0, bytesBefore: 0, bytesAfter: 0 };
    while (signal?.aborted !== true) {
      const made = this.makeSlice(keep);
      if (made.length === 0) return report;
      // Another process has compacted the same slice, or an entry was rewritten: it is read again.
      if (!(await this.put(made))) continue;
      const sizeOf = (rows: readonly Buffer[]): number => rows.reduce((sum, row) => sum + row.length, 0);
      report = {
        entries: report.entries + made.reduce((sum, { rows }) => sum + rows.length, 0),
        segments: report.segments + made.length,
        bytesBefore: report.bytesBefore + made.reduce((sum, { rows }) => sum + sizeOf(rows), 0),
        bytesAfter: report.bytesAfter + made.reduce((sum, { bytes }) => sum + bytes.length, 0),
      };
    }
    return report;
  }

  private makeSlice(keep: number): NewSegment[] {
    this.reader.refresh();
    const { compactedSeq, lastSeq } = this.reader.store.counters;
    const through = Math.min(lastSeq - keep, compactedSeq + sliceCount);
    const rows: Buffer[] = [];
    const range = { start: seqKey(compactedSeq + 1), end: seqKey(Math.max(compactedSeq, through) + 1) };
    for (const { value } of this.reader.store.tables.log.getRange(range)) rows.push(Buffer.from(value));
    const made: NewSegment[] = [];
    let guess = 16;
    for (let at = 0; at < rows.length;) {
      const { bytes, count } = encodeSegment(rows.slice(at), guess);
      made.push({ firstSeq: compactedSeq + 1 + at, bytes, rows: rows.slice(at, at + count) });
      guess = count;
      at += count;
    }
    return made;
  }

  private async put(made: readonly NewSegment[]): Promise<boolean> {
    const { store } = this.reader;
    return this.lander.act((_writer, counters) => {
      if (made[0]?.firstSeq !== counters.compactedSeq + 1) return false;
      const isAsRead = made.every(({ firstSeq, rows }) =>
        rows.every((row, at) => store.tables.log.getBinary(seqKey(firstSeq + at))?.equals(row) === true),
      );
      if (!isAsRead) return false;
      for (const { firstSeq, bytes, rows } of made) {
        store.put('segments', seqKey(firstSeq), bytes);
        store.steps.reach('segment-written');
        for (const at of rows.keys()) store.tables.log.removeSync(seqKey(firstSeq + at));
        counters.compactedSeq = firstSeq + rows.length - 1;
      }
      return true;
    });
  }
}
