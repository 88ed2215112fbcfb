/**
 * Values that were used of late, bounded by the sum of their sizes. Two
 * generations: what is used moves to the young one, and when that holds half of
 * the bound, the old one is dropped whole. Nothing is ever deleted singly, which
 * in a Map costs more than the value saves.
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
    const young = this.young.get(key);
    if (young !== undefined) return young;
    const old = this.old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    const size = this.sizeOf(value);
    if (size > this.youngSizeMax / 2) return;
    if (this.young.has(key)) this.youngSize -= this.sizeOf(this.young.get(key) as Value);
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
