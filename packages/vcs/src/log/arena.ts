import { invariant } from '../core/errors.ts';

const slabBytes = 1024 * 1024;
/** Blocks are multiples of this, and of a sixteenth of the largest power of two below their size. */
const grainBytes = 256;
/** Longer contents do not go into slabs. */
export const arenaContentBytesMax = 64 * 1024;
/** A content may take a block of so many sizes above its own before a slab is freed for it. */
const sizesAboveMax = 2;

/** The block of an owner that has none. */
export const noBlock = -1;

/** Has a block, or none; only an arena writes to it. */
export interface BlockOwner {
  block: number;
  /** Bytes of the content in the block. */
  blockBytes: number;
}

interface Slab<Owner> {
  readonly bytes: Buffer;
  readonly start: number;
  /** 0: it is cut into none. */
  blockBytes: number;
  /** Who has each block; undefined: it is free. */
  owners: (Owner | undefined)[];
  free: number[];
  /** Size of the blocks under which it is listed as partly free; 0: it is not. */
  listedFor: number;
}

const ceilTo = (size: number, grain: number): number => Math.ceil(size / grain) * grain;

/** Bytes of the block for a content of this size: at most a sixteenth more than it needs, from 4 KiB on. */
function blockBytesFor(size: number): number {
  if (size <= 16 * grainBytes) return Math.max(grainBytes, ceilTo(size, grainBytes));
  return ceilTo(size, 2 ** (31 - Math.clz32(size - 1) - 4));
}

/**
 * Memory for contents of a few KiB, cut into blocks that are used again: neither
 * fresh pages nor the garbage collector have to do with them. Where blocks of
 * one size are wanted and there are only others, the slab with the fewest
 * owners is cut anew: they move to other blocks of their size, or lose theirs.
 */
export class Arena<Owner extends BlockOwner> {
  private readonly slabsMax: number;
  private readonly slabs: Slab<Owner>[] = [];
  /** Slabs of which nothing is in use. */
  private readonly empty: Slab<Owner>[] = [];
  /** Slabs with a free block, by the bytes of their blocks; some are full or of another size by now. */
  private readonly partly = new Map<number, Slab<Owner>[]>();
  private hand = 0;

  constructor(bytesMax: number) {
    this.slabsMax = Math.max(1, Math.floor(bytesMax / slabBytes));
  }

  /** Gives an owner without a block one that holds a copy of the content. Others may move or lose theirs. */
  put(content: Buffer, owner: Owner): void {
    owner.blockBytes = content.length;
    this.place(content, owner, this.slabWithRoom(blockBytesFor(content.length)));
  }

  private place(content: Buffer, owner: Owner, slab: Slab<Owner>): void {
    const index = slab.free.pop();
    invariant(index !== undefined, 'a slab with room has a free block');
    slab.owners[index] = owner;
    const offset = index * slab.blockBytes;
    slab.bytes.set(content, offset);
    owner.block = slab.start + offset;
  }

  private slabWithRoom(blockBytes: number): Slab<Owner> {
    const partly = this.partlyFree(blockBytes);
    if (partly !== undefined) return partly;
    const fresh = this.empty.pop() ?? this.added() ?? this.partlyFreeAbove(blockBytes) ?? this.taken();
    return fresh.blockBytes === 0 ? this.cut(fresh, blockBytes) : fresh;
  }

  private partlyFree(blockBytes: number): Slab<Owner> | undefined {
    const list = this.partly.get(blockBytes);
    for (let slab = list?.at(-1); slab !== undefined; slab = list?.at(-1)) {
      if (slab.blockBytes === blockBytes && slab.free.length > 0) return slab;
      list?.pop();
      if (slab.listedFor === blockBytes) slab.listedFor = 0;
    }
    return undefined;
  }

  private partlyFreeAbove(blockBytes: number): Slab<Owner> | undefined {
    let size = blockBytes;
    for (let above = 0; above < sizesAboveMax && size < arenaContentBytesMax; above++) {
      size = blockBytesFor(size + 1);
      const slab = this.partlyFree(size);
      if (slab !== undefined) return slab;
    }
    return undefined;
  }

  private added(): Slab<Owner> | undefined {
    if (this.slabs.length >= this.slabsMax) return undefined;
    const bytes = Buffer.allocUnsafeSlow(slabBytes);
    const start = this.slabs.length * slabBytes;
    const slab: Slab<Owner> = { bytes, start, blockBytes: 0, owners: [], free: [], listedFor: 0 };
    this.slabs.push(slab);
    return slab;
  }

  /** The slab with the fewest owners, without them; of equal ones the one that had its turn longest ago. */
  private taken(): Slab<Owner> {
    let victim: Slab<Owner> | undefined;
    let least = Infinity;
    for (let looked = 0; looked < this.slabs.length; looked++) {
      const slab = this.slabs[(this.hand + looked) % this.slabs.length];
      const used = slab === undefined ? Infinity : slab.owners.length - slab.free.length;
      if (used < least) [victim, least] = [slab, used];
    }
    invariant(victim !== undefined, 'an arena has a slab');
    this.hand = victim.start / slabBytes + 1;
    const { owners, blockBytes, bytes, start } = victim;
    this.uncut(victim);
    for (const owner of owners) {
      if (owner === undefined) continue;
      const other = this.partlyFree(blockBytes);
      const offset = owner.block - start;
      if (other === undefined) owner.block = noBlock;
      else this.place(bytes.subarray(offset, offset + owner.blockBytes), owner, other);
    }
    return victim;
  }

  private cut(slab: Slab<Owner>, blockBytes: number): Slab<Owner> {
    const count = Math.floor(slabBytes / blockBytes);
    slab.blockBytes = blockBytes;
    slab.owners = Array.from({ length: count });
    slab.free = Array.from({ length: count }, (_, index) => count - 1 - index);
    this.list(slab);
    return slab;
  }

  private uncut(slab: Slab<Owner>): void {
    slab.blockBytes = 0;
    slab.owners = [];
    slab.free = [];
  }

  private list(slab: Slab<Owner>): void {
    const { blockBytes } = slab;
    if (slab.listedFor === blockBytes) return;
    slab.listedFor = blockBytes;
    const list = this.partly.get(blockBytes);
    if (list === undefined) this.partly.set(blockBytes, [slab]);
    else list.push(slab);
  }

  private slabOf(owner: Owner): Slab<Owner> {
    const slab = this.slabs[Math.floor(owner.block / slabBytes)];
    invariant(slab !== undefined, 'a block is in a slab');
    return slab;
  }

  /** What an owner's block holds: a view that is valid until something is put. */
  view(owner: Owner): Buffer {
    const slab = this.slabOf(owner);
    const offset = owner.block - slab.start;
    return slab.bytes.subarray(offset, offset + owner.blockBytes);
  }

  giveBack(owner: Owner): void {
    const slab = this.slabOf(owner);
    const index = (owner.block - slab.start) / slab.blockBytes;
    owner.block = noBlock;
    slab.owners[index] = undefined;
    slab.free.push(index);
    if (slab.free.length < slab.owners.length) return this.list(slab);
    this.uncut(slab);
    this.empty.push(slab);
  }

  /** Takes every block back. */
  clear(): void {
    for (const slab of this.slabs) {
      if (slab.blockBytes === 0) continue;
      for (const owner of slab.owners) if (owner !== undefined) owner.block = noBlock;
      this.uncut(slab);
      this.empty.push(slab);
    }
  }
}
