import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeDirName } from '../store/store-dir.ts';
import { isIgnored, parseIgnoreFile, type IgnoreFile } from './ignore-rules.ts';

export interface DiskFile {
  /** Below the directory, with `/` between its segments. */
  readonly path: string;
  readonly content: Buffer;
}

/** Directories that hold nobody's own source, whatever is ignored. */
const foreign = new Set(['.git', storeDirName, 'node_modules']);
/** Larger files are no source that anybody reads. */
const fileBytesMax = 16 * 1024 * 1024;

/** The files of any directory that its `.gitignore`s leave, in byte order of their names; symlinks are not followed. */
export function* diskFiles(root: string, prefix = '', above: readonly IgnoreFile[] = []): Generator<DiskFile> {
  const entries = readdirSync(join(root, prefix), { withFileTypes: true });
  const isIgnoring = entries.some((entry) => entry.name === '.gitignore' && entry.isFile());
  const ignores = isIgnoring
    ? [...above, parseIgnoreFile(readFileSync(join(root, prefix, '.gitignore')), prefix)]
    : above;
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) {
      if (!foreign.has(entry.name) && !isIgnored(ignores, path, true)) yield* diskFiles(root, `${path}/`, ignores);
    } else if (entry.isFile() && !isIgnored(ignores, path, false)) {
      const file = join(root, path);
      if (lstatSync(file).size <= fileBytesMax) yield { path, content: readFileSync(file) };
    }
  }
}
