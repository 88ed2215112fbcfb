/**
 * Values that were set of late, bounded by the sum of their sizes. Two
 * generations: when the young one holds half of the bound, the old one is
 * dropped whole. Nothing is deleted or moved singly: that costs more than it
 * saves, and what was made together (in one slab of memory) goes together.
 */
export class BoundedCache<Key, Value> {
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();
  private readonly sizeOf: (value: Value) => number;
  private readonly youngSizeMax: number;
  private youngSize = 0;

  constructor(sizeMax: number, sizeOf: (value: Value) => number) {
    this.sizeOf = sizeOf;
    this.youngSizeMax = sizeMax / 2;
  }

  get(key: Key): Value | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  set(key: Key, value: Value): void {
    const size = this.sizeOf(value);
    if (size > this.youngSizeMax / 2) return;
    // A value set again counts twice: the generation ends a little sooner, which is harmless.
    this.young.set(key, value);
    this.youngSize += size;
    if (this.youngSize < this.youngSizeMax) return;
    this.old = this.young;
    this.young = new Map();
    this.youngSize = 0;
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
    this.youngSize = 0;
  }
}
