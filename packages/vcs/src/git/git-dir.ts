import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MoundError } from '../core/errors.ts';
import { runGit } from './git-command.ts';

const kindOf = async (path: string): Promise<'file' | 'directory' | undefined> => {
  try {
    const found = await stat(path);
    return found.isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
};

async function isGitDir(dir: string): Promise<boolean> {
  if ((await kindOf(join(dir, 'HEAD'))) !== 'file') return false;
  // A linked worktree's directory has no objects of its own but names the common one.
  return (await kindOf(join(dir, 'objects'))) === 'directory' || (await kindOf(join(dir, 'commondir'))) === 'file';
}

/**
 * The git directory that `dir` is or, as a worktree, holds. Nothing above `dir`
 * is looked at. Errors: `not-a-git-repository`.
 */
export async function resolveGitDir(dir: string): Promise<string> {
  const asked = resolve(dir);
  const inside = join(asked, '.git');
  const insideKind = await kindOf(inside);
  const candidates = [asked];
  if (insideKind === 'directory') candidates.unshift(inside);
  if (insideKind === 'file') {
    const match = /^gitdir: (.+?)\s*$/.exec(await readFile(inside, 'utf8'));
    if (match?.[1] !== undefined) candidates.unshift(resolve(asked, match[1]));
  }
  for (const candidate of candidates) {
    if (await isGitDir(candidate)) {
      await requireSha1(candidate);
      return candidate;
    }
  }
  throw new MoundError('not-a-git-repository', `'${dir}' is no git repository: give the directory of one`, {
    path: dir,
  });
}

async function requireSha1(gitDir: string): Promise<void> {
  const { stdout } = await runGit(['rev-parse', '--show-object-format'], { gitDir });
  const format = stdout.toString('utf8').trim();
  if (format !== 'sha1') {
    throw new MoundError('git-unreadable', `'${gitDir}' has ${format} object ids; only sha1 is supported`, { format });
  }
}

/** The same for a place to export to: a bare repository is made where there is nothing yet. */
export async function resolveOrInitGitDir(dir: string, headBranch: string): Promise<string> {
  const kind = await kindOf(dir);
  const isEmpty = kind === undefined || (kind === 'directory' && (await readdir(dir)).length === 0);
  if (isEmpty) {
    // An empty template: no sample hooks, nothing of the user's own templates.
    await runGit(['init', '--quiet', '--bare', '--template=', `--initial-branch=${headBranch}`, resolve(dir)]);
  }
  return resolveGitDir(dir);
}
