/** Steps past other lines in the table, beyond those that chance explains, before it is given up. */
const idleStepsMin = 4096;
const idleStepsPerLine = 16;

const fewLines = 64;

/** About so many lines are in so many bytes of code. */
export const linesIn = (bytes: number): number => bytes >> 5;

/**
 * Numbers the lines of several texts, equal lines alike, from their bytes: a table
 * with open addressing over FNV-1a. Texts that are made so that their lines collide
 * are numbered by way of strings, whose hash V8 seeds.
 */
export class LineIds {
  /** How many distinct lines there are; every id is below it. */
  count = 0;
  /** Where the line ends that was numbered last. */
  end = 0;
  /** Id + 1 by place; 0: free. */
  #table: Int32Array;
  #hashes: Int32Array;
  #starts: Int32Array;
  #lengths: Int32Array;
  /** The distinct lines, one after the other: the texts themselves need not stay. */
  #bytes: Uint8Array;
  #bytesUsed = 0;
  #idleSteps = 0;
  #byString: Map<string, number> | undefined;

  /** `bytes`: of about how long a text. */
  constructor(bytes: number) {
    const room = 2 ** Math.ceil(Math.log2(linesIn(bytes) + fewLines));
    this.#bytes = new Uint8Array(bytes + fewLines * 32);
    this.#table = new Int32Array(room * 2);
    this.#hashes = new Int32Array(room);
    this.#starts = new Int32Array(room);
    this.#lengths = new Int32Array(room);
  }

  /** The id of the line that starts at `start` of a text and ends with its LF, at `to` at the latest. */
  next(content: Uint8Array, start: number, to: number): number {
    let hash = 0x811c9dc5;
    let end = start;
    while (end < to) {
      const byte = content[end++] as number;
      hash = Math.imul(hash ^ byte, 0x01000193);
      if (byte === 10) break;
    }
    this.end = end;
    // The low bits of FNV alone spread badly.
    hash ^= hash >>> 15;
    return this.#byString === undefined
      ? this.#find(content, start, end, hash)
      : this.#findByString(content, start, end);
  }

  #find(content: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#table.length - 1;
    let place = hash & mask;
    for (let found = this.#table[place] as number; found > 0; found = this.#table[place] as number) {
      if (this.#hashes[found - 1] === hash && this.#isLine(found - 1, content, start, end)) return found - 1;
      place = (place + 1) & mask;
      this.#idleSteps++;
    }
    if (this.#idleSteps > idleStepsMin + this.count * idleStepsPerLine) {
      this.#byString = new Map(Array.from({ length: this.count }, (_, id) => [this.#stringOf(id), id]));
      return this.#findByString(content, start, end);
    }
    const id = this.#add(content, start, end, hash);
    this.#table[place] = id + 1;
    if (this.count * 2 > this.#table.length) this.#grow();
    return id;
  }

  #isLine(id: number, content: Uint8Array, start: number, end: number): boolean {
    if (this.#lengths[id] !== end - start) return false;
    const bytes = this.#bytes;
    const shift = (this.#starts[id] as number) - start;
    for (let at = start; at < end; at++) if (content[at] !== bytes[at + shift]) return false;
    return true;
  }

  #add(content: Uint8Array, start: number, end: number, hash: number): number {
    const id = this.count++;
    if (id === this.#hashes.length) {
      this.#hashes = doubled(this.#hashes);
      this.#starts = doubled(this.#starts);
      this.#lengths = doubled(this.#lengths);
    }
    this.#hashes[id] = hash;
    this.#starts[id] = this.#bytesUsed;
    this.#lengths[id] = end - start;
    this.#keep(content, start, end);
    return id;
  }

  #keep(content: Uint8Array, start: number, end: number): void {
    const used = this.#bytesUsed;
    this.#bytesUsed += end - start;
    if (this.#bytesUsed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#bytesUsed));
      larger.set(this.#bytes.subarray(0, used));
      this.#bytes = larger;
    }
    const bytes = this.#bytes;
    for (let [from, to] = [start, used]; from < end; from++, to++) bytes[to] = content[from] as number;
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 2);
    const mask = table.length - 1;
    for (let id = 0; id < this.count; id++) {
      let place = (this.#hashes[id] as number) & mask;
      while ((table[place] as number) > 0) place = (place + 1) & mask;
      table[place] = id + 1;
    }
    this.#table = table;
  }

  #findByString(content: Uint8Array, start: number, end: number): number {
    const line = latin1(content, start, end);
    const strings = this.#byString as Map<string, number>;
    let id = strings.get(line);
    if (id === undefined) {
      id = this.count++;
      strings.set(line, id);
    }
    return id;
  }

  #stringOf(id: number): string {
    const start = this.#starts[id] as number;
    return latin1(this.#bytes, start, start + (this.#lengths[id] as number));
  }
}

const latin1 = (content: Uint8Array, start: number, end: number): string =>
  Buffer.from(content.buffer, content.byteOffset + start, end - start).toString('latin1');

/** With room for as many again. */
export function doubled(values: Int32Array): Int32Array {
  const larger = new Int32Array(values.length * 2);
  larger.set(values);
  return larger;
}
