import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SourceLine } from '../breakage/index.ts';
import { exitCodes } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import type { ExplainedBreakage } from '../repo/decision-api.ts';
import { sourceLinesOf } from '../repo/breakages.ts';
import { readMarker } from '../workspace/index.ts';
import { Context, parseCount, readStdin } from './context.ts';
import type { Finish } from './main.ts';
import { writeJson, writeLine } from './output.ts';

interface ExplainFlags {
  readonly at?: number;
  readonly branch?: string;
}

/** Lines of files on disk, as the tool has just read them; else those of the snapshot. */
function sourceLine(repo: Repo, at: number | undefined, branch: string | undefined): SourceLine {
  const files = new Map<string, readonly string[]>();
  const stored = sourceLinesOf(repo.snapshot(at, branch));
  return (path, line) => {
    let lines = files.get(path);
    if (lines === undefined) {
      try {
        lines = readFileSync(resolve(path), 'utf8').split(/\r?\n/);
      } catch {
        lines = [];
      }
      files.set(path, lines);
    }
    return lines[line - 1] ?? stored(path, line);
  };
}

/** Inside a workspace, what it stands on: later breakages are not in its files. */
function baseOf(repo: Repo, { workspaceDir, options }: Context): ExplainFlags {
  if (workspaceDir === undefined || options.repo !== undefined) return {};
  const { workspace } = readMarker(workspaceDir);
  const found = repo.workspaces.list().find(({ name }) => name === workspace);
  return found === undefined ? {} : { at: found.seq, branch: found.branch };
}

async function print({ id, seq, author, task, rationale, paths, symbols, matches }: ExplainedBreakage): Promise<void> {
  const whose = task === undefined ? '' : `, task ${task}`;
  await writeLine(`breakage ${id} at seq ${seq} by ${author.agent ?? author.name}${whose}: ${rationale}`);
  await writeLine(`  changed ${paths.join(', ')}${symbols.length > 0 ? `; names ${symbols.join(', ')}` : ''}`);
  for (const { path, line, code, message, by } of matches) {
    await writeLine(`  ${path}:${line}: ${code === undefined ? '' : `${code} `}${message} (by ${by.join(', ')})`);
  }
}

export function addExplainCommand(program: Command, finish: Finish): void {
  program
    .command('explain')
    .description('what a compiler, linter or interpreter printed on standard input: which breakages explain it')
    .option('--at <seq>', 'as of a seq; default: the newest, inside a workspace what it stands on', parseCount)
    .option('--branch <name>', 'default: main')
    .action(async (flags: ExplainFlags, command: Command) => {
      const context = new Context(command);
      const output = (await readStdin()).toString('utf8');
      await context.withReadRepo(async (repo) => {
        const options = { ...baseOf(repo, context), ...flags };
        const { at, branch } = options;
        const { diagnostics, breakages } = repo.explain(output, {
          ...options,
          sourceLine: sourceLine(repo, at, branch),
        });
        if (context.isJson) await writeJson({ diagnostics: diagnostics.length, breakages });
        else if (diagnostics.length === 0) await writeLine('nothing in it is an error of a compiler that is known');
        else if (breakages.length === 0) {
          await writeLine(`no breakage explains these ${diagnostics.length} errors`);
        } else for (const breakage of breakages) await print(breakage);
        finish(exitCodes.ok);
      });
    });
}
