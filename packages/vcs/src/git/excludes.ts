import { isMoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { colocationOf } from './colocation.ts';
import { namedFile, ownFile } from './settings-files.ts';

/**
 * What the git checkout that a repository stands in ignores beside its `.gitignore`s: the user's list
 * (`core.excludesFile`), then the checkout's own (`info/exclude`), which counts before it. None where the repository
 * stands in no checkout, or git cannot be asked.
 */
export async function excludesOf(repo: Repo): Promise<Buffer[]> {
  try {
    const colocation = await colocationOf(repo);
    if (colocation === undefined) return [];
    const { gitDir } = colocation;
    const lists = await Promise.all([
      namedFile(gitDir, 'core.excludesFile', 'ignore'),
      ownFile(gitDir, 'info/exclude'),
    ]);
    return lists.filter((list) => list !== undefined);
  } catch (error) {
    if (isMoundError(error)) return [];
    throw error;
  }
}
