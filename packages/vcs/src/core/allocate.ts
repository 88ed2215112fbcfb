const slabBytes = 1024 * 1024;
/** Larger buffers get memory of their own. */
const pooledBytesMax = 64 * 1024;

/**
 * Memory for buffers that are let go together: a slab lives as long as any
 * buffer cut from it. What is kept long must not be cut from the slabs of what
 * is not.
 */
export class Slabs {
  private slab: Buffer | undefined;
  private used = 0;

  /** An uninitialised buffer. */
  allocate(size: number): Buffer {
    if (size > pooledBytesMax) return Buffer.allocUnsafeSlow(size);
    if (this.slab === undefined || this.used + size > slabBytes) {
      this.slab = Buffer.allocUnsafeSlow(slabBytes);
      this.used = 0;
    }
    const start = this.used;
    // Aligned, so that native comparisons of contents run at full speed.
    this.used = (start + size + 7) & ~7;
    return this.slab.subarray(start, start + size);
  }

  copyOf(bytes: Uint8Array): Buffer {
    const copy = this.allocate(bytes.length);
    copy.set(bytes);
    return copy;
  }
}

const ofCalls = new Slabs();

/**
 * An uninitialised buffer, cut from a slab as Node cuts its own small ones, but
 * up to 64 KiB: contents are mostly of a few KiB, and an allocation of its own
 * for each makes the garbage collector the largest cost of a commit.
 */
export const allocate = (size: number): Buffer => ofCalls.allocate(size);

export const copyOf = (bytes: Uint8Array): Buffer => ofCalls.copyOf(bytes);

export function utf8Of(text: string): Buffer {
  const bytes = allocate(Buffer.byteLength(text, 'utf8'));
  bytes.write(text, 'utf8');
  return bytes;
}

/**
 * For zlib, which allocates whole chunks (16 KiB unless told) and hands out the
 * part that it filled: a small result holds on to all of its chunk.
 */
export const chunkBytesFor = (sizeMax: number): number => Math.min(256 * 1024, Math.max(64, sizeMax + 64));
