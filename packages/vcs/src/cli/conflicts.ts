import type { Command } from 'commander';
import { MoundError, exitCodes } from '../core/errors.ts';
import type { HunkAccount } from '../core/intent.ts';
import { renderConflict } from '../merge/index.ts';
import type { Resolution } from '../repo/api.ts';
import { stateOf } from '../views/conflicts.ts';
import type { ConflictPath, ConflictSide, ConflictView, HunkLines } from '../views/types.ts';
import { Context, readStdin } from './context.ts';
import { printOutcome, writeJson, writeLine, writeOut } from './output.ts';
import type { Finish } from './main.ts';

function sideFields({ content, ...side }: ConflictSide): object {
  if (content === undefined) return { ...side, content: null };
  const text = content.toString('utf8');
  return Buffer.from(text).equals(content)
    ? { ...side, content: text }
    : { ...side, contentBase64: content.toString('base64') };
}

const linesFields = ({ start, count, text }: HunkLines): object => ({
  start,
  count,
  text: Buffer.from(text).toString('utf8'),
});

const viewFields = (view: ConflictView): object => ({
  ...view,
  paths: view.paths.map((path) => ({
    ...path,
    base: sideFields(path.base),
    current: sideFields(path.current),
    incoming: sideFields(path.incoming),
    hunks: path.hunks.map(({ index, base, current, incoming }) => ({
      index,
      base: linesFields(base),
      current: linesFields(current),
      incoming: linesFields(incoming),
    })),
  })),
});

const inputOf = ({ path, base, current, incoming }: ConflictPath): Parameters<typeof renderConflict>[0] => ({
  path,
  base: stateOf(base),
  current: stateOf(current),
  incoming: stateOf(incoming),
});

/** What `conflicts resolve` reads from standard input. */
interface ResolutionInput {
  readonly message?: string;
  readonly rationale?: string;
  readonly results: readonly {
    readonly path: string;
    readonly content?: string | null;
    readonly contentBase64?: string;
  }[];
  readonly accounts?: readonly HunkAccount[];
  readonly otherwise?: Pick<HunkAccount, 'fate' | 'reason'>;
  readonly asOf?: number;
}

function parseInput(text: string): ResolutionInput {
  try {
    const value = JSON.parse(text) as ResolutionInput;
    if (!Array.isArray(value.results)) throw new TypeError('"results" is not a list');
    return value;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MoundError('stdin-malformed', `standard input is no resolution: ${reason}`, {}, cause);
  }
}

const resultOf = ({
  path,
  content,
  contentBase64,
}: ResolutionInput['results'][number]): Resolution['results'][number] => ({
  path,
  content: contentBase64 === undefined ? (content ?? null) : Buffer.from(contentBase64, 'base64'),
});

/** conflicts, conflicts show, conflicts resolve. */
export function addConflictCommands(program: Command, finish: Finish): void {
  const conflicts = program
    .command('conflicts')
    .description('open conflicts')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const open = repo.conflicts();
        if (context.isJson) await writeJson({ conflicts: open.map(viewFields) });
        for (const view of context.isJson ? [] : open) {
          await writeLine(`${view.id}  ${view.author.name}  ${view.paths.map(({ path }) => path).join(', ')}`);
        }
        finish(exitCodes.ok);
      });
    });

  conflicts
    .command('show')
    .description('the sides of a conflict, with markers')
    .argument('<id>')
    .action(async (id: string, _flags: object, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const view = repo.conflict(id);
        if (context.isJson) await writeJson(viewFields(view));
        for (const path of context.isJson ? [] : view.paths) {
          await writeLine(`${path.path}: ${path.reason}`);
          const marked = renderConflict(inputOf(path), { style: 'diff3' });
          if (marked !== undefined) await writeOut(marked);
        }
        finish(exitCodes.ok);
      });
    });

  conflicts
    .command('resolve')
    .description(
      'close a conflict; standard input: {"results":[{"path","content"}],"accounts":[{"path","side","hunk","fate","reason"}]}',
    )
    .argument('<id>')
    .action(async (id: string, _flags: object, command: Command) => {
      const context = new Context(command);
      const input = parseInput((await readStdin()).toString('utf8'));
      await context.withRepo(async (repo) => {
        const outcome = await repo.resolve(id, {
          author: context.author(),
          results: input.results.map(resultOf),
          ...(input.accounts !== undefined && { accounts: input.accounts }),
          ...(input.otherwise !== undefined && { otherwise: input.otherwise }),
          ...(input.asOf !== undefined && { asOf: input.asOf }),
          ...(input.message !== undefined && { message: input.message }),
          ...(input.rationale !== undefined && { rationale: input.rationale }),
        });
        finish(await printOutcome(outcome, context.isJson));
      });
    });
}
