const slabBytes = 1024 * 1024;
/** Larger buffers get memory of their own. */
const pooledBytesMax = 64 * 1024;

let slab: Buffer | undefined;
let used = 0;

/**
 * An uninitialised buffer, cut from a slab as Node cuts its own small ones, but
 * up to 64 KiB: contents are mostly of a few KiB, and an allocation of its own
 * for each makes the garbage collector the largest cost of a commit.
 */
export function allocate(size: number): Buffer {
  if (size > pooledBytesMax) return Buffer.allocUnsafeSlow(size);
  if (slab === undefined || used + size > slabBytes) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    used = 0;
  }
  const start = used;
  // Aligned, so that native comparisons of contents run at full speed.
  used = (start + size + 7) & ~7;
  return slab.subarray(start, start + size);
}

export function copyOf(bytes: Uint8Array): Buffer {
  const copy = allocate(bytes.length);
  copy.set(bytes);
  return copy;
}

export function utf8Of(text: string): Buffer {
  const bytes = allocate(Buffer.byteLength(text, 'utf8'));
  bytes.write(text, 'utf8');
  return bytes;
}
