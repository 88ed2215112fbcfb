import { MoundError } from '../core/errors.ts';
import { seqKey, seqOfKey } from '../format/keys.ts';
import { decodeSegment } from '../format/segment.ts';
import { BoundedCache } from '../core/bounded-cache.ts';
import type { Store } from '../store/store.ts';

/** Inflated segments that are kept. */
const cachedMax = 256;

/** Reads entries that stand together in segments, by the first seq of each. */
export class Segments {
  private readonly store: Store;
  private readonly cached = new BoundedCache<number, readonly Buffer[]>(cachedMax, () => 1);

  constructor(store: Store) {
    this.store = store;
  }

  /** Errors: `corrupt-store` where the segment is damaged. */
  entryBytes(seq: number): Buffer | undefined {
    const range = { start: seqKey(seq), end: seqKey(0), reverse: true, limit: 1 };
    for (const { key, value } of this.store.tables.segments.getRange(range)) {
      const firstSeq = seqOfKey(key);
      const entries = this.cached.get(firstSeq) ?? this.read(firstSeq, value);
      const entry = entries[seq - firstSeq];
      // A copy: what is read of it would keep the whole segment in memory.
      return entry && Buffer.from(entry);
    }
    return undefined;
  }

  private read(firstSeq: number, bytes: Buffer): readonly Buffer[] {
    try {
      const entries = decodeSegment(bytes);
      this.cached.set(firstSeq, entries);
      return entries;
    } catch (cause) {
      const message = `the segment of log entries from ${firstSeq} on cannot be decoded; run 'mound fsck'`;
      throw new MoundError('corrupt-store', message, { seq: firstSeq }, cause);
    }
  }

  forget(): void {
    this.cached.clear();
  }
}
