import { MoundError } from '../core/errors.ts';
import type { BlobId } from '../core/ids.ts';
import { blobIdOf } from '../format/hash.ts';
import {
  blobOfObjectKey,
  decodeObject,
  decodeStagedHead,
  objectKey,
  restaged,
  rowOfObjectKey,
  type StagedHead,
} from '../format/object.ts';
import type { Store } from '../store/store.ts';

export const hasObject = (store: Store, blob: BlobId): boolean =>
  store.tables.objects.getBinary(objectKey(blob, 0)) !== undefined;

/** Verified bytes of a staged object; undefined where it is not there. Errors: `object-damaged`. */
export function getObject(store: Store, blob: BlobId): Buffer | undefined {
  const first = store.tables.objects.getBinary(objectKey(blob, 0));
  if (first === undefined) return undefined;
  const damaged = (cause?: unknown): MoundError =>
    new MoundError('object-damaged', `staged object ${blob} is damaged on disk; stage it again`, { blob }, cause);
  try {
    const rows: Buffer[] = [Buffer.from(first)];
    for (let row = 1; row < decodeStagedHead(first).rows; row++) {
      const bytes = store.tables.objects.getBinary(objectKey(blob, row));
      if (bytes === undefined) throw damaged();
      rows.push(bytes);
    }
    const content = decodeObject(rows);
    if (blobIdOf(content) === blob) return content;
  } catch (cause) {
    throw damaged(cause);
  }
  throw damaged();
}

/** Inside a transaction: writes an object, or renews the time of one that was there and sound. */
export function putObject(store: Store, blob: BlobId, rows: readonly Buffer[], time: number, wasSound: boolean): void {
  const known = wasSound ? store.tables.objects.getBinary(objectKey(blob, 0)) : undefined;
  if (known !== undefined) {
    store.put('objects', objectKey(blob, 0), restaged(known, time));
    return;
  }
  for (const [row, bytes] of rows.entries()) store.put('objects', objectKey(blob, row), bytes);
}

/** A damaged object is mended by staging it again. */
export function isSound(store: Store, blob: BlobId): boolean {
  try {
    return getObject(store, blob) !== undefined;
  } catch {
    return false;
  }
}

/** Inside a transaction. Gives the bytes that its rows held. */
export function removeObject(store: Store, blob: BlobId): number {
  let bytes = 0;
  const range = { start: objectKey(blob, 0), end: Buffer.concat([objectKey(blob, 0xffff), Buffer.of(0)]) };
  const keys = [...store.tables.objects.getRange(range)].map(({ key, value }) => {
    bytes += value.length;
    return Buffer.from(key);
  });
  for (const key of keys) store.remove('objects', key);
  return bytes;
}

/** Whether an object was staged, maybe anew, at or after a time. */
export function isYoung(store: Store, blob: BlobId, from: number): boolean {
  const head = headOfObject(store, blob);
  return head !== undefined && head.time >= from;
}

interface StagedObject {
  readonly blob: BlobId;
  readonly head: StagedHead | undefined;
  /** Bytes and number of its rows. */
  bytes: number;
  rows: number;
}

/** What is said of a staged object. Errors: `object-damaged`. */
export function headOfObject(store: Store, blob: BlobId): StagedHead | undefined {
  const first = store.tables.objects.getBinary(objectKey(blob, 0));
  return first && decodeStagedHead(first);
}

/** Every staged object, in the order of their ids; the head is an error where it cannot be read. */
export function* stagedObjects(store: Store): Generator<StagedObject> {
  let current: StagedObject | undefined;
  for (const { key, value } of store.tables.objects.getRange({})) {
    if (rowOfObjectKey(key) > 0 && current?.blob === blobOfObjectKey(key)) {
      current.bytes += value.length;
      current.rows++;
      continue;
    }
    if (current) yield current;
    current = { blob: blobOfObjectKey(key), head: headOf(key, value), bytes: value.length, rows: 1 };
  }
  if (current) yield current;
}

function headOf(key: Buffer, value: Buffer): StagedHead | undefined {
  try {
    return rowOfObjectKey(key) === 0 ? decodeStagedHead(value) : undefined;
  } catch {
    return undefined;
  }
}
