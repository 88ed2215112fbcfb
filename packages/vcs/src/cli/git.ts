import type { Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import { exportGit, importGit, type ExportResult, type ImportResult } from '../git/index.ts';
import { Context } from './context.ts';
import { warn, writeJson, writeLine } from './output.ts';
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
        const { commits, head, seq } = result;
        const at = head === undefined ? '' : `; head ${head} is seq ${seq}`;
        await (context.isJson
          ? writeJson({ ...result, head: head ?? null })
          : writeLine(`imported ${commits} commits${at}`));
        warnOfImport(result);
        finish(exitCodes.ok);
      });
    });

  program
    .command('export')
    .description('write the history out as git; again: what is new')
    .argument('<git-dir>', 'made as a bare repository where there is none')
    .option('--branch <name>', 'only this branch (default: every branch with a landing, and every tag)')
    .option(
      '--ref <name>',
      "full name of git's ref for that branch (default: refs/heads/ and its name); alone: for main",
    )
    .action(async (gitDir: string, flags: { branch?: string; ref?: string }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const result = await exportGit(repo, gitDir, flags);
        await (context.isJson ? writeJson(jsonOfExport(result)) : writeLine(describeExport(result)));
        for (const { name, reason, remedy } of result.skips) tell(`${name} was not exported: ${reason}; ${remedy}`);
        finish(result.skips.length > 0 ? exitCodes.other : exitCodes.ok);
      });
    });
}

const describeExport = ({ commits, head }: ExportResult): string =>
  `exported ${commits} commits${head === undefined ? '' : `; head ${head}`}`;

const jsonOfExport = (result: ExportResult): object => ({ ...result, head: result.head ?? null });

/** What was taken in otherwise than git has it, or not at all. Nothing of it is lost, so it is no failure. */
function warnOfImport({ diverged, skippedRefs, flaggedPaths }: ImportResult): void {
  if (diverged.length > 0) {
    tell(
      `${counted(diverged, 'branch', 'branches')} went another way here than in git; git's is kept beside, ` +
        `under git/heads/ or git/side/: export with '--ref', merge the two in git, and import that`,
    );
  }
  if (skippedRefs.length > 0) {
    tell(
      `${counted(skippedRefs, 'ref', 'refs')} not imported: names that are not UTF-8 or too long, or tags of trees; ` +
        'rename or leave them',
    );
  }
  if (flaggedPaths.length > 0) {
    tell(
      `${counted(flaggedPaths, 'path', 'paths')} kept under a name that no change here may have; ` +
        'rename in git what is still in use',
    );
  }
}

/** `5 refs (a, b, c, …)` */
function counted(names: readonly string[], one: string, many: string): string {
  const first = names.slice(0, 3).join(', ');
  return `${names.length} ${names.length === 1 ? one : many} (${first}${names.length > 3 ? ', …' : ''})`;
}

/** One line, whatever a name from git holds. */
function tell(line: string): void {
  // oxlint-disable-next-line no-control-regex
  warn(line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (char) => JSON.stringify(char).slice(1, -1)));
}
