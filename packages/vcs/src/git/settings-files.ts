import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runGit } from './git-command.ts';

/** A setting's value; undefined where it is not set. `type` is one that `git config` knows. */
export async function settingOf(gitDir: string, name: string, type?: 'bool' | 'path'): Promise<string | undefined> {
  const asked = ['config', ...(type === undefined ? [] : [`--type=${type}`]), '--get', name];
  const { code, stdout } = await runGit(asked, { gitDir, okCodes: [0, 1] });
  return code === 0 ? lineOf(stdout) : undefined;
}

/** The file that a setting names, else the user's of that name, where git looks for it. */
export async function namedFile(gitDir: string, setting: string, usersName: string): Promise<Buffer | undefined> {
  return contentOf((await settingOf(gitDir, setting, 'path')) ?? usersFile(usersName));
}

/** One of the checkout's own. */
export async function ownFile(gitDir: string, path: string): Promise<Buffer | undefined> {
  const { stdout } = await runGit(['rev-parse', '--git-path', path], { gitDir });
  return contentOf(lineOf(stdout));
}

const lineOf = (output: Buffer): string => output.toString('utf8').replace(/\n$/, '');

function usersFile(name: string): string {
  const { XDG_CONFIG_HOME: config = '', HOME: home = '' } = process.env;
  if (config !== '') return join(config, 'git', name);
  return home === '' ? '' : join(home, '.config/git', name);
}

/** One that cannot be read is none, as in git. */
async function contentOf(file: string): Promise<Buffer | undefined> {
  if (file === '') return undefined;
  return readFile(resolve(file)).catch(() => undefined);
}
