import type { Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import { exportGit, importGit } from '../git/index.ts';
import { Context } from './context.ts';
import { writeJson, writeLine } from './output.ts';
import type { Finish } from './main.ts';

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

/** import, export. */
export function addGitCommands(program: Command, finish: Finish): void {
  program
    .command('import')
    .description('take in the whole history of a git repository; again: what is new')
    .argument('<git-dir>', 'a git directory or a worktree')
    .option('--branch <name>', 'only this branch (may be given again)', collect, [])
    .action(async (gitDir: string, flags: { branch: string[] }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const result = await importGit(repo, gitDir, flags.branch.length > 0 ? { branches: flags.branch } : {});
        await (context.isJson
          ? writeJson(result)
          : writeLine(`imported ${result.commits} commits; head ${result.head} is seq ${result.seq}`));
        finish(exitCodes.ok);
      });
    });

  program
    .command('export')
    .description('write the history out as git; again: what is new')
    .argument('<git-dir>', 'made as a bare repository where there is none')
    .option('--branch <name>', 'default: main')
    .action(async (gitDir: string, flags: { branch?: string }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const result = await exportGit(repo, gitDir, flags);
        await (context.isJson
          ? writeJson(result)
          : writeLine(`exported ${result.commits} commits; head ${result.head}`));
        finish(exitCodes.ok);
      });
    });
}
