import { Arena, arenaContentBytesMax, noBlock } from './arena.ts';
import type { Version } from './version.ts';

/** Contents of versions that are no heads, or not any more: a stale intent may be based on them. */
const passingCountMax = 4096;
/** Of all bytes, what these take at most. */
const passingShareMax = 1 / 8;

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
 * long as there is room, and those of all others a little while: of heads that
 * were superseded, and of old versions that somebody read. Kept as copies that
 * are handed out as views: a view must be done with before anything else is
 * held or let go.
 */
export class Contents {
  private readonly largeBytesMax: number;
  private readonly passingBytesMax: number;
  private passingBytes = 0;
  private readonly arena: Arena<Version>;
  /** In the order in which they came; one that was let go and came back stands there twice. */
  private passing: Version[] = [];
  private large = new HeldQueue();
  private largeBytes = 0;

  /** A quarter is for contents too large for blocks. */
  constructor(bytesMax: number) {
    this.largeBytesMax = bytesMax / 4;
    this.passingBytesMax = bytesMax * passingShareMax;
    this.arena = new Arena((bytesMax / 4) * 3);
  }

  hold(version: Version, content: Buffer): void {
    if (version.isHeld) return;
    if (content.length > arenaContentBytesMax) this.holdLarge(version, content);
    else this.arena.put(content, version);
    if (version.headOf === 0) this.pass(version);
  }

  private holdLarge(version: Version, content: Buffer): void {
    if (content.length > this.largeBytesMax / 4) return;
    version.bytes = Buffer.from(content);
    this.large.push(version);
    this.largeBytes += content.length;
    while (this.largeBytes > this.largeBytesMax) {
      const oldest = this.large.shift();
      if (oldest === undefined) return;
      this.drop(oldest);
    }
  }

  /** Valid until the next `hold`, `pass` or `clear`. */
  view(version: Version): Buffer | undefined {
    return version.block === noBlock ? version.bytes : this.arena.view(version);
  }

  /** A version that is no head, or not any more: its content is not long of use. */
  pass(version: Version): void {
    if (!version.isHeld) return;
    this.passing.push(version);
    this.passingBytes += version.size;
    while (this.passing.length > passingCountMax || this.passingBytes > this.passingBytesMax) {
      const oldest = this.passing.shift();
      if (oldest === undefined) return;
      this.passingBytes -= oldest.size;
      if (oldest.headOf === 0) this.drop(oldest);
    }
  }

  private drop(version: Version): void {
    if (!version.isHeld) return;
    if (version.block !== noBlock) return this.arena.giveBack(version);
    this.largeBytes -= version.bytes?.length ?? 0;
    version.bytes = undefined;
  }

  clear(): void {
    this.arena.clear();
    for (let version = this.large.shift(); version !== undefined; version = this.large.shift()) this.drop(version);
    this.passing = [];
    this.passingBytes = 0;
    this.large = new HeldQueue();
    this.largeBytes = 0;
  }
}
