import type { Command } from 'commander';
import { exitCodes, MoundError } from '../core/errors.ts';
import { renderConflict } from '../merge/index.ts';
import { stateOf } from '../views/conflicts.ts';
import type { ConflictPath } from '../views/types.ts';
import { conflictFields, parseJson, resolutionOf, WireFault } from '../wire/index.ts';
import { Context, readStdin } from './context.ts';
import { printOutcome, writeJson, writeLine, writeOut } from './output.ts';
import type { Finish } from './main.ts';

/** Reads what `conflicts resolve` is given. Errors: `stdin-malformed`. */
function parseResolution(text: string): ReturnType<typeof resolutionOf> {
  try {
    return resolutionOf(parseJson(text));
  } catch (error) {
    if (!(error instanceof WireFault)) throw error;
    const next = "see 'mound conflicts resolve --help'";
    throw new MoundError('stdin-malformed', `standard input is no resolution: ${error.message}; ${next}`);
  }
}

const inputOf = ({ path, base, current, incoming }: ConflictPath): Parameters<typeof renderConflict>[0] => ({
  path,
  base: stateOf(base),
  current: stateOf(current),
  incoming: stateOf(incoming),
});

const resolutionHelp = `
Standard input is one JSON object:
  results    [{"path", "content"}] for each conflicted path: the whole new text, or null to delete;
             "contentBase64" instead for bytes, "mode" where it changes, "at" where it is to stand
             elsewhere because its path is taken by a directory, or by one that differs in case alone
  asOf       the "asOf" that 'conflicts show --json' gave: the state that you saw
  accounts   [{"path", "side": "current"|"incoming", "hunk": N, "fate": "kept"|"transformed"|"discarded",
             "reason", "because"}]
  otherwise  {"fate", "reason", "because"} for hunks that are not to be seen in the results
             "because" is {"kind": "decision", "id"}, {"kind": "identical", "path"} or
             {"kind": "check", "command", "finding"}; an agent needs one to discard what another wrote
  message, rationale, operationId
A hunk whose lines stand in the result needs no account.`;

/** conflicts, conflicts show, conflicts remerge, conflicts resolve. */
export function addConflictCommands(program: Command, finish: Finish): void {
  const conflicts = program
    .command('conflicts')
    .description('open conflicts')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const open = repo.conflicts();
        if (context.isJson) await writeJson({ conflicts: open.map(conflictFields) });
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
      await context.withReadRepo(async (repo) => {
        const view = repo.conflict(id);
        if (context.isJson) await writeJson(conflictFields(view));
        if (!context.isJson && view.isMergeable) {
          await writeLine(`merges by now: 'mound conflicts remerge ${view.id}' lands it as it was asked`);
        }
        for (const path of context.isJson ? [] : view.paths) {
          await writeLine(`${path.path}: ${path.reason}${path.hint === undefined ? '' : `; ${path.hint}`}`);
          const marked = renderConflict(inputOf(path), { style: 'diff3', shape: path });
          if (marked !== undefined) await writeOut(marked);
        }
        finish(exitCodes.ok);
      });
    });

  conflicts
    .command('remerge')
    .description('land what a conflict keeps as it was asked, where its sides merge by now')
    .argument('<id>')
    .action(async (id: string, _flags: object, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => finish(await printOutcome(await repo.remerge(id), context.isJson)));
    });

  conflicts
    .command('resolve')
    .description('close a conflict with the resolution on standard input')
    .addHelpText('after', resolutionHelp)
    .argument('<id>')
    .action(async (id: string, _flags: object, command: Command) => {
      const context = new Context(command);
      const resolution = parseResolution((await readStdin()).toString('utf8'));
      await context.withRepo(async (repo) => {
        const outcome = await repo.resolve(id, { author: context.author(), ...resolution });
        finish(await printOutcome(outcome, context.isJson));
      });
    });
}
