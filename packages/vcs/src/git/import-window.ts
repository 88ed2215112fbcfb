/** Commits read but not landed yet. */
const commitsMax = 384;
/** Bytes of their contents; commits that are being read come on top. */
const bytesMax = 64 * 1024 * 1024;

/** Bounds what an import holds in memory. */
export class ImportWindow {
  #commits = 0;
  #bytes = 0;
  #wake: (() => void) | undefined;

  /** Waits until one more commit may be begun. For one caller. */
  async enter(): Promise<void> {
    while (this.#commits > 0 && (this.#commits >= commitsMax || this.#bytes >= bytesMax)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#commits++;
  }

  hold(sizeBytes: number): void {
    this.#bytes += sizeBytes;
  }

  leave(sizeBytes: number): void {
    this.#commits--;
    this.#bytes -= sizeBytes;
    this.#wake?.();
    this.#wake = undefined;
  }
}
