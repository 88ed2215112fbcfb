import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { chunkBytesFor, Slabs } from '../core/allocate.ts';
import { runGit } from './git-command.ts';
import { encodeDelta } from './pack-delta.ts';
import { gitObjectId, type GitObjectType } from './object-id.ts';

const typeNumbers: Readonly<Record<GitObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };
const offsetDelta = 6;

/** A pack is handed to git when it has this many bytes. */
const packBytesMax = 32 * 1024 * 1024;
/** Packs that git takes in at once. */
const handedMax = 2;
/** Fewer objects than this become loose ones, so that small exports do not litter the repository with packs. */
const looseObjectsMax = 100;
/** As git's own default for the length of a chain. */
const deltaDepthMax = 50;
/** Contents kept to make deltas against. */
const basesBytesMax = 96 * 1024 * 1024;
/** Ids of objects written, so that none is written twice; forgotten ones may be. */
const writtenMax = 1_000_000;

interface Base {
  readonly content: Buffer;
  readonly offset: number;
  readonly depth: number;
}

/**
 * Writes objects into a git repository as packs: each is a pack only when it is
 * full, so nothing half made can be seen, and nothing refers to it before the
 * refs move.
 */
export class PackWriter {
  readonly #gitDir: string;
  #pieces: Buffer[] = [];
  #count = 0;
  /** Of the pack so far, its 12 bytes of header included. */
  #offset = 12;
  #bases = new Map<string, Base>();
  /** What the pack's pieces and the bases are cut from: each goes with its pack. */
  #pieceSlabs = new Slabs();
  #baseSlabs = new Slabs();
  #basesBytes = 0;
  readonly #written = new Set<string>();
  /** The packs that git is taking in, oldest first. */
  #handed: Promise<unknown>[] = [];

  constructor(gitDir: string) {
    this.#gitDir = gitDir;
  }

  get isFull(): boolean {
    return this.#offset >= packBytesMax;
  }

  /** Adds an object; `baseId` names an older version that it is likely to resemble. Answers its id. */
  add(type: GitObjectType, content: Buffer, baseId?: string): string {
    const id = gitObjectId(type, content);
    if (this.#written.has(id)) return id;
    this.#remember(id);
    const base = baseId === undefined ? undefined : this.#bases.get(baseId);
    const delta = base && base.depth < deltaDepthMax ? encodeDelta(base.content, content) : undefined;
    const offset = this.#offset;
    if (base && delta) {
      this.#push(entryHeader(offsetDelta, delta.length), distanceOf(offset - base.offset), deflate(delta));
    } else {
      this.#push(entryHeader(typeNumbers[type], content.length), deflate(content));
    }
    this.#count++;
    if (type !== 'commit') this.#keepBase(id, { content, offset, depth: base && delta ? base.depth + 1 : 0 });
    return id;
  }

  /** Hands the pack to git and begins the next. */
  async flush(): Promise<void> {
    while (this.#handed.length >= handedMax) await this.#handed.shift();
    if (this.#count === 0) return;
    const header = Buffer.alloc(12);
    header.write('PACK', 'latin1');
    header.writeUInt32BE(2, 4);
    header.writeUInt32BE(this.#count, 8);
    const pieces = [header, ...this.#pieces];
    const args = this.#count < looseObjectsMax ? ['unpack-objects', '-q'] : ['index-pack', '--stdin'];
    this.#pieces = [];
    this.#count = 0;
    this.#offset = 12;
    this.#bases = new Map();
    this.#basesBytes = 0;
    this.#pieceSlabs = new Slabs();
    this.#baseSlabs = new Slabs();
    const handed = runGit(args, { gitDir: this.#gitDir, input: withTrailer(pieces) });
    // Awaited by a later flush or by `finish`.
    handed.catch(() => undefined);
    this.#handed.push(handed);
  }

  /** All that was added is in the repository. */
  async finish(): Promise<void> {
    await this.flush();
    await Promise.all(this.#handed);
  }

  #push(...pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      this.#pieces.push(this.#pieceSlabs.copyOf(piece));
      this.#offset += piece.length;
    }
  }

  #remember(id: string): void {
    this.#written.add(id);
    if (this.#written.size <= writtenMax) return;
    for (const oldest of this.#written) {
      this.#written.delete(oldest);
      break;
    }
  }

  #keepBase(id: string, base: Base): void {
    this.#bases.set(id, { ...base, content: this.#baseSlabs.copyOf(base.content) });
    this.#basesBytes += base.content.length;
    for (const [oldest, { content }] of this.#bases) {
      if (this.#basesBytes <= basesBytesMax) break;
      this.#bases.delete(oldest);
      this.#basesBytes -= content.length;
    }
  }
}

/** Small writes are gathered, and the pack's checksum comes last. */
function* withTrailer(pieces: readonly Buffer[]): Generator<Buffer> {
  const hash = createHash('sha1');
  let gathered: Buffer[] = [];
  let size = 0;
  for (const piece of pieces) {
    gathered.push(piece);
    size += piece.length;
    if (size < 256 * 1024) continue;
    const block = Buffer.concat(gathered, size);
    hash.update(block);
    yield block;
    gathered = [];
    size = 0;
  }
  const last = Buffer.concat(gathered, size);
  yield last;
  yield hash.update(last).digest();
}

/** Type and size, four bits of it in the first byte and seven in each that follows. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (type << 4) | (size & 15);
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  return Buffer.from([...bytes, byte]);
}

/** How far back an offset delta's base lies, in git's own variable length form. */
function distanceOf(distance: number): Buffer {
  const bytes = [distance & 0x7f];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest--;
    bytes.unshift(0x80 | (rest & 0x7f));
  }
  return Buffer.from(bytes);
}

/** Up to here a stored block costs less than starting zlib does. */
const storedBytesMax = 96;

function deflate(content: Buffer): Buffer {
  if (content.length > storedBytesMax) {
    // A small window and table for small contents: zlib clears both at each start.
    const windowBits = content.length < 4096 ? 12 : 15;
    const memLevel = content.length < 4096 ? 5 : 8;
    return deflateSync(content, { level: 1, windowBits, memLevel, chunkSize: chunkBytesFor(content.length) });
  }
  const size = content.length;
  const block = Buffer.allocUnsafe(size + 11);
  block.writeUInt16BE(0x7801, 0);
  block[2] = 1;
  block.writeUInt16LE(size, 3);
  block.writeUInt16LE(0xffff - size, 5);
  block.set(content, 7);
  let low = 1;
  let high = 0;
  for (const byte of content) {
    low += byte;
    high += low;
  }
  block.writeUInt16BE(high % 65521, size + 7);
  block.writeUInt16BE(low % 65521, size + 9);
  return block;
}
