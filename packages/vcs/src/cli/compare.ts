import type { Command } from 'commander';
import { exitCodes, MoundError } from '../core/errors.ts';
import type { DiffEntry, Repo, Snapshot } from '../repo/api.ts';
import { unifiedDiff, type DiffSide } from '../views/unified.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { writeJson, writeLine, writeOut } from './output.ts';
import { printWorkspaceDiff } from './workspace-work.ts';

interface DiffFlags {
  readonly branch?: string;
  readonly path?: string;
}

function sideOf(snapshot: Snapshot, head: DiffEntry['before']): DiffSide | null {
  const content = head && snapshot.read(head.path);
  return head === undefined || content === undefined ? null : { content, mode: head.mode };
}

/** Writes the difference of two snapshots as a patch, a file at a time. */
export async function writePatch(from: Snapshot, to: Snapshot, entries: readonly DiffEntry[]): Promise<void> {
  for (const { path, before, after } of entries) {
    await writeOut(unifiedDiff(path, sideOf(from, before), sideOf(to, after)));
  }
}

/** Both seqs of a difference: two that are named, one and the newest, or what the newest landing changed. */
function rangeOf(
  repo: Repo,
  a: number | undefined,
  b: number | undefined,
  branch: string | undefined,
): [number, number] {
  const newest = repo.snapshot(undefined, branch).seq;
  if (a !== undefined) return [a, b ?? newest];
  for (const { seq } of repo.log({ limit: 1, ...(branch !== undefined && { branch }) })) return [seq - 1, seq];
  return [newest, newest];
}

/** diff, blame. */
export function addCompareCommands(program: Command, finish: Finish): void {
  program
    .command('diff')
    .description('what differs between two snapshots, as a patch; inside a workspace without a seq: its edits')
    .argument('[a]', 'a seq; default: before the newest landing', parseCount)
    .argument('[b]', 'a seq; default: the newest', parseCount)
    .option('--path <prefix>', 'only below this directory')
    .option('--branch <name>', 'default: main')
    .action(async (a: number | undefined, b: number | undefined, flags: DiffFlags, command: Command) => {
      const context = new Context(command);
      if (a === undefined && context.workspaceDir !== undefined) {
        await context.withWorkspace((directory) => printWorkspaceDiff(context, directory, flags.path));
        return finish(exitCodes.ok);
      }
      await context.withRepo(async (repo) => {
        const [from, to] = rangeOf(repo, a, b, flags.branch);
        const options = {
          ...(flags.branch !== undefined && { branch: flags.branch }),
          ...(flags.path !== undefined && { prefix: flags.path }),
        };
        const changes = repo.diff(from, to, options);
        if (context.isJson) await writeJson({ from, seq: to, changes });
        else await writePatch(repo.snapshot(from, flags.branch), repo.snapshot(to, flags.branch), changes);
        finish(exitCodes.ok);
      });
    });

  program
    .command('blame')
    .description('who wrote each line of a file')
    .argument('<path>')
    .option('--at <seq>', 'default: the newest', parseCount)
    .option('--branch <name>', 'default: main')
    .action(async (path: string, flags: { at?: number; branch?: string }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const lines = repo.blame(path, flags);
        if (context.isJson) {
          const entries = lines.map(({ author, ...line }) => ({
            ...line,
            author: author.name,
            ...(author.agent !== undefined && { agent: author.agent }),
            ...(author.model !== undefined && { model: author.model }),
          }));
          await writeJson({ path, seq: repo.snapshot(flags.at, flags.branch).seq, entries });
        } else {
          for (const { line, text, seq, author, task } of lines) {
            const who = [author.name, author.model, task].filter((word) => word !== undefined).join(' ');
            await writeLine(`${String(seq).padStart(7)} (${who}) ${line}: ${text.replace(/\r?\n$/, '')}`);
          }
        }
        finish(exitCodes.ok);
      });
    });
}

/** A text given where a seq belongs. Errors: `invalid-argument`. */
export function parseSeqOrCommit(text: string): number | string {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new MoundError('invalid-argument', `'${text}' is neither a seq nor a commit id`, { found: text });
}
