import type { Command } from 'commander';
import { Option } from 'commander';
import { MoundError, exitCodes } from '../core/errors.ts';
import { parseCursor, startCursor } from '../core/event.ts';
import { absent, type Precondition } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import { modes } from '../core/mode.ts';
import { breakageOf } from '../breakage/index.ts';
import type { Repo, Whereabouts } from '../repo/api.ts';
import { withBreakageComment } from '../repo/breakage-comment.ts';
import { Context, parseCount, parseExpect, readStdin } from './context.ts';
import { printOutcome, writeJson, writeOut } from './output.ts';
import type { Finish } from './main.ts';

interface PutFlags {
  readonly message: string;
  readonly expect?: Precondition;
  readonly onStale?: 'merge' | 'reject';
  readonly branch?: string;
  readonly mode?: Mode;
  readonly operationId?: string;
  readonly rationale?: string;
  readonly task?: string;
  readonly delete?: boolean;
  readonly replaces?: string;
  readonly breakage?: string;
}

/** What a reader of an old path is told. */
function whereNow(found: Whereabouts | undefined): string {
  if (found?.kind === 'moved') return `it was moved to ${found.path}`;
  if (found?.kind === 'split') return `it was split into ${found.paths.join(', ')}`;
  return "'mound ls' lists the paths";
}

interface ReadFlags {
  readonly at?: number;
  readonly branch?: string;
}

const isText = (bytes: Buffer): boolean => Buffer.from(bytes.toString('utf8')).equals(bytes);

/** put, cat, ls. */
export function addFileCommands(program: Command, finish: Finish): void {
  program
    .command('put')
    .description('land standard input as one file, without a workspace')
    .argument('<path>')
    .requiredOption('-m, --message <text>', 'what the change is for')
    .option('--expect <version>', 'a version number, absent (default) or any', parseExpect)
    .addOption(
      new Option('--on-stale <policy>', 'when the version is no longer the newest').choices(['merge', 'reject']),
    )
    .option('--branch <name>', 'default: main')
    .addOption(new Option('--mode <mode>', 'default: as it was').choices([...modes]))
    .option('--operation-id <id>', 'the same id answers the same again')
    .option('--rationale <text>', 'why')
    .option('--task <id>', 'the task that it belongs to')
    .option('--replaces <conflict>', 'a conflict of the same agent whose kept intent this takes the place of')
    .option('--breakage <text>', 'why it has to break what others rely on; a comment in the file says so, too')
    .option('--delete', 'delete the path instead; standard input is not read')
    .action(async (path: string, flags: PutFlags, command: Command) => {
      const context = new Context(command);
      const content = flags.delete === true ? undefined : await readStdin();
      const { message, expect = absent, mode, delete: _delete, ...rest } = flags;
      const author = context.author();
      const noted = (repo: Repo, given: Buffer): Buffer | string => {
        const { breakage, task, branch } = rest;
        if (breakage === undefined || !isText(given)) return given;
        const before = repo.snapshot(undefined, branch).readText(path);
        return withBreakageComment(path, before, given.toString('utf8'), breakageOf(breakage, author, task));
      };
      await context.withRepo(async (repo) => {
        const change =
          content === undefined
            ? ({ kind: 'delete', path, expect } as const)
            : ({
                kind: 'put',
                path,
                content: noted(repo, content),
                expect,
                ...(mode !== undefined && { mode }),
              } as const);
        const outcome = await repo.land({ author, message, changes: [change], ...rest });
        finish(await printOutcome(outcome, context.isJson));
      });
    });

  program
    .command('cat')
    .description('print a file as of a snapshot')
    .argument('<path>')
    .option('--at <seq>', 'default: the newest', parseCount)
    .option('--branch <name>', 'default: main')
    .action(async (path: string, flags: ReadFlags, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const snapshot = repo.snapshot(flags.at, flags.branch);
        const head = snapshot.head(path);
        const content = snapshot.read(path);
        if (head === undefined || content === undefined) {
          throw new MoundError(
            'no-such-path',
            `there is no ${path} at seq ${snapshot.seq}; ${whereNow(snapshot.whereabouts(path))}`,
            { path },
          );
        }
        if (!context.isJson) await writeOut(content);
        else if (isText(content)) await writeJson({ seq: snapshot.seq, ...head, content: content.toString('utf8') });
        else await writeJson({ seq: snapshot.seq, ...head, contentBase64: content.toString('base64') });
        finish(exitCodes.ok);
      });
    });

  program
    .command('ls')
    .description('list the files of a snapshot')
    .argument('[prefix]', 'a directory')
    .option('--at <seq>', 'default: the newest', parseCount)
    .option('--branch <name>', 'default: main')
    .action(async (prefix: string | undefined, flags: ReadFlags, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const snapshot = repo.snapshot(flags.at, flags.branch);
        const files = snapshot.list(prefix);
        if (context.isJson) await writeJson({ seq: snapshot.seq, files });
        else await writeOut(files.map(({ path }) => `${path}\n`).join(''));
        finish(exitCodes.ok);
      });
    });

  program
    .command('events')
    .description('the feed, one JSON object a line')
    .option('--from <cursor>', 'SEQ or SEQ:INDEX, the last event that was seen; default: the start')
    .option('--follow', 'go on with those to come')
    .option('--jsonl', 'the default and only form')
    .action(async (flags: { from?: string; follow?: boolean }, command: Command) => {
      const from = flags.from === undefined ? startCursor : parseCursor(flags.from);
      if (from === undefined)
        throw new MoundError('invalid-argument', `'${flags.from}' is no cursor; use SEQ or SEQ:INDEX`);
      await new Context(command).withReadRepo(async (repo) => {
        if (flags.follow !== true) for (const event of repo.events(from)) await writeJson(event);
        else {
          const stop = new AbortController();
          process.once('SIGINT', () => stop.abort());
          for await (const event of repo.follow(from, stop.signal)) await writeJson(event);
        }
        finish(flags.follow === true ? exitCodes.interrupted : exitCodes.ok);
      });
    });
}
