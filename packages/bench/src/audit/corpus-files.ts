import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Text files below a directory by their paths with `/`, or one file by its name. */
export async function textFilesBelow(path: string): Promise<Map<string, string>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = new Map<string, string>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const at = join(entry.parentPath, entry.name);
    files.set(relative(path, at), await readFile(at, 'utf8'));
  }
  return new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
