import { extname } from 'node:path';

import type { Snapshot } from '@mound/vcs';

/** Texts of a tree by path; what is no UTF-8 is left out. */
export type TreeText = ReadonlyMap<string, string>;

/** Files that people and agents write programs in; only these are looked through for duplicates and likeness. */
const codeEndings = new Set(['.c', '.cc', '.cpp', '.cs', '.cts', '.cjs', '.go', '.h', '.hpp', '.java', '.js', '.jsx', '.kt', '.lua', '.mjs', '.mts', '.php', '.py', '.rb', '.rs', '.scala', '.sh', '.sql', '.swift', '.ts', '.tsx', '.zig']); // prettier-ignore

export const isCode = (path: string): boolean => codeEndings.has(extname(path).toLowerCase());

/** `without`: prefixes of what did not come from the agents' hands, such as documentation. */
export function textOfSnapshot(snapshot: Snapshot, without: readonly string[] = []): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { path, mode } of snapshot.list()) {
    if (mode !== 'file' && mode !== 'executable') continue;
    if (without.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) continue;
    const text = snapshot.read(path)?.toString('utf8');
    if (text !== undefined && !text.includes('\0') && !text.includes('\uFFFD')) texts.set(path, text);
  }
  return texts;
}

export const codeOf = (tree: TreeText): Map<string, string> => new Map([...tree].filter(([path]) => isCode(path)));

export const linesOf = (text: string): string[] => {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

export interface TreeSize {
  readonly files: number;
  readonly lines: number;
  /** The longest, most lines first. */
  readonly largest: readonly { readonly path: string; readonly lines: number }[];
}

export function sizeOf(tree: TreeText, largestMax = 5): TreeSize {
  const all = [...tree].map(([path, text]) => ({ path, lines: linesOf(text).length }));
  return {
    files: all.length,
    lines: all.reduce((sum, { lines }) => sum + lines, 0),
    largest: all.toSorted((a, b) => b.lines - a.lines || (a.path < b.path ? -1 : 1)).slice(0, largestMax),
  };
}

/** Lines of `after` that `before` does not have at the same path, as often as they are more. */
export function addedLines(before: TreeText, after: TreeText): number {
  let added = 0;
  for (const [path, text] of after) {
    const old = new Map<string, number>();
    for (const line of linesOf(before.get(path) ?? '')) old.set(line, (old.get(line) ?? 0) + 1);
    for (const line of linesOf(text)) {
      const left = old.get(line) ?? 0;
      if (left > 0) old.set(line, left - 1);
      else added++;
    }
  }
  return added;
}
