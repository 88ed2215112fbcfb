import type { Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import {
  colocationOf,
  exportColocated,
  exportGit,
  importColocated,
  importGit,
  resolveGitDir,
  trunkRef,
  type ColocatedImport,
  type ExportResult,
  type ImportResult,
} from '../git/index.ts';
import type { Repo } from '../repo/api.ts';
import { Context } from './context.ts';
import { warn, writeJson, writeLine } from './output.ts';
import type { Finish } from './main.ts';

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

/** A whole history passes through once: what is kept of it in memory would not be asked for again. */
const sparing = { contentsBytesMax: 64 * 1024 * 1024 };

/** import, export. */
export function addGitCommands(program: Command, finish: Finish): void {
  program
    .command('import')
    .description('take in the whole history of a git repository; again: what is new')
    .argument('[git-dir]', 'a git directory or a worktree (default: the checkout that the repository was made in)')
    .option('--branch <name>', 'only this branch (may be given again)', collect, [])
    .option('--shallow', 'take a shallow clone as it is: commits at its edge never get their parents')
    .action(async (gitDir: string | undefined, flags: { branch: string[]; shallow?: true }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const { branch: branches, shallow } = flags;
        const options = { ...(branches.length > 0 && { branches }), ...(shallow && { shallow }) };
        const result =
          gitDir === undefined || (await isOwnCheckout(repo, gitDir))
            ? await importColocated(repo, options)
            : { ...(await importGit(repo, gitDir, options)), followed: [] };
        await (context.isJson ? writeJson(jsonOfImport(result)) : writeLine(describeImport(result)));
        warnOfImport(result);
        finish(tellOfFollowed(result));
      }, sparing);
    });

  program
    .command('export')
    .description('write the history out as git; again: what is new')
    .argument('[git-dir]', 'made as a bare repository where there is none (default: as for import)')
    .option('--branch <name>', 'only this branch (default: every branch with a landing, and every tag)')
    .option(
      '--ref <name>',
      "full name of git's ref for that branch (default: refs/heads/ and its name); alone: for main",
    )
    .action(async (gitDir: string | undefined, flags: { branch?: string; ref?: string }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const result = gitDir === undefined ? await exportColocated(repo, flags) : await exportGit(repo, gitDir, flags);
        await (context.isJson ? writeJson(jsonOfExport(result)) : writeLine(describeExport(result)));
        for (const { name, reason, remedy } of result.skips) tell(`${name} was not exported: ${reason}; ${remedy}`);
        finish(result.skips.length > 0 ? exitCodes.other : exitCodes.ok);
      }, sparing);
    });
}

async function isOwnCheckout(repo: Repo, gitDir: string): Promise<boolean> {
  const colocation = await colocationOf(repo).catch(() => undefined);
  return colocation !== undefined && colocation.gitDir === (await resolveGitDir(gitDir));
}

const countedCommits = (count: number): string => (count === 1 ? '1 commit' : `${count} commits`);

export const describeImport = ({ commits, head, seq }: ImportResult): string =>
  `imported ${countedCommits(commits)}${head === undefined ? '' : `; head ${head} is seq ${seq}`}`;

export const jsonOfImport = (result: ColocatedImport): object => ({ ...result, head: result.head ?? null });

/** What became of the branches that stand for `main`, where somebody has to know; the exit code. */
function tellOfFollowed({ followed }: ColocatedImport): number {
  let exitCode: number = exitCodes.ok;
  for (const { branch, followup } of followed) {
    switch (followup.kind) {
      case 'merged':
        tell(`git's ${branch} and main had both moved: merged at ${followup.seq}; 'mound export' brings it to git`);
        break;
      case 'conflicted': {
        const { conflict, paths } = followup;
        tell(
          `git's ${branch} conflicts with main as ${conflict} (${paths.join(', ')}); 'mound conflicts show ${conflict}'`,
        );
        exitCode = exitCodes.kept;
        break;
      }
      case 'parked':
        tell(`git's ${branch} is parked as ${followup.parked}: ${followup.paths.join(', ')} is frozen`);
        exitCode = exitCodes.kept;
        break;
      case 'refused':
      case 'stale': {
        const why = followup.kind === 'stale' ? 'main went on while this ran; import again' : followup.reason;
        tell(`git's ${branch} was not taken: ${why}; or 'git merge ${trunkRef}' there, then 'mound import'`);
        exitCode = exitCodes.rejected;
        break;
      }
      default:
    }
  }
  return exitCode;
}

const describeExport = ({ commits, head }: ExportResult): string =>
  `exported ${countedCommits(commits)}${head === undefined ? '' : `; head ${head}`}`;

const jsonOfExport = (result: ExportResult): object => ({ ...result, head: result.head ?? null });

/** What was taken in otherwise than git has it, or not at all. Nothing of it is lost, so it is no failure. */
export function warnOfImport({ diverged, skippedRefs, flaggedPaths, malformed }: ImportResult): void {
  if (diverged.length > 0) {
    tell(
      `${counted(diverged, 'branch', 'branches')} went another way here than in git; git's is kept beside, ` +
        `under git/heads/ or git/side/: export with '--ref', merge the two in git, and import that`,
    );
  }
  if (skippedRefs.length > 0) {
    tell(
      `${counted(skippedRefs, 'ref', 'refs')} not imported: names that are not UTF-8 or too long, branches at no commit, or broken tags; ` +
        'rename or leave them',
    );
  }
  if (flaggedPaths.length > 0) {
    tell(
      `${counted(flaggedPaths, 'path', 'paths')} kept under a name that no change here may have; ` +
        'rename in git what is still in use',
    );
  }
  if (malformed.length > 0) {
    tell(`${counted(malformed, 'object', 'objects')} that git fsck takes for an error, kept byte for byte`);
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
