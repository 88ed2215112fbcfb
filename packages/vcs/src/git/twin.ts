import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { storeDirName } from '../store/store-dir.ts';
import { defaultBranch } from './branch-names.ts';
import { exportGit } from './export.ts';
import { runGit } from './git-command.ts';
import { getTextRecord, headKey } from './git-records.ts';

/** Somebody else's refresh may move the same refs at the same time: then all is asked again. */
const triesMax = 5;
/** Git holds the lock of a ref for some milliseconds; one that stands for so long was left by a git that was killed. */
const lockMsMax = 2000;

/**
 * The bare git repository beside the store that git is served from, brought up
 * to date. It holds nothing of its own: it may be deleted at any time, and what
 * a killed refresh left of it is. Errors: those of `exportGit`.
 */
export async function refreshTwin(repo: Repo): Promise<string> {
  const dir = join(repo.dir, storeDirName, 'git');
  for (let tries = 1; ; tries++) {
    try {
      await exportGit(repo, dir);
      // A push or an import may have named HEAD's branch since it was made.
      const head = getTextRecord(repo, headKey) ?? defaultBranch;
      await runGit(['symbolic-ref', 'HEAD', `refs/heads/${head}`], { gitDir: dir });
      return dir;
    } catch (error) {
      if (tries === triesMax) throw error;
      if (isMoundError(error, 'not-a-git-repository') || isMoundError(error, 'git-unreadable')) {
        await rm(dir, { recursive: true, force: true });
      } else if (isMoundError(error, 'git-failed')) {
        await outwaitLock(error.message);
      } else throw error;
    }
  }
}

/** Where git was refused a lock: waits until that is gone, and removes one that nobody lets go of. */
async function outwaitLock(message: string): Promise<void> {
  const [, lock] = /Unable to create '(.+\.lock)': File exists/.exec(message) ?? [];
  if (lock === undefined) return;
  const first = await stat(lock).catch(() => undefined);
  for (let waitedMs = 0; waitedMs < lockMsMax; waitedMs += 50) {
    const found = await stat(lock).catch(() => undefined);
    if (found === undefined || found.ino !== first?.ino) return;
    await sleep(50);
  }
  await rm(lock, { force: true });
}
