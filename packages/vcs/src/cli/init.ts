import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import { checkColocation, colocate, hideFromGit, isCheckout } from '../git/index.ts';
import { initRepo } from '../repo/open.ts';
import { isRepoDir, storeDirName } from '../store/store-dir.ts';
import { Context } from './context.ts';
import { describeImport, jsonOfImport, warnOfImport } from './git.ts';
import type { Finish } from './main.ts';
import { writeJson, writeLine } from './output.ts';

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
      await (flags.git && (await isCheckout(dir)) ? initColocated(dir, flags, context) : initPlain(dir, context));
      finish(exitCodes.ok);
    });
}

async function initPlain(dir: string, context: Context): Promise<void> {
  const repo = await initRepo(dir);
  const { dir: home, formatVersion } = repo;
  await repo.close();
  await (context.isJson ? writeJson({ repo: home, formatVersion }) : writeLine(`made a repository in ${home}`));
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
