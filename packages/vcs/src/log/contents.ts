import { Arena, arenaContentBytesMax } from './arena.ts';
import { noBlock, type Version } from './version.ts';

/** Contents of versions that are no heads any more: a stale intent may be based on them. */
const supersededCountMax = 4096;
/** Versions that are let go at most to make room for one. */
const dropsMax = 256;

function letGo(version: Version): void {
  version.block = noBlock;
  version.bytes = undefined;
}

/** Versions in the order in which they came; those that hold nothing any more are left out now and then. */
class HeldQueue {
  private versions: Version[] = [];
  private first = 0;
  private compactAt = 4096;

  push(version: Version): void {
    this.versions.push(version);
    if (this.versions.length < this.compactAt) return;
    this.versions = this.versions.slice(this.first).filter(({ isHeld }) => isHeld);
    this.first = 0;
    this.compactAt = Math.max(4096, this.versions.length * 2);
  }

  get length(): number {
    return this.versions.length - this.first;
  }

  shift(): Version | undefined {
    return this.versions[this.first++];
  }
}

/**
 * The contents of versions of late, bounded by their bytes: those of heads as
 * long as there is room, oldest out first, and those of versions that were
 * superseded a little while. Kept as copies that are handed out as views: a
 * view must be done with before anything else is held or let go.
 */
export class Contents {
  private readonly bytesMax: number;
  private arena: Arena;
  private inBlocks = new HeldQueue();
  private superseded = new HeldQueue();
  private large = new HeldQueue();
  private largeBytes = 0;

  /** A quarter is for contents too large for blocks. */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.arena = new Arena((bytesMax / 4) * 3);
  }

  hold(version: Version, content: Buffer): void {
    if (version.isHeld) return;
    if (content.length > arenaContentBytesMax) return this.holdLarge(version, content);
    let block = this.arena.put(content);
    for (let drops = 0; block === undefined && drops < dropsMax; drops++) {
      const oldest = this.superseded.shift() ?? this.inBlocks.shift();
      if (oldest === undefined) break;
      this.drop(oldest);
      block = this.arena.put(content);
    }
    if (block === undefined) {
      // The sizes of contents have changed so much that no block fits: it starts anew.
      this.clear();
      block = this.arena.put(content);
    }
    if (block === undefined) return;
    version.block = block;
    version.blockBytes = content.length;
    this.inBlocks.push(version);
  }

  private holdLarge(version: Version, content: Buffer): void {
    const bytesMax = this.bytesMax / 4;
    if (content.length > bytesMax / 4) return;
    version.bytes = Buffer.from(content);
    this.large.push(version);
    this.largeBytes += content.length;
    while (this.largeBytes > bytesMax) {
      const oldest = this.large.shift();
      if (oldest === undefined) return;
      this.drop(oldest);
    }
  }

  /** Valid until the next `hold`, `supersede` or `clear`. */
  view(version: Version): Buffer | undefined {
    return version.block === noBlock ? version.bytes : this.arena.view(version.block, version.blockBytes);
  }

  /** A version has a successor: its content is not long of use any more. */
  supersede(version: Version): void {
    if (!version.isHeld) return;
    this.superseded.push(version);
    if (this.superseded.length <= supersededCountMax) return;
    const oldest = this.superseded.shift();
    if (oldest !== undefined) this.drop(oldest);
  }

  private drop(version: Version): void {
    if (version.block !== noBlock) this.arena.giveBack(version.block, version.blockBytes);
    else this.largeBytes -= version.bytes?.length ?? 0;
    letGo(version);
  }

  clear(): void {
    for (const queue of [this.inBlocks, this.superseded, this.large]) {
      for (let left = queue.length; left > 0; left--) {
        const version = queue.shift();
        if (version) letGo(version);
      }
    }
    this.inBlocks = new HeldQueue();
    this.superseded = new HeldQueue();
    this.large = new HeldQueue();
    this.largeBytes = 0;
    this.arena = new Arena((this.bytesMax / 4) * 3);
  }
}
