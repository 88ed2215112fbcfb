import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isMoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { colocationOf } from './colocation.ts';
import { runGit } from './git-command.ts';

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
    const asked = ['config', '--type=path', '--get', 'core.excludesFile'];
    const [named, own] = await Promise.all([
      runGit(asked, { gitDir, okCodes: [0, 1] }),
      runGit(['rev-parse', '--git-path', 'info/exclude'], { gitDir }),
    ]);
    const files = [named.code === 0 ? lineOf(named.stdout) : usersList(), lineOf(own.stdout)];
    const lists = await Promise.all(files.filter(Boolean).map((file) => contentOf(resolve(file))));
    return lists.filter((list) => list !== undefined);
  } catch (error) {
    if (isMoundError(error)) return [];
    throw error;
  }
}

const lineOf = (output: Buffer): string => output.toString('utf8').replace(/\n$/, '');

/** Where git looks when its settings name no list. */
function usersList(): string {
  const { XDG_CONFIG_HOME: config = '', HOME: home = '' } = process.env;
  if (config !== '') return join(config, 'git/ignore');
  return home === '' ? '' : join(home, '.config/git/ignore');
}

/** A list that cannot be read is none, as in git. */
const contentOf = (file: string): Promise<Buffer | undefined> => readFile(file).catch(() => undefined);
