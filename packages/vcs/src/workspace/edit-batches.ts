import type { DiskEdit } from './scan.ts';

/** Bytes of contents that one transaction shelves. */
const shelfBytesMax = 16 * 1024 * 1024;

/** Edits in parts, each of which one transaction shelves. */
export function* inBatches(edits: readonly DiskEdit[]): Generator<DiskEdit[]> {
  let batch: DiskEdit[] = [];
  let bytes = 0;
  for (const edit of edits) {
    batch.push(edit);
    bytes += edit.content?.length ?? 0;
    if (bytes < shelfBytesMax) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
