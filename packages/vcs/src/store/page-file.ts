import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * LMDB's data file as bytes, read without mapping it, so that damage in it
 * cannot kill the process. Layout (lmdb-js 3.x, data version 2, little-endian):
 * a page begins with 24 bytes: number (8), transaction (8), pad (2), flags (2),
 * then lower and upper (2 + 2) or the number of pages of an overflow (4). The
 * first two pages are metas.
 */
export interface TreeRoot {
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** undefined: an empty tree. */
  readonly root: number | undefined;
}

export interface Meta {
  readonly page: number;
  readonly txn: number;
  readonly lastPage: number;
  readonly mapBytes: number;
  readonly free: TreeRoot;
  readonly main: TreeRoot;
}

export const headerBytes = 24;
const magic = 0xbeefc0de;
const dataVersion = 2;
const noRoot = 0xffffffffffffffffn;
/** Numbers beyond this are damage whatever they count. */
const plausibleMax = 2 ** 40;

/** A number that is too large to be true becomes one that no check accepts. */
export function readNumber(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  return value > BigInt(plausibleMax) ? plausibleMax : Number(value);
}

export function readTreeRoot(bytes: Buffer, at: number): TreeRoot {
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branchPages: readNumber(bytes, at + 8),
    leafPages: readNumber(bytes, at + 16),
    overflowPages: readNumber(bytes, at + 24),
    entries: readNumber(bytes, at + 32),
    root: bytes.readBigUInt64LE(at + 40) === noRoot ? undefined : readNumber(bytes, at + 40),
  };
}

export class PageFile {
  readonly pageBytes: number;
  private readonly file: number;

  /** Errors of the file system; `pageBytes` is 0 where the first page tells no size. */
  constructor(path: string) {
    this.file = openSync(path, 'r');
    const head = Buffer.alloc(headerBytes + 28);
    const got = readSync(this.file, head, 0, head.length, 0);
    const size = got === head.length ? head.readUInt32LE(48) : 0;
    const isPlausible = size >= 512 && size <= 65536 && (size & (size - 1)) === 0;
    this.pageBytes = isPlausible ? size : 0;
  }

  get size(): number {
    return fstatSync(this.file).size;
  }

  /** Bytes of `count` pages; zeros where the file ends before. */
  read(page: number, count = 1): Buffer {
    const bytes = Buffer.alloc(this.pageBytes * count);
    readSync(this.file, bytes, 0, bytes.length, page * this.pageBytes);
    return bytes;
  }

  /** One of the two metas; a text says what is wrong with it. */
  meta(page: 0 | 1): Meta | string {
    const bytes = this.read(page);
    if (bytes.readUInt32LE(24) !== magic) return 'it does not begin like a store';
    if (bytes.readUInt32LE(28) !== dataVersion) return 'its data version is unknown';
    if (readNumber(bytes, 0) !== page || bytes.readUInt16LE(18) !== 8) return 'it is no meta page';
    if (bytes.readUInt32LE(48) !== this.pageBytes) return 'it names another page size';
    return {
      page,
      mapBytes: readNumber(bytes, 40),
      free: readTreeRoot(bytes, 48),
      main: readTreeRoot(bytes, 96),
      lastPage: readNumber(bytes, 144),
      txn: readNumber(bytes, 152),
    };
  }

  close(): void {
    closeSync(this.file);
  }
}
