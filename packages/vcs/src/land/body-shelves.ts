import type { Body, Shelf } from '../format/entry.ts';

/**
 * Bodies of one entry that together are longer than this stand beside it: reading any of them from within would mean
 * to read all.
 */
const entryBytesMax = 16 * 1024;
/** A shelf and its row's own bytes fill whole pages of LMDB, and are read whole for one body. */
const shelfBytesMax = 8 * 4096 - 128;
/** A shorter body takes less room in the entry than where it stands. */
const shelvedBytesMin = 48;

/** Bodies up to this stand in their entry or on a shelf; longer ones in parts, so that entries stay quick to read. */
export const inlineBytesMax = 8 * 1024;

const noBytes = Buffer.alloc(0);

/** Puts the bodies of one entry one after another into parts of the store. */
export class BodyShelves {
  private readonly put: (index: number, bytes: Buffer) => void;
  private pieces: Uint8Array[] = [];
  private index = 0;
  private length = 0;

  /** `put` stores a part under a change. */
  constructor(put: (index: number, bytes: Buffer) => void) {
    this.put = put;
  }

  /** Whether bodies of so many bytes together need shelves. */
  static areNeeded(bodies: readonly { readonly body: Body }[]): boolean {
    if (bodies.length < 2) return false;
    let bytes = 0;
    for (const { body } of bodies) if (body.bytes.length <= inlineBytesMax) bytes += body.bytes.length;
    return bytes > entryBytesMax;
  }

  /** The body as it stands in the entry. */
  add(body: Body, index: number): Body {
    const { length } = body.bytes;
    if (length < shelvedBytesMin) return body;
    if (this.length + length > shelfBytesMax) this.finish();
    if (this.length === 0) this.index = index;
    const shelf: Shelf = { index: this.index, offset: this.length, length };
    this.pieces.push(body.bytes);
    this.length += length;
    return { ...body, bytes: noBytes, shelf };
  }

  /** Stores the last of them. */
  finish(): void {
    if (this.length > 0) this.put(this.index, Buffer.concat(this.pieces));
    this.pieces = [];
    this.length = 0;
  }
}
