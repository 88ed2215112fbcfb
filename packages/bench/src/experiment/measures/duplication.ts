import { linesOf, type TreeText } from './tree-text.ts';

/** Lines that have to follow one another in the same way elsewhere. */
export const windowLines = 6;

/**
 * Share of a tree's lines that stand in a run of {@link windowLines} lines which
 * occurs more than once, in the same file or another. Lines are compared without
 * blanks at their ends and with one blank for several; empty ones, and those
 * without a letter or digit (brackets), do not count. 0 where there is nothing.
 */
export function duplicateShare(code: TreeText): number {
  const files = [...code.values()].map((text) => linesOf(text).map(normalised).filter(isTelling));
  const places = new Map<string, { readonly file: number; readonly at: number }[]>();
  for (const [file, lines] of files.entries()) {
    for (let at = 0; at + windowLines <= lines.length; at++) {
      const key = lines.slice(at, at + windowLines).join('\n');
      const found = places.get(key);
      if (found === undefined) places.set(key, [{ file, at }]);
      else found.push({ file, at });
    }
  }
  const covered = files.map((lines) => new Uint8Array(lines.length));
  for (const found of places.values()) {
    if (found.length < 2) continue;
    for (const { file, at } of found) covered[file]?.fill(1, at, at + windowLines);
  }
  const lines = files.reduce((sum, file) => sum + file.length, 0);
  const repeated = covered.reduce((sum, file) => sum + file.reduce((count, one) => count + one, 0), 0);
  return lines === 0 ? 0 : repeated / lines;
}

const normalised = (line: string): string => line.trim().replaceAll(/\s+/g, ' ');
const isTelling = (line: string): boolean => /[\p{L}\p{N}]/u.test(line);
