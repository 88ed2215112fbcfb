import { encodeEntry } from '../format/entry-codec.ts';
import type { Body, LandingEntry, LogEntry, Place } from '../format/entry.ts';
import { partKey, seqKey, seqOfKey, shelfKey } from '../format/keys.ts';
import { sealed, unsealed } from '../format/seal.ts';
import { decodeSegment, encodeSegment } from '../format/segment.ts';
import type { Counters } from '../store/counters.ts';
import type { Store } from '../store/store.ts';

const inlineBytesMax = 8 * 1024;
const partBytesMax = 1024 * 1024;

/** Inside a transaction: puts an entry in the place of the one with its seq, in its own row or in its segment. */
export function rewriteEntry(store: Store, counters: Counters, entry: LogEntry): void {
  const bytes = encodeEntry(entry);
  if (entry.seq > counters.compactedSeq) return store.put('log', seqKey(entry.seq), bytes);
  const [segment] = store.tables.segments.getRange({
    start: seqKey(entry.seq),
    end: seqKey(0),
    reverse: true,
    limit: 1,
  });
  if (segment === undefined) return;
  const firstSeq = seqOfKey(segment.key);
  const entries: Uint8Array[] = decodeSegment(Buffer.from(segment.value)).map((found) => Buffer.from(found));
  entries[entry.seq - firstSeq] = bytes;
  store.remove('segments', seqKey(firstSeq));
  for (let at = 0; at < entries.length;) {
    const made = encodeSegment(entries.slice(at), entries.length - at);
    store.put('segments', seqKey(firstSeq + at), made.bytes);
    at += made.count;
  }
}

/** Inside a transaction: removes the stored bytes of one body of a landing; of a shelf, its range is overwritten. */
export function removeBody(store: Store, { seq, changes }: LandingEntry, index: number): void {
  const body = changes[index]?.body;
  if (body === undefined) return;
  removeParts(store, { seq, index }, body.parts);
  const { shelf } = body;
  if (shelf === undefined) return;
  const key = shelfKey(seq, shelf.index);
  const isShared = changes.some((row, at) => at !== index && row.body.shelf?.index === shelf.index);
  if (!isShared) return store.remove('parts', key);
  const part = store.tables.parts.getBinary(key);
  if (part === undefined) return;
  const bytes = Buffer.from(unsealed(part));
  bytes.fill(0, shelf.offset, shelf.offset + shelf.length);
  store.put('parts', key, sealed(bytes));
}

/** Inside a transaction: removes the parts of a body or a kept intent. */
export function removeParts(store: Store, { seq, index }: Place, count: number): void {
  for (let part = 0; part < count; part++) store.remove('parts', partKey(seq, index, part));
}

/** Inside a transaction: stores bytes in parts where they are long; gives the number of parts. */
export function putParts(store: Store, { seq, index }: Place, bytes: Uint8Array): number {
  if (bytes.length <= inlineBytesMax) return 0;
  let part = 0;
  for (let at = 0; at < bytes.length; at += partBytesMax) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(partBytesMax, bytes.length - at));
    store.put('parts', partKey(seq, index, part++), sealed(chunk));
  }
  return part;
}

export function storedBody(store: Store, place: Place, body: Body): Body {
  const parts = putParts(store, place, body.bytes);
  return parts === 0 ? body : { ...body, bytes: Buffer.alloc(0), parts };
}
