import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import { checkColocation, checkoutAbove, colocate, hideFromGit, isCheckout } from '../git/index.ts';
import { initRepo } from '../repo/open.ts';
import { isRepoDir, storeDirName } from '../store/store-dir.ts';
import { Context } from './context.ts';
import { describeImport, jsonOfImport, warnOfImport } from './git.ts';
import type { Finish } from './main.ts';
import { warn, writeJson, writeLine } from './output.ts';

interface InitFlags {
  /** False: as if there were no git. */
  readonly git: boolean;
  readonly gitBranch: string;
  readonly shallow?: true;
}

/** init. */
export function addInitCommand(program: Command, finish: Finish): void {
  program
    .command('init')
    .description('create a repository; in a git checkout, take its history in and stay in step with it')
    .argument('[dir]', 'default: here')
    .option('--git-branch <name>', "in a git checkout: git's branch for what lands on main", 'mound')
    .option('--shallow', 'take a shallow clone as it is (see import)')
    .option('--no-git', 'leave a git checkout alone')
    .action(async (named: string | undefined, flags: InitFlags, command: Command) => {
      const context = new Context(command);
      const dir = resolve(named ?? context.options.repo ?? process.cwd());
      const isTop = flags.git && (await isCheckout(dir));
      await (isTop ? initColocated(dir, flags, context) : initPlain(dir, context));
      if (flags.git && !isTop) await tellOfGitAround(dir);
      finish(exitCodes.ok);
    });
}

async function initPlain(dir: string, context: Context): Promise<void> {
  const repo = await initRepo(dir);
  const { dir: home, formatVersion } = repo;
  await repo.close();
  await (context.isJson ? writeJson({ repo: home, formatVersion }) : writeLine(`made a repository in ${home}`));
}

/** A repository in a git checkout, but not at its top, has nothing to do with it; git must not take it for files. */
async function tellOfGitAround(dir: string): Promise<void> {
  const top = await checkoutAbove(dir);
  if (top === undefined) return;
  // A broken checkout is nobody's here.
  await hideFromGit(top, join(dir, storeDirName)).catch(() => undefined);
  warn(`it has nothing to do with the git checkout in ${top} that it lies in; 'mound init ${top}' takes that in`);
}

/** All that can be refused is refused before anything is made; what fails then leaves no repository behind. */
async function initColocated(dir: string, { gitBranch, shallow }: InitFlags, context: Context): Promise<void> {
  if (!isRepoDir(dir)) await checkColocation(dir, gitBranch);
  const repo = await initRepo(dir);
  try {
    await hideFromGit(dir);
    const result = await colocate(repo, gitBranch, { ...(shallow && { shallow }) });
    const { dir: home, formatVersion } = repo;
    await (context.isJson
      ? writeJson({ repo: home, formatVersion, gitBranch, ...jsonOfImport(result) })
      : writeLine(
          `made a repository in ${home}; ${describeImport(result)}; exports go to git's branch '${gitBranch}'`,
        ));
    warnOfImport(result);
  } catch (error) {
    await repo.close();
    await rm(join(dir, storeDirName), { recursive: true, force: true });
    throw error;
  }
  await repo.close();
}
