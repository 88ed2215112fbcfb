import { isUtf8 } from 'node:buffer';

/** True for bytes that are never merged by line: with a NUL, or not UTF-8. */
export function isBinary(content: Uint8Array): boolean {
  return content.includes(0) || !isUtf8(content);
}

/**
 * The lines of a text, each with its line ending, so that they join to the same
 * bytes; the last may lack one. Only LF ends a line: a CR before it belongs to it.
 * The content must not be binary, so that decoding loses nothing (a byte order
 * mark stays, as a part of the first line).
 */
export function splitLines(content: Uint8Array): string[] {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
  const lines: string[] = [];
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    lines.push(text.slice(start, end + 1));
    start = end + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

const encoder = new TextEncoder();

/** Inverse of {@link splitLines}, for lines from `start` up to `end`. */
export function joinLines(lines: readonly string[], start = 0, end: number = lines.length): Uint8Array {
  return encoder.encode(lines.slice(start, end).join(''));
}
