/** Items in one transaction at most, and their bytes. */
const batchCountMax = 1024;
const batchBytesMax = 16 * 1024 * 1024;
/** Items that wait for their transaction; a further one waits for room. */
export const queueCountMax = 16 * 1024;
export const roomWaitMs = 10_000;

/** What waits for its transaction, in order, bounded in count. */
export class LandingQueue<Item extends { readonly bytes: number }> {
  private items: Item[] = [];
  private readonly room = new Set<() => void>();

  get length(): number {
    return this.items.length;
  }

  get isFull(): boolean {
    return this.items.length >= queueCountMax;
  }

  add(item: Item): void {
    this.items.push(item);
  }

  /** Before all others. */
  addFirst(items: readonly Item[]): void {
    if (items.length > 0) this.items = [...items, ...this.items];
  }

  /** The next transaction's. */
  takeBatch(): Item[] {
    let bytes = 0;
    let count = 0;
    for (const item of this.items) {
      if (count > 0 && (count === batchCountMax || bytes + item.bytes > batchBytesMax)) break;
      bytes += item.bytes;
      count++;
    }
    if (count === this.items.length) {
      const all = this.items;
      this.items = [];
      return all;
    }
    return this.items.splice(0, count);
  }

  /** Waits until there is room; false where it stays full. */
  async hasRoom(): Promise<boolean> {
    const deadline = performance.now() + roomWaitMs;
    while (this.isFull) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return false;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          this.room.delete(done);
          resolve();
        };
        const timer = setTimeout(done, leftMs);
        this.room.add(done);
      });
    }
    return true;
  }

  /** Wakes those who wait for room, where there is some. */
  freeRoom(): void {
    if (!this.isFull) for (const wake of this.room) wake();
  }
}
