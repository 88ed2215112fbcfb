import type { BlobId } from '../core/ids.ts';
import type { LogEntry } from '../format/entry.ts';
import type { LogReader } from '../log/log-reader.ts';
import { blobsOfOverlays } from '../log/overlays.ts';
import { isYoung, removeObject, stagedObjects } from '../log/staged.ts';
import { keptOf } from './kept.ts';
import type { Lander } from './lander.ts';

/** Objects and bytes that one transaction removes at most. */
const batchCountMax = 256;
const batchBytesMax = 16 * 1024 * 1024;
/** Entries read in one go before other work gets its turn. */
const sliceCount = 512;

export type KeptReason = 'young' | 'record' | 'conflict' | 'parked' | 'workspace' | 'damaged';

export interface Collected {
  readonly objects: number;
  readonly bytes: number;
  readonly kept: Readonly<Record<KeptReason, number>>;
}

/** What the log names: which staged objects, and why. Grows as the log does. */
class Names {
  private readonly reader: LogReader;
  private readonly reasons = new Map<BlobId, KeptReason>();
  private seenSeq = 0;

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  reasonOf(blob: BlobId): KeptReason | undefined {
    return this.reasons.get(blob);
  }

  /** Takes in at most `count` further entries; whether there are more. */
  catchUp(lastSeq: number, count = Number.MAX_SAFE_INTEGER): boolean {
    const end = Math.min(lastSeq, this.seenSeq + count);
    while (this.seenSeq < end) this.take(this.reader.mustGetEntry(++this.seenSeq));
    return this.seenSeq < lastSeq;
  }

  private take(entry: LogEntry): void {
    if (entry.kind === 'landing') {
      for (const { objects } of entry.records) for (const blob of objects) this.reasons.set(blob, 'record');
    } else if (entry.kind === 'conflict' || entry.kind === 'parked') {
      for (const { objects } of keptOf(this.reader, entry).records) {
        for (const blob of objects) if (!this.reasons.has(blob)) this.reasons.set(blob, entry.kind);
      }
    }
  }
}

export interface CollectOptions {
  readonly isDryRun: boolean;
  /** Objects staged at or after this are kept. */
  readonly youngFrom: number;
}

/**
 * Removes staged objects that nothing names. What the log and workspaces name is read outside
 * of any transaction; each transaction takes in what was appended since, so that
 * a record that lands meanwhile either finds its object or is refused. A process
 * that dies between two of them has removed whole objects only.
 */
export async function collect(reader: LogReader, lander: Lander, options: CollectOptions): Promise<Collected> {
  const { store } = reader;
  const names = new Names(reader);
  const kept: Record<KeptReason, number> = { young: 0, record: 0, conflict: 0, parked: 0, workspace: 0, damaged: 0 };
  let objects = 0;
  let bytes = 0;
  reader.refresh();
  const old: { blob: BlobId; bytes: number }[] = [];
  for (const found of stagedObjects(store)) {
    if (found.head === undefined) kept.damaged++;
    else if (found.head.time >= options.youngFrom) kept.young++;
    else old.push(found);
  }
  if (old.length === 0) return { objects, bytes, kept };
  while (names.catchUp(reader.refresh(), sliceCount)) await new Promise((resolve) => setImmediate(resolve));
  // A row that comes later renews the time of its objects in its own transaction: they are young then.
  const edited = blobsOfOverlays(store);
  const going = old.filter(({ blob }) => {
    const reason = names.reasonOf(blob) ?? (edited.has(blob) ? 'workspace' : undefined);
    if (reason !== undefined) kept[reason]++;
    return reason === undefined;
  });
  if (options.isDryRun) {
    return { objects: going.length, bytes: going.reduce((sum, found) => sum + found.bytes, 0), kept };
  }
  while (going.length > 0) {
    const batch: BlobId[] = [];
    for (let size = 0; going.length > 0 && batch.length < batchCountMax && size < batchBytesMax;) {
      const next = going.pop();
      if (next === undefined) break;
      batch.push(next.blob);
      size += next.bytes;
    }
    while (names.catchUp(reader.refresh(), sliceCount)) await new Promise((resolve) => setImmediate(resolve));
    await lander.act((_writer, { lastSeq }) => {
      names.catchUp(lastSeq);
      for (const blob of batch) {
        const reason = names.reasonOf(blob) ?? (isYoung(store, blob, options.youngFrom) ? 'young' : undefined);
        if (reason !== undefined) kept[reason]++;
        else {
          bytes += removeObject(store, blob);
          objects++;
        }
      }
    });
  }
  return { objects, bytes, kept };
}
