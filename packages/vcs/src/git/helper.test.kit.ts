import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { identity, temporaryDir } from './git-fixtures.test.kit.ts';

const launcher = fileURLToPath(new URL('../../bin/git-remote-mound.js', import.meta.url));

export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment of a git that has the helper on its PATH under the name that git looks for. */
function helperEnvironment(): NodeJS.ProcessEnv {
  const bin = join(temporaryDir(), 'bin');
  mkdirSync(bin);
  symlinkSync(launcher, join(bin, 'git-remote-mound'));
  return {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    ...identity,
    LC_ALL: 'C',
  };
}

/** The real git, with the helper. */
export function gitWithHelper(): (cwd: string, ...args: string[]) => Said {
  const env = helperEnvironment();
  return (cwd, ...args) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd, env, encoding: 'utf8' });
    return { code: status, stdout, stderr };
  };
}

/** The same, not waited for, and at the head of a process group, so that all of it can be killed at once. */
export function startGitWithHelper(cwd: string, ...args: string[]): ChildProcess {
  return spawn('git', args, { cwd, env: helperEnvironment(), stdio: 'ignore', detached: true });
}
