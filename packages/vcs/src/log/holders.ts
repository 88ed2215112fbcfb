import type { BlobId } from '../core/ids.ts';
import type { Place } from '../format/entry.ts';

const slotBits = 17;
const slotCount = 2 ** slotBits;

/**
 * Where contents stand of late, so that one that comes again (a merge, a
 * revert) is stored as nothing new. A table with one place a slot: what comes
 * later takes the slot over. It only guesses: the version that stands there
 * must be asked whether it holds the content.
 */
export class Holders {
  private readonly tags = new Uint32Array(slotCount);
  private readonly seqs = new Float64Array(slotCount);
  private readonly indexes = new Uint32Array(slotCount);

  private slotOf(blob: BlobId): number {
    return Number.parseInt(blob.slice(0, 8), 16) & (slotCount - 1);
  }

  private tagOf(blob: BlobId): number {
    return Number.parseInt(blob.slice(8, 16), 16);
  }

  set(blob: BlobId, { seq, index }: Place): void {
    const slot = this.slotOf(blob);
    this.tags[slot] = this.tagOf(blob);
    this.seqs[slot] = seq;
    this.indexes[slot] = index;
  }

  get(blob: BlobId): Place | undefined {
    const slot = this.slotOf(blob);
    const seq = this.seqs[slot] ?? 0;
    if (seq === 0 || this.tags[slot] !== this.tagOf(blob)) return undefined;
    return { seq, index: this.indexes[slot] ?? 0 };
  }

  clear(): void {
    this.seqs.fill(0);
  }
}
