import { StringDecoder } from 'node:string_decoder';

/** What a command prints, of which only the beginning and the end are kept. */
export class KeptOutput {
  readonly #charsMax: number;
  readonly #decoder = new StringDecoder('utf8');
  #head = '';
  #tail = '';
  #left = 0;
  /** Bytes in all. */
  total = 0;

  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  add(bytes: Buffer): void {
    this.total += bytes.length;
    let text = this.#decoder.write(bytes);
    const headMax = Math.floor(this.#charsMax / 4);
    if (this.#head.length < headMax) {
      const room = headMax - this.#head.length;
      this.#head += text.slice(0, room);
      text = text.slice(room);
    }
    const tailMax = this.#charsMax - headMax;
    this.#tail += text;
    if (this.#tail.length > 2 * tailMax) this.#cut(tailMax);
  }

  #cut(tailMax: number): void {
    this.#left += this.#tail.length - tailMax;
    this.#tail = this.#tail.slice(-tailMax);
  }

  text(): string {
    const tailMax = this.#charsMax - Math.floor(this.#charsMax / 4);
    if (this.#tail.length > tailMax) this.#cut(tailMax);
    const note = this.#left === 0 ? '' : `\n[... ${this.#left} characters left out ...]\n`;
    return this.#head + note + this.#tail;
  }
}
