import { MoundError } from '../core/errors.ts';
import { runGit } from './git-command.ts';

/** The branches that worktrees of a repository have checked out, as full ref names, each with the worktree's path. */
export async function listCheckedOut(gitDir: string): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await runGit(['worktree', 'list', '--porcelain'], { gitDir });
  const found = new Map<string, string>();
  let path = '';
  for (const line of stdout.toString('utf8').split('\n')) {
    if (line.startsWith('worktree ')) path = line.slice('worktree '.length);
    // Also a branch without a commit: the worktree's index is empty and a commit would delete every file.
    if (line.startsWith('branch ')) found.set(line.slice('branch '.length), path);
  }
  return found;
}

/**
 * Like `git push`: a branch that is checked out is not moved under its
 * worktree, whose next commit would take the move for deletions and revert it.
 * Errors: `git-failed`.
 */
export async function refuseCheckedOut(gitDir: string, moving: readonly string[]): Promise<void> {
  const checkedOut = await listCheckedOut(gitDir);
  const refused = moving.filter((name) => checkedOut.has(name));
  if (refused.length === 0) return;
  const where = refused.map(
    (name) => `branch '${name.replace('refs/heads/', '')}' is checked out in '${checkedOut.get(name) ?? ''}'`,
  );
  throw new MoundError(
    'git-failed',
    `${where.join(', ')}: nothing was exported, since the next commit there would undo it; ` +
      "export to a bare repository, to another '--ref', or check out another branch there",
    { refs: refused },
  );
}
