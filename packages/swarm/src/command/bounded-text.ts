/** Keeps the beginning and the end of an endless text, and says how much lay between. */
export class BoundedText {
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#half = Math.floor(bytesMax / 2);
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(piece: Buffer): void {
    this.#bytes += piece.length;
    const room = this.#half - this.#headBytes;
    if (room > 0) {
      const start = piece.subarray(0, room);
      this.#head.push(Buffer.from(start));
      this.#headBytes += start.length;
    }
    const rest = piece.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    // Copied: a piece of a large read would keep all of it.
    const kept = Buffer.from(rest.subarray(-this.#half));
    this.#tail.push(kept);
    this.#tailBytes += kept.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= this.#half) {
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
    }
    if (this.#tail.length > 4096) this.#tail = [Buffer.concat(this.#tail)];
  }

  toString(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail).subarray(-this.#half);
    const left = this.#bytes - head.length - tail.length;
    if (left === 0) return Buffer.concat([head, tail]).toString('utf8');
    return `${head.toString('utf8')}\n[${left} bytes left out]\n${tail.toString('utf8')}`;
  }
}
