import type { Command } from 'commander';
import { parseSeqOrCommit } from './compare.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { printOutcome } from './output.ts';

interface UndoFlags {
  readonly message?: string;
  readonly rationale?: string;
  readonly branch?: string;
  readonly operationId?: string;
}

interface RestoreFlags extends UndoFlags {
  readonly at?: number;
  readonly all?: boolean;
}

/** The options that every command has which lands an intent of its own making. */
const withLandingOptions = (command: Command): Command =>
  command
    .option('-m, --message <text>', 'default: says what it does')
    .option('--rationale <text>', 'why')
    .option('--branch <name>', 'default: main')
    .option('--operation-id <id>', 'the same id answers the same again');

/** restore, revert. */
export function addUndoCommands(program: Command, finish: Finish): void {
  withLandingOptions(program.command('restore'))
    .description('land what paths were at a seq')
    .argument('[path...]', 'files or directories')
    .option('--all', 'the whole tree')
    .option('--at <seq>', 'default: before the newest landing', parseCount)
    .action(async (paths: string[], { at, all, ...flags }: RestoreFlags, command: Command) => {
      const context = new Context(command);
      // Nothing named by mistake must not put back everything.
      if ((paths.length === 0) !== (all === true)) command.error('name the paths, or --all for the whole tree');
      await context.withRepo(async (repo) => {
        const newest = repo.log({ limit: 1, ...(flags.branch !== undefined && { branch: flags.branch }) });
        const [last] = [...newest];
        const options = { ...flags, author: context.author(), at: at ?? Math.max(0, (last?.seq ?? 1) - 1) };
        finish(await printOutcome(await repo.restore(paths, options), context.isJson));
      });
    });

  withLandingOptions(program.command('revert'))
    .description('land the opposite of a commit; what came since is merged with')
    .argument('<commit>', 'a commit id or a seq', parseSeqOrCommit)
    .action(async (commit: string | number, flags: UndoFlags, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        finish(await printOutcome(await repo.revert(commit, { ...flags, author: context.author() }), context.isJson));
      });
    });
}
