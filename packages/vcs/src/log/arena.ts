const slabBytes = 1024 * 1024;
const classBytes = 256;
/** Longer contents do not go into slabs. */
export const arenaContentBytesMax = 64 * 1024;

/**
 * Memory for contents of a few KiB, cut into blocks that are used again: neither
 * fresh pages nor the garbage collector have to do with them. A block is a
 * number; it belongs to whoever took it until it is given back.
 */
export class Arena {
  private readonly slabsMax: number;
  private readonly slabs: Buffer[] = [];
  /** Free blocks by size class (multiples of 256 bytes). */
  private readonly free: number[][] = [];

  constructor(bytesMax: number) {
    this.slabsMax = Math.max(1, Math.floor(bytesMax / slabBytes));
  }

  private classOf(size: number): number {
    return Math.max(1, Math.ceil(size / classBytes));
  }

  /** A block that holds a copy of the content; undefined where none is free. */
  put(content: Buffer): number | undefined {
    const sizeClass = this.classOf(content.length);
    const free = (this.free[sizeClass] ??= []);
    if (free.length === 0 && !this.cutSlab(sizeClass, free)) return undefined;
    const block = free.pop();
    if (block === undefined) return undefined;
    const offset = block % slabBytes;
    const slab = this.slabs[(block - offset) / slabBytes];
    if (slab !== undefined) content.copy(slab, offset);
    return block;
  }

  private cutSlab(sizeClass: number, free: number[]): boolean {
    if (this.slabs.length >= this.slabsMax) return false;
    const size = sizeClass * classBytes;
    const start = this.slabs.length * slabBytes;
    this.slabs.push(Buffer.allocUnsafeSlow(slabBytes));
    for (let offset = 0; offset + size <= slabBytes; offset += size) free.push(start + offset);
    return true;
  }

  /** The bytes of a block: a view that is valid until the block is given back. */
  view(block: number, size: number): Buffer {
    const offset = block % slabBytes;
    const slab = this.slabs[(block - offset) / slabBytes];
    if (slab === undefined) throw new Error(`invariant broken: block ${block} is in a slab`);
    return slab.subarray(offset, offset + size);
  }

  giveBack(block: number, size: number): void {
    this.free[this.classOf(size)]?.push(block);
  }
}
