/** Least-recently-used values, bounded by the sum of their sizes. */
export class BoundedCache<Key, Value> {
  private readonly entries = new Map<Key, Value>();
  private readonly sizeOf: (value: Value) => number;
  private readonly sizeMax: number;
  private size = 0;

  constructor(sizeMax: number, sizeOf: (value: Value) => number) {
    this.sizeMax = sizeMax;
    this.sizeOf = sizeOf;
  }

  get(key: Key): Value | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    const size = this.sizeOf(value);
    if (size > this.sizeMax / 4) return;
    const before = this.entries.get(key);
    if (before !== undefined) {
      this.size -= this.sizeOf(before);
      this.entries.delete(key);
    }
    this.entries.set(key, value);
    this.size += size;
    for (const [oldest, oldValue] of this.entries) {
      if (this.size <= this.sizeMax) break;
      this.entries.delete(oldest);
      this.size -= this.sizeOf(oldValue);
    }
  }

  clear(): void {
    this.entries.clear();
    this.size = 0;
  }
}
