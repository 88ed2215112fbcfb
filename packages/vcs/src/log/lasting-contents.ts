import { Slabs } from '../core/allocate.ts';
import { BoundedCache } from '../core/bounded-cache.ts';
import type { BlobId } from '../core/ids.ts';

const bytesMax = 48 * 1024 * 1024;

/**
 * Contents that are merged again and again, as one buffer for all who ask of
 * late: nobody may write to it. Unlike the views of `Contents` they stay what
 * they are, so that a merge can keep what it found out about them.
 */
export class LastingContents {
  private readonly byBlob = new BoundedCache<BlobId, Buffer>(bytesMax, ({ length }) => length);
  private readonly slabs = new Slabs();

  get(blob: BlobId): Buffer | undefined {
    return this.byBlob.get(blob);
  }

  keep(blob: BlobId, content: Buffer): void {
    this.byBlob.set(blob, content);
  }

  keepCopy(blob: BlobId, content: Buffer): Buffer {
    const copy = this.slabs.copyOf(content);
    this.keep(blob, copy);
    return copy;
  }

  clear(): void {
    this.byBlob.clear();
  }
}
