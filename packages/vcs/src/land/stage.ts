import type { BlobId } from '../core/ids.ts';
import type { Intent } from '../core/intent.ts';
import { blobIdOf } from '../format/hash.ts';
import { encodeObject } from '../format/object.ts';
import type { LogReader } from '../log/log-reader.ts';
import { getObject, isSound, putObject } from '../log/staged.ts';
import type { Lander } from './lander.ts';

/** Makes a content durable under its id without landing it; one that is there already is renewed. */
export async function stage(reader: LogReader, lander: Lander, content: Buffer, time: number): Promise<BlobId> {
  reader.store.mustBeOpen();
  const blob = blobIdOf(content);
  const rows = encodeObject(content, time);
  const wasSound = isSound(reader.store, blob);
  await lander.act(() => putObject(reader.store, blob, rows, time, wasSound));
  return blob;
}

/** An intent with the contents of the objects that it names, and those of them that are not staged. */
export function withStaged(reader: LogReader, intent: Intent): { intent: Intent; missing: BlobId[] } {
  const missing: BlobId[] = [];
  const contentOf = (blob: BlobId): Buffer => {
    const content = getObject(reader.store, blob);
    if (content !== undefined) return content;
    missing.push(blob);
    return Buffer.alloc(0);
  };
  const changes = intent.changes?.map((change) => {
    if (change.kind !== 'put' || change.content !== undefined) return change;
    const { blob, ...rest } = change;
    return { ...rest, content: contentOf(blob) };
  });
  return { intent: { ...intent, ...(changes && { changes }) }, missing };
}
