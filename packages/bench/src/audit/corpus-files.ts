import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Text files by their paths; each is read when it comes up, since a corpus may be larger than memory. */
export type TextFiles = Iterable<readonly [path: string, text: string]>;

/** Files below a directory, in the order of their paths with `/`. It can be gone through again. */
export function textFilesBelow(dir: string): TextFiles {
  const paths = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
    .toSorted((a, b) => (a < b ? -1 : 1));
  return {
    *[Symbol.iterator]() {
      for (const path of paths) yield [path, readFileSync(join(dir, path), 'utf8')] as const;
    },
  };
}
