import type { Version } from './version.ts';

/** What one entry costs beside its bytes. */
const overheadBytes = 64;

/**
 * The contents that versions hold of late, bounded by their bytes. Two
 * generations: when the young one holds half of the bound, the old one lets go
 * of all that is not held again since. Nothing is moved or dropped singly: what
 * was made together (in one slab of memory) goes together.
 */
export class Contents {
  private readonly youngBytesMax: number;
  private young: Version[] = [];
  private old: Version[] = [];
  /** Counts generations, so that a version held again is not dropped with the old ones. */
  private generation = 1;
  private youngBytes = 0;

  constructor(bytesMax: number) {
    this.youngBytesMax = bytesMax / 2;
  }

  hold(version: Version, content: Buffer): void {
    const bytes = content.length + overheadBytes;
    if (bytes > this.youngBytesMax / 2) return;
    version.content = content;
    version.heldIn = this.generation;
    this.young.push(version);
    this.youngBytes += bytes;
    if (this.youngBytes < this.youngBytesMax) return;
    for (const dropped of this.old) if (dropped.heldIn < this.generation) dropped.content = undefined;
    this.old = this.young;
    this.young = [];
    this.youngBytes = 0;
    this.generation++;
  }

  clear(): void {
    for (const held of [this.old, this.young]) for (const version of held) version.content = undefined;
    this.old = [];
    this.young = [];
    this.youngBytes = 0;
  }
}
