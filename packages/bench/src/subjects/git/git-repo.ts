import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startCommand, type RunningCommand } from '../../harness/child-process.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { gitVersion } from '../../harness/machine.ts';

export interface GitCall {
  readonly input?: Uint8Array | string;
  readonly env?: NodeJS.ProcessEnv;
}

/** In which git does not hear the user's configuration, nor any that lies above a directory of ours. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_AUTHOR_NAME: 'bench',
    GIT_AUTHOR_EMAIL: 'bench@mound.invalid',
    GIT_COMMITTER_NAME: 'bench',
    GIT_COMMITTER_EMAIL: 'bench@mound.invalid',
  };
}

/** A git repository for measuring: flushed, without background work, deaf to the user's configuration. */
export class GitRepo {
  readonly dir: string;
  readonly gitDir: string;
  readonly signal: AbortSignal;
  readonly #env: NodeJS.ProcessEnv;
  readonly #host: CommandHost;

  constructor(dir: string, bare: boolean, signal: AbortSignal) {
    this.dir = dir;
    this.gitDir = bare ? dir : join(dir, '.git');
    this.signal = signal;
    this.#env = gitEnvironment();
    this.#host = new CommandHost({ cwd: dir, env: this.#env, signal });
  }

  run(args: readonly string[], call: GitCall = {}): Promise<Buffer> {
    return this.#host.run('git', [`--git-dir=${this.gitDir}`, ...this.#workTree(), ...args], call);
  }

  async text(args: readonly string[], call: GitCall = {}): Promise<string> {
    return (await this.run(args, call)).toString('utf8').trim();
  }

  /** For one long command; see {@link CommandHost} on why not for many short ones. */
  start(args: readonly string[]): RunningCommand {
    const options = { cwd: this.dir, env: this.#env, signal: this.signal };
    return startCommand('git', [`--git-dir=${this.gitDir}`, ...args], options);
  }

  close(): Promise<void> {
    return this.#host.close();
  }

  #workTree(): string[] {
    return this.gitDir === this.dir ? [] : [`--work-tree=${this.dir}`];
  }
}

/** From this version on `core.fsync` says what is flushed; before, only loose objects could be. */
const fsyncConfigSince = [2, 36] as const;

function knowsFsyncConfig(found: string): boolean {
  const [major = 0, minor = 0] = found.split('.').map(Number);
  return major > fsyncConfigSince[0] || (major === fsyncConfigSince[0] && minor >= fsyncConfigSince[1]);
}

/** An empty repository whose objects, index and refs are flushed before git answers. */
export async function initGitRepo(dir: string, bare: boolean, signal: AbortSignal): Promise<GitRepo> {
  const repo = new GitRepo(dir, bare, signal);
  try {
    await repo.run(['init', '--quiet', ...(bare ? ['--bare'] : []), dir]);
    await repo.run(['symbolic-ref', 'HEAD', 'refs/heads/main']);
    const flush = knowsFsyncConfig((await gitVersion()) ?? '0') ? 'core.fsync=all' : 'core.fsyncObjectFiles=true';
    for (const setting of [flush, 'gc.auto=0', 'maintenance.auto=false', 'commit.gpgSign=false']) {
      await repo.run(['config', ...setting.split('=')]);
    }
    // Whatever .gitattributes the commits bring: bytes stay as they are, and no filter runs.
    await mkdir(join(repo.gitDir, 'info'), { recursive: true });
    await writeFile(join(repo.gitDir, 'info', 'attributes'), '* -text -filter -ident\n');
    return repo;
  } catch (error) {
    await repo.close();
    throw error;
  }
}

/** For `available()` of every subject that needs git. */
export const gitIsAvailable = async (): Promise<true | { readonly missing: string }> =>
  (await gitVersion()) === undefined ? { missing: 'git' } : true;
