import type { DiskLineEnds } from '../attributes/index.ts';

interface TextStats {
  readonly isBinary: boolean;
  readonly crlf: number;
  readonly loneLf: number;
}

const [tab, newline, formFeed, carriageReturn, backspace, escape, endOfFile, del] = [9, 10, 12, 13, 8, 27, 26, 127];

/** Counts as git does to tell text from binary (its `gather_stats` and `convert_is_binary`). */
function statsOf(content: Uint8Array): TextStats {
  let [crlf, loneLf, loneCr, nul, printable, odd] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at < content.length; at++) {
    const byte = content[at] as number;
    if (byte === carriageReturn) {
      if (content[at + 1] === newline) {
        crlf++;
        at++;
      } else loneCr++;
    } else if (byte === newline) loneLf++;
    else if (byte === del) odd++;
    else if (byte >= 32 || byte === backspace || byte === tab || byte === escape || byte === formFeed) printable++;
    else {
      if (byte === 0) nul++;
      odd++;
    }
  }
  if (content.at(-1) === endOfFile) odd--;
  return { isBinary: loneCr > 0 || nul > 0 || printable >> 7 < odd, crlf, loneLf };
}

/** Whether the bytes on disk are those that a repo holds, whatever these are. */
export function isPlain({ kind, eol }: DiskLineEnds): boolean {
  return kind === 'binary' || kind === 'unspecified' || eol !== 'crlf';
}

/** The bytes on disk of what a repo holds, by the path's line ends, as git writes them. Filters are never run. */
export function toDisk(content: Buffer, lineEnds: DiskLineEnds): Buffer {
  if (isPlain(lineEnds)) return content;
  const { kind } = lineEnds;
  const { isBinary, crlf, loneLf } = statsOf(content);
  if (loneLf === 0 || (kind === 'auto' && (isBinary || crlf > 0))) return content;
  return Buffer.from(content.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1');
}

/**
 * What a repo holds of the bytes on disk, as git takes them. Under `text=auto` a file whose repo content has CRLF
 * already keeps it: `beneath` gives that content.
 */
export function toRepo(content: Buffer, { kind }: DiskLineEnds, beneath: () => Buffer | undefined): Buffer {
  if (kind === 'binary' || kind === 'unspecified' || !content.includes('\r\n')) return content;
  if (kind === 'auto') {
    if (statsOf(content).isBinary) return content;
    const before = beneath();
    const stats = before && statsOf(before);
    if (stats !== undefined && !stats.isBinary && stats.crlf > 0) return content;
  }
  return Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}

/**
 * Whether bytes on disk are what a repo holds. Also where git would take other bytes from them than it wrote (CRLF in
 * the repo of a path that is `text`): what nobody touched is no edit.
 */
export function isOnDisk(raw: Buffer, content: Buffer | undefined, lineEnds: DiskLineEnds): boolean {
  if (content === undefined) return false;
  return raw.equals(toDisk(content, lineEnds)) || toRepo(raw, lineEnds, () => content).equals(content);
}
