import type { Command } from 'commander';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { exitCodes, MoundError } from '../core/errors.ts';
import {
  checkDecisions,
  documentsIn,
  generateSymbols,
  hasFindings,
  isGenerated,
  symbolLanguageOf,
  type DecisionReport,
  type StandingDecision,
} from '../decisions/index.ts';
import { findRepoDir } from '../store/store-dir.ts';
import { diskFiles } from '../workspace/index.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { writeJson, writeLine } from './output.ts';

interface TreeFlags {
  readonly at?: number;
  readonly branch?: string;
  readonly dir?: string;
}

/** A tree's decisions, and the generated files that it holds. */
interface Looked {
  readonly report: DecisionReport;
  readonly generated: readonly string[];
}

const withTree = (command: Command): Command =>
  command
    .option('--at <seq>', 'as of a seq of the repository', parseCount)
    .option('--branch <name>', 'default: main')
    .option('--dir <dir>', 'files of a directory, whatever repository it is in');

/**
 * The directory whose files are meant: that of `--dir`; inside a workspace its own, with what has not landed yet;
 * where there is no repository, the working directory. undefined: the repository's newest snapshot, or that of `--at`.
 */
function diskDirOf(context: Context, { at, branch, dir }: TreeFlags): string | undefined {
  if (dir !== undefined) {
    if (at === undefined && branch === undefined) return resolve(dir);
    throw new MoundError('invalid-argument', '--dir is a directory as it is: it takes no --at and no --branch');
  }
  if (at !== undefined || branch !== undefined || context.options.repo !== undefined) return undefined;
  return context.workspaceDir ?? (findRepoDir(process.cwd()) === undefined ? process.cwd() : undefined);
}

async function look(context: Context, flags: TreeFlags): Promise<Looked> {
  const dir = diskDirOf(context, flags);
  if (dir !== undefined) {
    const files = [...diskFiles(dir)];
    const generated = files.filter(({ content, path }) => isGenerated(content) && symbolLanguageOf(path) !== undefined);
    return { report: checkDecisions(documentsIn(files), files), generated: generated.map(({ path }) => path) };
  }
  const report = await context.withReadRepo(async (repo) =>
    repo.checkDecisions({
      ...(flags.at !== undefined && { at: flags.at }),
      ...(flags.branch !== undefined && { branch: flags.branch }),
    }),
  );
  return { report, generated: [] };
}

function viewOf(decision: StandingDecision): object {
  const { text: _, ...view } = decision;
  return view;
}

/** What `--json` holds whatever is asked. */
const findingsOf = ({ missing, superseded, outdated, stale, faults }: DecisionReport): object => ({
  missing,
  superseded,
  outdated,
  stale,
  faults,
});

async function printFaults({ faults }: DecisionReport): Promise<void> {
  for (const { path, line, message } of faults) await writeLine(`${path}:${line}: ${message}`);
}

/** decisions, decisions list, check, gen. */
export function addDecisionCommands(program: Command, finish: Finish): void {
  const decisions = program.command('decisions').description('what was decided (design/*.md), and what cites it');

  withTree(decisions.command('list', { isDefault: true }))
    .description('the decisions; exit code 1 where a design document cannot be read')
    .action(async (flags: TreeFlags, command: Command) => {
      const context = new Context(command);
      const { report } = await look(context, flags);
      const found = report.set.decisions;
      if (context.isJson) await writeJson({ decisions: found.map(viewOf), ...findingsOf(report) });
      else {
        for (const { id, hash, status, title, owner, path, supersededBy } of found) {
          const by = supersededBy.length > 0 ? ` by ${supersededBy.join(', ')}` : '';
          await writeLine(`${id}@${hash}  ${status}${by}  ${title}  (${owner}; ${path})`);
        }
        await printFaults(report);
      }
      finish(report.faults.length > 0 ? exitCodes.other : exitCodes.ok);
    });

  withTree(decisions.command('check'))
    .description('references that are missing, superseded or outdated; exit code 1 where there are any')
    .action(async (flags: TreeFlags, command: Command) => {
      const context = new Context(command);
      const { report } = await look(context, flags);
      const { set, references, missing, superseded, outdated, stale } = report;
      if (context.isJson) {
        const counts = { decisions: set.decisions.length, references: references.length };
        await writeJson({ ...counts, ...findingsOf(report) });
      } else {
        await printFaults(report);
        for (const { path, line, standing, says = '' } of [...missing, ...superseded, ...outdated]) {
          await writeLine(`${path}:${line}: ${standing}: ${says}`);
        }
        for (const path of stale) await writeLine(`${path}: old; write it anew with 'mound decisions gen'`);
        if (!hasFindings(report)) {
          await writeLine(`${references.length} references to ${set.decisions.length} decisions are right`);
        }
      }
      finish(hasFindings(report) ? exitCodes.other : exitCodes.ok);
    });

  withTree(decisions.command('gen'))
    .description('write symbols of the active decisions: .ts, .mts, .cts, .rs, .py, .go')
    .argument('[files...]', 'default: the generated files that the tree has')
    .action(async (named: string[], flags: TreeFlags, command: Command) => {
      const context = new Context(command);
      const { report, generated } = await look(context, flags);
      const [fault] = report.faults;
      if (fault !== undefined) {
        const { path, line, message } = fault;
        throw new MoundError('invalid-argument', `${path}:${line}: ${message}; nothing was written`, { path, line });
      }
      const dir = diskDirOf(context, flags) ?? process.cwd();
      const files = named.length > 0 ? named.map((file) => resolve(file)) : generated.map((path) => join(dir, path));
      if (files.length === 0) {
        throw new MoundError('invalid-argument', 'name the file to write: this tree has no generated one yet');
      }
      const texts = files.map((file) => ({ file, text: generateSymbols(file, report.set.decisions) }));
      for (const { file, text } of texts) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      const active = report.set.active.map(({ symbol }) => symbol);
      const shown = files.map((file) => relative(process.cwd(), file).split(sep).join('/'));
      if (context.isJson) await writeJson({ files: shown, symbols: active, ...findingsOf(report) });
      else for (const file of shown) await writeLine(`${file}: ${active.length} symbols`);
      finish(exitCodes.ok);
    });
}
