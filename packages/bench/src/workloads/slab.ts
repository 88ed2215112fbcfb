const slabBytes = 1 << 20;

/**
 * Makes buffers out of large pieces of memory. Ten thousands of separate
 * buffers of 4 KB cost more to allocate and collect than many a subject needs
 * for its commits, and the collector would run in the measured time.
 */
export class Slab {
  #free = Buffer.alloc(0);

  take(bytes: number): Buffer {
    if (bytes > this.#free.length) this.#free = Buffer.allocUnsafeSlow(Math.max(slabBytes, bytes));
    const taken = this.#free.subarray(0, bytes);
    this.#free = this.#free.subarray(bytes);
    return taken;
  }
}
