import type { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { exitCodes, MoundError } from '../core/errors.ts';
import type { FreezeBounds, SplitModule } from '../repo/api.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { exitCodeOfOutcome, printOutcome, writeJson, writeLine } from './output.ts';
import { outcomeFields } from '../wire/index.ts';

interface MarkFlags {
  readonly reason?: string;
  readonly branch?: string;
}

interface FreezeFlags extends MarkFlags {
  readonly owner?: string;
  readonly seconds?: number;
  readonly freeze?: boolean;
}

interface SplitFlags {
  readonly into: readonly string[];
  readonly remains?: string;
  readonly expect?: number;
  readonly message?: string;
  readonly rationale?: string;
  readonly branch?: string;
  readonly operationId?: string;
}

const boundsOf = ({ owner, seconds }: FreezeFlags): FreezeBounds => ({
  ...(owner !== undefined && { owner }),
  ...(seconds !== undefined && { ms: seconds * 1000 }),
});

const withMarkOptions = (command: Command): Command =>
  command.option('--reason <text>', 'why').option('--branch <name>', 'default: main');

const withFreezeOptions = (command: Command): Command =>
  withMarkOptions(command)
    .option('--owner <name>', 'whose intents land all the same: an agent id, else an author')
    .option('--seconds <n>', 'it ends by itself; default with an owner: 600', parseCount);

/** `PATH=FILE`: the content of a module, from a file on disk. */
async function moduleOf(text: string): Promise<SplitModule> {
  const at = text.indexOf('=');
  if (at < 1) throw new MoundError('invalid-argument', `--into '${text}' is not PATH=FILE`, { found: text });
  return { path: text.slice(0, at), content: await contentOf(text.slice(at + 1)) };
}

async function contentOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new MoundError('invalid-argument', `${file} cannot be read (${code})`, { file });
  }
}

/** flag, freeze, thaw, split. */
export function addMegafileCommands(program: Command, finish: Finish): void {
  withFreezeOptions(program.command('flag'))
    .description('mark a file as too large or too contended')
    .argument('<path>')
    .option('--freeze', 'freeze it as well')
    .action(async (path: string, flags: FreezeFlags, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const { reason = 'flagged', branch, freeze } = flags;
        if (freeze !== true && Object.keys(boundsOf(flags)).length > 0)
          throw new MoundError('invalid-argument', `--owner and --seconds bound a freeze; add --freeze`);
        const options = { author: context.author(), reason, ...(branch !== undefined && { branch }) };
        await repo.flag(path, { ...options, ...(freeze === true && { freeze: boundsOf(flags) }) });
        const state = freeze === true ? 'frozen' : 'flagged';
        if (context.isJson) await writeJson({ path, state, parked: [] });
        else await writeLine(`${path} is ${state}`);
        finish(exitCodes.ok);
      });
    });

  withFreezeOptions(program.command('freeze'))
    .description('park intents on a file until it is thawed or split; without a path: what is frozen')
    .argument('[path]')
    .action(async (path: string | undefined, flags: FreezeFlags, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        if (path === undefined) {
          const freezes = repo.freezes();
          if (context.isJson) await writeJson({ freezes });
          for (const { path: frozen, owner, reason } of context.isJson ? [] : freezes) {
            await writeLine(`${frozen}  ${owner ?? '-'}  ${reason}`);
          }
          return finish(exitCodes.ok);
        }
        const { reason = 'frozen', branch } = flags;
        const options = { author: context.author(), reason, ...(branch !== undefined && { branch }) };
        await repo.freeze(path, { ...options, ...boundsOf(flags) });
        if (context.isJson) await writeJson({ path, state: 'frozen', parked: [] });
        else await writeLine(`${path} is frozen`);
        return finish(exitCodes.ok);
      });
    });

  withMarkOptions(program.command('thaw'))
    .description('end a freeze; what it parked is decided again')
    .argument('<path>')
    .action(async (path: string, { reason = 'thawed', branch }: MarkFlags, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const options = { author: context.author(), reason, ...(branch !== undefined && { branch }) };
        const { parked } = await repo.thaw(path, options);
        if (context.isJson) await writeJson({ path, state: 'thawed', parked });
        else await writeLine(`${path} is thawed; ${parked.length} parked intents were decided`);
        finish(exitCodes.ok);
      });
    });

  program
    .command('split')
    .description('split a file into modules; edits of it as it was go where its lines went')
    .argument('<path>')
    .requiredOption('--into <path=file...>', 'a module and the file on disk that holds its text')
    .option('--remains <file>', 'what stays under the old path; default: nothing')
    .option('--expect <version>', 'the version that the modules were made from; default: the newest', parseCount)
    .option('-m, --message <text>', 'default: says what it does')
    .option('--rationale <text>', 'why')
    .option('--branch <name>', 'default: main')
    .option('--operation-id <id>', 'the same id answers the same again')
    .action(async (path: string, { into, remains, ...flags }: SplitFlags, command: Command) => {
      const context = new Context(command);
      const modules = await Promise.all(into.map(moduleOf));
      const rest = remains === undefined ? null : await contentOf(remains);
      await context.withRepo(async (repo) => {
        const options = { ...flags, author: context.author(), modules, remains: rest };
        const { outcome, parked } = await repo.split(path, options);
        const state = outcome.kind === 'landed' ? 'split' : outcome.kind;
        if (!context.isJson) return finish(await printOutcome(outcome, false));
        await writeJson({ path, state, parked, ...outcomeFields(outcome) });
        return finish(exitCodeOfOutcome(outcome));
      });
    });
}
