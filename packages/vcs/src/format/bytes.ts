import { allocate } from '../core/allocate.ts';

/** A larger buffer is not kept for the next use. */
const keptBytesMax = 1024 * 1024;
const firstBytes = 8 * 1024;
const viewBytesMax = 2048;
/** Up to this many characters a loop is quicker than a call into the runtime. */
const loopedCharsMax = 24;

/**
 * Writes canonical bytes one after another into a buffer that grows and is used
 * again: what `written` gives holds only until the next `begin`.
 * Integers are varints (LEB128: seven bits a byte, low ones first), texts UTF-8
 * with their length in bytes before them.
 */
export class ByteWriter {
  private bytes: Buffer = Buffer.allocUnsafeSlow(firstBytes);
  private at = 0;
  /** Views of the buffer's beginnings by their length: most results are short, and making a view is dear. */
  private views: (Buffer | undefined)[] = [];

  begin(): this {
    this.at = 0;
    if (this.bytes.length > keptBytesMax) this.take(Buffer.allocUnsafeSlow(firstBytes));
    return this;
  }

  private take(bytes: Buffer): void {
    this.bytes = bytes;
    this.views = [];
  }

  private reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.at + count));
    this.bytes.copy(grown, 0, 0, this.at);
    this.take(grown);
  }

  byte(value: number): this {
    this.reserve(1);
    this.bytes[this.at++] = value;
    return this;
  }

  varint(value: number): this {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.at++] = (rest % 0x80) | 0x80;
      // Division beyond what bit operations hold.
      rest = rest > 0x7fffffff ? Math.floor(rest / 0x80) : rest >>> 7;
    }
    this.bytes[this.at++] = rest;
    return this;
  }

  /** A whole number that may be below zero, as a varint: 0, -1, 1, -2, 2 … */
  signed(value: number): this {
    return this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  uint32(value: number): this {
    this.reserve(4);
    this.at = this.bytes.writeUInt32LE(value, this.at);
    return this;
  }

  /** As they are, without a length. */
  raw(bytes: Uint8Array): this {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
    return this;
  }

  range(bytes: Buffer, start: number, end: number): this {
    this.reserve(end - start);
    bytes.copy(this.bytes, this.at, start, end);
    this.at += end - start;
    return this;
  }

  /** The bytes of an id in hex, without a length. */
  hex(id: string): this {
    this.reserve(id.length / 2);
    this.at += this.bytes.write(id, this.at, 'hex');
    return this;
  }

  sized(bytes: Uint8Array): this {
    return this.varint(bytes.length).raw(bytes);
  }

  /** A text that may be missing: a byte says whether it is there. */
  optional(text: string | undefined): this {
    return text === undefined ? this.byte(0) : this.byte(1).text(text);
  }

  text(text: string): this {
    const { length } = text;
    this.reserve(length * 3 + 8);
    if (length <= loopedCharsMax && this.ascii(text)) return this;
    // Long enough for the length of any text of so many characters, so the text is written only once.
    const width = varintBytes(length * 3);
    const size = this.bytes.write(text, this.at + width, 'utf8');
    this.paddedVarint(size, width);
    this.at += size;
    return this;
  }

  /** Short plain texts, most of all names; false where it is none. */
  private ascii(text: string): boolean {
    const { bytes } = this;
    const start = this.at + 1;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) return false;
      bytes[start + i] = code;
    }
    bytes[this.at] = text.length;
    this.at = start + text.length;
    return true;
  }

  /** In `width` bytes, whatever the value would need. */
  private paddedVarint(value: number, width: number): void {
    let rest = value;
    for (let i = 1; i < width; i++) {
      this.bytes[this.at++] = (rest & 0x7f) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.at++] = rest;
  }

  /** Everything since `begin`; overwritten after the next one. */
  written(): Buffer {
    if (this.at >= viewBytesMax) return this.bytes.subarray(0, this.at);
    return (this.views[this.at] ??= this.bytes.subarray(0, this.at));
  }

  copied(): Buffer {
    const copy = allocate(this.at);
    this.bytes.copy(copy, 0, 0, this.at);
    return copy;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

/** Reads what `ByteWriter` wrote. Errors: `RangeError` where the bytes end too soon. */
export class ByteReader {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new RangeError('bytes end too soon');
    return value;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  signed(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** An alias of the next bytes. */
  raw(count: number): Buffer {
    const end = this.at + count;
    if (end > this.bytes.length) throw new RangeError('bytes end too soon');
    const bytes = this.bytes.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  skip(count: number): void {
    this.range(count);
  }

  /** All that is left. */
  rest(): Buffer {
    return this.raw(this.bytes.length - this.at);
  }

  private range(count: number): number {
    const start = this.at;
    if (start + count > this.bytes.length) throw new RangeError('bytes end too soon');
    this.at = start + count;
    return start;
  }

  hex(count: number): string {
    const start = this.range(count);
    return this.bytes.toString('hex', start, start + count);
  }

  sized(): Buffer {
    return this.raw(this.varint());
  }

  text(): string {
    const count = this.varint();
    const start = this.range(count);
    return this.bytes.toString('utf8', start, start + count);
  }
}
