import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The directory in a repository that is Mound's own. */
export const storeDirName = '.mound';

export const isRepoDir = (dir: string): boolean => existsSync(join(dir, storeDirName, 'store'));

/** The nearest directory at or above `start` that is a repository. */
export function findRepoDir(start: string): string | undefined {
  let dir = resolve(start);
  for (;;) {
    if (isRepoDir(dir)) return dir;
    const parent = join(dir, '..');
    if (parent === dir) return undefined;
    dir = parent;
  }
}
