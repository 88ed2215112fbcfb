/** Commits read but not taken in yet. */
const commitsMax = 384;
/** Bytes of their contents; commits that are being read come on top. */
const bytesMax = 64 * 1024 * 1024;

/** Bounds what an import holds in memory. */
export class ImportWindow {
  #commits = 0;
  #bytes = 0;

  /** Whether one more commit may be begun. */
  get hasRoom(): boolean {
    return this.#commits === 0 || (this.#commits < commitsMax && this.#bytes < bytesMax);
  }

  enter(): void {
    this.#commits++;
  }

  hold(sizeBytes: number): void {
    this.#bytes += sizeBytes;
  }

  leave(sizeBytes: number): void {
    this.#commits--;
    this.#bytes -= sizeBytes;
  }
}
