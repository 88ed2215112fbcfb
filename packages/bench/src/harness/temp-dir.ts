import { rmSync } from 'node:fs';
import { mkdtemp, readdir, lstat, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const open = new Set<string>();

/** Removes at once whatever is left; for a second Ctrl-C, when nobody waits for promises any more. */
export function removeTempDirsNow(): void {
  for (const dir of open) rmSync(dir, { recursive: true, force: true });
  open.clear();
}

/** A fresh directory under `parent` (default: the system's), removed after `use`, whatever happens. */
export async function withTempDir<Result>(
  parent: string | undefined,
  use: (dir: string) => Promise<Result>,
): Promise<Result> {
  const base = parent ?? tmpdir();
  const dir = await mkdtemp(join(base, 'mound-bench-')).catch((error: NodeJS.ErrnoException) => {
    // The name that was made up tells a person nothing.
    throw Object.assign(error, { path: base });
  });
  open.add(dir);
  try {
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    open.delete(dir);
  }
}

/** Bytes that the directory's files occupy on disk: allocated blocks, so that a sparse file counts as what it is. */
export async function diskBytesOf(dir: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    // A store may drop a file while we look; it then occupies nothing.
    const found = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += (found?.blocks ?? 0) * 512;
  }
  return bytes;
}

/** From statfs(2): file systems in memory, where a flush costs nothing and proves nothing. */
const memoryFileSystems = new Set([0x01021994, 0x858458f6]);

export async function isInMemory(dir: string): Promise<boolean> {
  return memoryFileSystems.has((await statfs(dir)).type);
}
