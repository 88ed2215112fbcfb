import { InvalidArgumentError, type Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import {
  addWorkspace,
  pruneWorkspaces,
  recoverWorkspaces,
  removeWorkspace,
  workspaceNameOf,
  type PruneReport,
} from '../workspace/index.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { writeJson, writeLine } from './output.ts';

interface AddFlags {
  readonly name?: string;
  readonly at?: number;
  readonly branch?: string;
  readonly sparse?: readonly string[];
  readonly links?: true;
}

interface PruneFlags {
  readonly idle: number;
  readonly keep: number;
  readonly dryRun?: true;
}

function parseHours(text: string): number {
  const hours = Number(text);
  if (text.trim() === '' || !Number.isFinite(hours) || hours < 0)
    throw new InvalidArgumentError('not a number of hours.');
  return hours;
}

async function sayPruned({ dryRun, removed, kept, files }: PruneReport): Promise<void> {
  for (const { workspace, dir, usedAt } of removed) {
    const used = new Date(usedAt).toISOString().slice(0, 16);
    await writeLine(`${dryRun ? 'would remove' : 'removed'} ${workspace}  ${dir ?? '(no files)'}  last used ${used}Z`);
  }
  const counts = new Map<string, number>();
  for (const { why } of kept) counts.set(why, (counts.get(why) ?? 0) + 1);
  const said = [...counts].map(([why, count]) => `${count} ${why}`).join(', ');
  await writeLine(
    `${removed.length} ${dryRun ? 'would go' : 'gone'}, ${kept.length} stay${said === '' ? '' : ` (${said})`}`,
  );
  if (files.removed > 0) await writeLine(`${files.removed} files that no workspace links, ${files.bytes} bytes`);
}

/** workspace add, list, remove, prune, resolve, discard. */
export function addWorkspaceCommand(program: Command, finish: Finish): void {
  const group = program.command('workspace').description("an agent's files on disk, on a snapshot of its own");

  group
    .command('add')
    .description('make a workspace in an empty or new directory')
    .argument('<dir>')
    .option('--name <name>', "default: the directory's own name")
    .option('--at <seq>', 'default: the newest', parseCount)
    .option('--branch <name>', 'default: main')
    .option('--sparse <glob...>', 'only these paths, as in a .gitignore')
    .option('--links', 'hard links to files that all such workspaces share; see the guide first')
    .action(async (dir: string, flags: AddFlags, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const lineEnds = await context.lineEndsFor(repo);
        const {
          name: workspace,
          directory,
          ...added
        } = await addWorkspace(repo, dir, {
          ...flags,
          ...(lineEnds !== undefined && { lineEnds }),
        });
        await context.hideFromCheckout(repo, directory.dir);
        if (context.isJson) await writeJson({ workspace, dir: directory.dir, ...added });
        else {
          const linked = flags.links === true ? `, ${added.linked} of them linked` : '';
          const cloned = added.cloned > 0 ? `, ${added.cloned} of them cloned` : '';
          await writeLine(
            `workspace ${workspace} in ${directory.dir}: ${added.files} files as of seq ${added.seq}${linked}${cloned}`,
          );
          for (const { path, reason } of added.skipped) await writeLine(`not written: ${path} ${reason}`);
          for (const paths of added.collisions) {
            await writeLine(`one path where case does not count: ${paths.join(', ')}`);
          }
        }
        finish(exitCodes.ok);
      });
    });

  group
    .command('list')
    .description('every workspace of the repository')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        await recoverWorkspaces(repo);
        const views = repo.workspaces.list().map(({ name: workspace, ...view }) => ({ workspace, ...view }));
        if (context.isJson) await writeJson({ workspaces: views });
        else {
          for (const { workspace, seq, dir, edits, conflicts } of views) {
            const said = [`${edits} shelved edits`, ...(conflicts > 0 ? [`${conflicts} in conflict`] : [])].join(', ');
            await writeLine(`${workspace}  seq ${seq}  ${dir ?? '(no files)'}  ${said}`);
          }
        }
        finish(exitCodes.ok);
      });
    });

  group
    .command('remove')
    .description('remove a workspace and its directory; refused while it has unpublished work')
    .argument('<workspace>', 'its name or directory')
    .option('--force-discard <name>', 'with its unpublished work, which is lost; the name once more')
    .action(async (nameOrDir: string, { forceDiscard }: { forceDiscard?: string }, command: Command) => {
      const context = new Context(command);
      const name = workspaceNameOf(nameOrDir);
      await context.withRepo(async (repo) => {
        const excludes = await context.excludesFor(repo);
        await removeWorkspace(repo, name, { excludes, ...(forceDiscard !== undefined && { discard: forceDiscard }) });
        await (context.isJson ? writeJson({ workspace: name, removed: true }) : writeLine(`removed workspace ${name}`));
        finish(exitCodes.ok);
      });
    });

  group
    .command('prune')
    .description('remove workspaces that nobody uses, longest idle first; none with unpublished work')
    .option('--idle <hours>', 'unused for so long', parseHours, 24)
    .option('--keep <n>', 'so many stay in any case, those last used', parseCount, 0)
    .option('--dry-run', 'only say what would go')
    .action(async ({ idle, keep, dryRun }: PruneFlags, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const excludes = await context.excludesFor(repo);
        const report = await pruneWorkspaces(repo, {
          idleMs: idle * 3_600_000,
          keep,
          dryRun: dryRun === true,
          excludes,
        });
        if (context.isJson) await writeJson(report);
        else await sayPruned(report);
        finish(exitCodes.ok);
      });
    });

  group
    .command('resolve')
    .description('what these files hold now is the merge of both sides of their local conflicts')
    .argument('<path...>')
    .action(async (paths: string[], _flags: object, command: Command) => {
      const context = new Context(command);
      await context.withWorkspace(async (directory) => {
        for (const path of paths) await directory.resolve(context.pathIn(directory, path));
        const { workspace, seq, changes } = await directory.status();
        if (context.isJson) await writeJson({ workspace, seq, changes });
        else await writeLine(`resolved ${paths.join(', ')}`);
        finish(exitCodes.ok);
      });
    });

  group
    .command('discard')
    .description('take back the edits of files, or of all below directories')
    .argument('<path...>')
    .action(async (paths: string[], _flags: object, command: Command) => {
      const context = new Context(command);
      await context.withWorkspace(async (directory) => {
        const discarded = await directory.discard(paths.map((path) => context.pathIn(directory, path)));
        if (context.isJson) await writeJson({ workspace: directory.workspace.name, discarded });
        else await writeLine(`took back the edits of ${discarded.length} paths`);
        finish(exitCodes.ok);
      });
    });
}
