import type { Command } from 'commander';
import { exitCodes, MoundError } from '../core/errors.ts';
import type { CommitView } from '../views/types.ts';
import { writePatch } from './compare.ts';
import { commitFields } from '../wire/index.ts';
import { Context, parseCount } from './context.ts';
import { printOutcome, writeJson, writeLine } from './output.ts';
import type { Finish } from './main.ts';

const isoTime = (time: number): string => new Date(time).toISOString();

async function printCommit(view: CommitView): Promise<void> {
  await writeLine(`seq ${view.seq}  commit ${view.commit ?? '-'}`);
  await writeLine(`author ${view.author.name}  ${isoTime(view.time)}  branch ${view.branch}`);
  if (view.task !== undefined) await writeLine(`task ${view.task}`);
  await writeLine(`\n    ${view.message.trimEnd().replaceAll('\n', '\n    ')}`);
  if (view.rationale !== undefined) await writeLine(`\n    Why: ${view.rationale}`);
  for (const change of view.changes)
    await writeLine(`  ${change.blob === undefined ? 'delete' : 'put'} ${change.path}`);
}

interface LogFlags {
  readonly limit?: number;
  readonly branch?: string;
  readonly task?: string;
  readonly byAuthor?: string;
}

/** log, show, branch, merge, tag. */
export function addHistoryCommands(program: Command, finish: Finish): void {
  program
    .command('log')
    .description('landings, newest first')
    .argument('[path]', 'only those that changed this path')
    .option('--limit <n>', 'at most this many', parseCount)
    .option('--branch <name>', 'default: main')
    .option('--task <id>', 'only those of a task')
    .option('--by-author <name>', 'only those of an author or agent')
    .action(async (path: string | undefined, flags: LogFlags, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const { byAuthor, ...rest } = flags;
        const options = {
          ...rest,
          ...(path !== undefined && { path }),
          ...(byAuthor !== undefined && { author: byAuthor }),
        };
        const views = [...repo.log(options)];
        if (context.isJson) await writeJson({ entries: views.map(commitFields) });
        else {
          for (const { seq, author, message } of views) {
            await writeLine(`${String(seq).padStart(7)}  ${author.name}  ${message.split('\n')[0] ?? ''}`);
          }
        }
        finish(exitCodes.ok);
      });
    });

  program
    .command('show')
    .description('one landing, with what it changed as a patch')
    .argument('<commit>', 'a commit id or a seq')
    .action(async (id: string, _flags: object, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const view = repo.commit(/^\d{1,15}$/.test(id) ? Number(id) : id);
        if (context.isJson) await writeJson(commitFields(view));
        else {
          await printCommit(view);
          const [from, to] = [repo.snapshot(view.seq - 1, view.branch), repo.snapshot(view.seq, view.branch)];
          const entries = view.changes.map(({ path }) => ({ path, before: from.head(path), after: to.head(path) }));
          await writeLine('');
          await writePatch(from, to, entries);
        }
        finish(exitCodes.ok);
      });
    });

  program
    .command('branch')
    .description('fork a branch, or list the branches')
    .argument('[name]')
    .option('--at <seq>', 'default: the newest', parseCount)
    .option('--from <branch>', 'default: main')
    .action(async (name: string | undefined, flags: { at?: number; from?: string }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        if (name !== undefined) {
          const { name: branch, ...view } = await repo.fork(name, { ...flags, author: context.author() });
          await (context.isJson ? writeJson({ branch, ...view }) : writeLine(`forked ${branch} at ${view.forkSeq}`));
        } else {
          const branches = repo.branches();
          if (context.isJson) await writeJson({ branches });
          else for (const view of branches) await writeLine(`${view.name}  ${view.seq}`);
        }
        finish(exitCodes.ok);
      });
    });

  program
    .command('merge')
    .description('land what a branch changed since its fork, as one intent')
    .argument('<branch>')
    .option('-m, --message <text>', 'default: Merge branch NAME')
    .action(async (name: string, flags: { message?: string }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const outcome = await repo.merge(name, { author: context.author(), ...flags });
        finish(await printOutcome(outcome, context.isJson));
      });
    });

  program
    .command('tag')
    .description('name a seq, or list the tags')
    .argument('[name]')
    .argument('[seq]', 'default: the newest', parseCount)
    .option('--force', 'move a tag that exists')
    .action(async (name: string | undefined, seq: number | undefined, flags: { force?: true }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        if (name === undefined) {
          const tags = repo.tags();
          if (context.isJson) await writeJson({ tags });
          else for (const tag of tags) await writeLine(`${tag.name}  ${tag.seq}`);
        } else {
          const before = repo.tags().find((known) => known.name === name);
          if (before && flags.force !== true) {
            const message = `tag '${name}' exists at seq ${before.seq}; --force moves it`;
            throw new MoundError('invalid-argument', message, { name, seq: before.seq });
          }
          const tag = await repo.tag(name, seq ?? repo.snapshot().seq, context.author());
          await (context.isJson ? writeJson(tag) : writeLine(`tagged ${tag.seq} as ${tag.name}`));
        }
        finish(exitCodes.ok);
      });
    });
}
