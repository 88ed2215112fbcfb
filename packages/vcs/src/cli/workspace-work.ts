import { Option, type Command } from 'commander';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { breakageOf, type Breakage } from '../breakage/index.ts';
import { exitCodes } from '../core/errors.ts';
import { withBreakageComment } from '../repo/breakage-comment.ts';
import type { SyncReport, WorkspaceChange } from '../repo/workspace-api.ts';
import { unifiedDiff } from '../views/unified.ts';
import type { DirectoryStatus, WorkspaceDirectory } from '../workspace/index.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { printOutcome, writeJson, writeLine, writeOut } from './output.ts';

interface CommitFlags {
  readonly message: string;
  readonly rationale?: string;
  readonly task?: string;
  readonly breakage?: string;
  readonly operationId?: string;
  readonly onStale?: 'merge' | 'reject';
}

function describeChange({ path, kind, movedFrom, conflict, kept }: WorkspaceChange): string {
  const from = movedFrom === undefined ? '' : ` (from ${movedFrom})`;
  const held = kept === undefined ? '' : ` (kept as ${kept})`;
  return `${conflict === undefined ? kind : `conflict (${conflict})`} ${path}${from}${held}`;
}

async function printStatus({ workspace, seq, changes, refused }: DirectoryStatus): Promise<void> {
  await writeLine(`workspace ${workspace} on seq ${seq}${changes.length === 0 ? ': nothing changed' : ''}`);
  for (const change of changes) await writeLine(`  ${describeChange(change)}`);
  for (const { path, reason } of refused) await writeLine(`  not taken: ${path} ${reason}`);
}

/** Every path that a sync touched, by what it did. */
const syncChanges = ({ updated, merged, conflicts, heldBack }: SyncReport): { path: string; kind: string }[] =>
  (
    [
      [updated, 'updated'],
      [merged, 'merged'],
      [conflicts, 'conflict'],
      [heldBack, 'held-back'],
    ] as const
  ).flatMap(([paths, kind]) => paths.map((path) => ({ path, kind })));

/** The differences of a workspace's files from what they were made on, as a patch. */
export async function printWorkspaceDiff(
  context: Context,
  directory: WorkspaceDirectory,
  prefix: string | undefined,
): Promise<void> {
  const chosen = prefix === undefined ? undefined : context.pathIn(directory, prefix);
  const isChosen = (path: string): boolean =>
    chosen === undefined || chosen === '.' || path === chosen || path.startsWith(`${chosen}/`);
  const changes = (await directory.changes()).filter(({ path }) => isChosen(path));
  if (context.isJson) {
    const views = changes.map(({ before, after, ...change }) => ({
      ...change,
      sizeBefore: before?.content.length ?? null,
      sizeAfter: after?.content.length ?? null,
    }));
    await writeJson({ workspace: directory.workspace.name, seq: directory.workspace.seq, changes: views });
    return;
  }
  for (const { path, before, after } of changes) await writeOut(unifiedDiff(path, before ?? null, after ?? null));
}

/** Writes the comments that tell of a breakage into the files that are about to land. */
async function noteBreakage(
  directory: WorkspaceDirectory,
  breakage: Breakage,
  paths: readonly string[] = ['.'],
): Promise<void> {
  const isNamed = (path: string): boolean =>
    paths.some((one) => one === '.' || one === path || path.startsWith(`${one}/`));
  for (const { path, before, after, conflict } of await directory.changes()) {
    // One that is in conflict is not committed, and its file may be another workspace's, too.
    if (
      after === undefined ||
      conflict !== undefined ||
      after.mode === 'symlink' ||
      after.mode === 'gitlink' ||
      !isNamed(path)
    )
      continue;
    const file = join(directory.dir, path);
    const bytes = readFileSync(file);
    const text = bytes.toString('utf8');
    if (bytes.includes(0) || !Buffer.from(text).equals(bytes)) continue;
    const noted = withBreakageComment(path, before?.content.toString('utf8'), text, breakage);
    if (noted !== text) writeFileSync(file, noted);
  }
}

/** status, sync, commit, shelve: inside a workspace. */
export function addWorkspaceWorkCommands(program: Command, finish: Finish): void {
  for (const [name, description] of [
    ['status', 'inside a workspace: what changed'],
    ['shelve', 'inside a workspace: make edits durable in the store, without landing them'],
  ] as const) {
    program
      .command(name)
      .description(description)
      .action(async (_flags: object, command: Command) => {
        const context = new Context(command);
        await context.withWorkspace(async (directory) => {
          const status = await directory[name]();
          await (context.isJson ? writeJson(status) : printStatus(status));
          finish(exitCodes.ok);
        });
      });
  }

  program
    .command('sync')
    .description('inside a workspace: bring it to the newest, edits merged')
    .option('--to <seq>', 'default: the newest', parseCount)
    .action(async (flags: { to?: number }, command: Command) => {
      const context = new Context(command);
      await context.withWorkspace(async (directory) => {
        const report = await directory.sync(flags);
        const changes = syncChanges(report);
        const { from, seq, conflicts, heldBack, skipped } = report;
        if (context.isJson) await writeJson({ workspace: directory.workspace.name, from, seq, changes, skipped });
        else {
          await writeLine(`from seq ${from} to ${seq}${changes.length === 0 ? ': nothing changed' : ''}`);
          for (const { path, kind } of changes) await writeLine(`  ${kind} ${path}`);
          for (const { path, reason } of skipped) await writeLine(`not written: ${path} ${reason}`);
        }
        finish(conflicts.length + heldBack.length > 0 ? exitCodes.kept : exitCodes.ok);
      });
    });

  program
    .command('commit')
    .description('inside a workspace: land its edits, or those of named paths, as one intent')
    .argument('[path...]', 'files or directories; default: every edit')
    .requiredOption('-m, --message <text>', 'what the change is for')
    .option('--rationale <text>', 'why')
    .option('--task <id>', 'the task that it belongs to')
    .option('--breakage <text>', 'why it has to break what others rely on; comments in the files say so, too')
    .option('--operation-id <id>', 'the same id answers the same again')
    .addOption(new Option('--on-stale <policy>', 'when a path changed meanwhile').choices(['merge', 'reject']))
    .action(async (paths: string[], flags: CommitFlags, command: Command) => {
      const context = new Context(command);
      await context.withWorkspace(async (directory) => {
        const named = paths.length === 0 ? {} : { paths: paths.map((path) => context.pathIn(directory, path)) };
        const author = context.author();
        if (flags.breakage !== undefined) {
          await noteBreakage(directory, breakageOf(flags.breakage, author, flags.task), named.paths);
        }
        const outcome = await directory.commit({ author, ...flags, ...named });
        finish(await printOutcome(outcome, context.isJson));
      });
    });
}
