import { join } from 'node:path';
import { isMoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { storeDirName } from '../store/store-dir.ts';
import { defaultBranch } from './branch-names.ts';
import { exportGit } from './export.ts';
import { runGit } from './git-command.ts';
import { getTextRecord, headKey } from './git-records.ts';

/** Somebody else's refresh may move the same refs at the same time: then all is asked again. */
const triesMax = 5;

/**
 * The bare git repository beside the store that git is served from, brought up
 * to date. It holds nothing of its own: it may be deleted at any time. Errors:
 * those of `exportGit`.
 */
export async function refreshTwin(repo: Repo): Promise<string> {
  const dir = join(repo.dir, storeDirName, 'git');
  for (let tries = 1; ; tries++) {
    try {
      await exportGit(repo, dir);
      break;
    } catch (error) {
      if (tries === triesMax || !isMoundError(error, 'git-failed')) throw error;
    }
  }
  // A push or an import may have named HEAD's branch since it was made.
  const head = getTextRecord(repo, headKey) ?? defaultBranch;
  await runGit(['symbolic-ref', 'HEAD', `refs/heads/${head}`], { gitDir: dir });
  return dir;
}
