import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { FileChange } from '../../workloads/operation.ts';

/** Makes a change in a checkout, as an editor would. */
export async function changeWorkTree(dir: string, change: FileChange): Promise<void> {
  const file = join(dir, change.path);
  const { content } = change;
  if (content === null) return rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true });
  if (change.mode === 'symlink') {
    await rm(file, { force: true });
    return symlink(content, file);
  }
  const options = { mode: change.mode === 'executable' ? 0o755 : 0o644 };
  await writeFile(file, content, options).catch(async (error: NodeJS.ErrnoException) => {
    // A directory whose files were all deleted leaves itself behind.
    if (error.code !== 'EISDIR') throw error;
    await rm(file, { recursive: true });
    await writeFile(file, content, options);
  });
}
