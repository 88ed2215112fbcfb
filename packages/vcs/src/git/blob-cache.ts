import type { ObjectReader } from './object-reader.ts';

const bytesMax = 64 * 1024 * 1024;
/** A larger blob would push out too many others. */
const blobBytesMax = 1024 * 1024;

/**
 * Contents by id: a merge brings the very blobs that its side line brought. The
 * same buffer is handed out, so that who hashes it may know it again.
 */
export class BlobCache {
  readonly #reader: ObjectReader;
  readonly #blobs = new Map<string, Promise<Buffer>>();
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  constructor(reader: ObjectReader) {
    this.#reader = reader;
  }

  /** Errors: `no-such-object`, `object-damaged`. */
  get(id: string): Promise<Buffer> {
    const cached = this.#blobs.get(id);
    if (cached) return cached;
    const blob = this.#load(id);
    this.#blobs.set(id, blob);
    return blob;
  }

  async #load(id: string): Promise<Buffer> {
    const content = await this.#reader.content(id, 'blob');
    if (content.length > blobBytesMax) {
      this.#blobs.delete(id);
      return content;
    }
    this.#sizes.set(id, content.length);
    this.#bytes += content.length;
    for (const [oldest, size] of this.#sizes) {
      if (this.#bytes <= bytesMax) break;
      this.#blobs.delete(oldest);
      this.#sizes.delete(oldest);
      this.#bytes -= size;
    }
    return content;
  }
}
