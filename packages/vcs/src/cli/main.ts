import { Command, CommanderError } from 'commander';
import { createRequire } from 'node:module';
import { exitCodeOfError, exitCodes, isMoundError } from '../core/errors.ts';
import { commandOf, withoutRepo } from './command-of.ts';
import { forward } from './forward.ts';
import { runCompanion } from './companion.ts';
import { warn, writeJson } from './output.ts';

/** A command tells its exit code through this. */
export type Finish = (exitCode: number) => void;

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

type AddCommands = (program: Command, finish: Finish) => void;

/**
 * The commands by the module that has them, in the order of the help. Only the module of the command that is asked
 * for is loaded: the others would take longer than most commands do.
 */
export const commandModules: readonly {
  readonly names: readonly string[];
  readonly load: () => Promise<AddCommands>;
}[] = [
  { names: ['init'], load: async () => (await import('./init.ts')).addInitCommand },
  { names: ['fsck', 'gc', 'backup', 'stats'], load: async () => (await import('./care.ts')).addCareCommands },
  { names: ['put', 'cat', 'ls', 'events'], load: async () => (await import('./files.ts')).addFileCommands },
  { names: ['workspace'], load: async () => (await import('./workspace.ts')).addWorkspaceCommand },
  {
    names: ['status', 'shelve', 'sync', 'commit'],
    load: async () => (await import('./workspace-work.ts')).addWorkspaceWorkCommands,
  },
  {
    names: ['log', 'show', 'branch', 'merge', 'tag'],
    load: async () => (await import('./history.ts')).addHistoryCommands,
  },
  { names: ['diff', 'blame'], load: async () => (await import('./compare.ts')).addCompareCommands },
  { names: ['restore', 'revert'], load: async () => (await import('./undo.ts')).addUndoCommands },
  { names: ['bisect'], load: async () => (await import('./bisect.ts')).addBisectCommand },
  { names: ['green'], load: async () => (await import('./green.ts')).addGreenCommand },
  { names: ['purge'], load: async () => (await import('./purge.ts')).addPurgeCommand },
  { names: ['conflicts'], load: async () => (await import('./conflicts.ts')).addConflictCommands },
  { names: ['rules'], load: async () => (await import('./rules.ts')).addRuleCommands },
  { names: ['decisions'], load: async () => (await import('./decisions.ts')).addDecisionCommands },
  { names: ['explain'], load: async () => (await import('./explain.ts')).addExplainCommand },
  {
    names: ['flag', 'freeze', 'thaw', 'split'],
    load: async () => (await import('./megafiles.ts')).addMegafileCommands,
  },
  { names: ['signals'], load: async () => (await import('./signals.ts')).addSignalCommands },
  { names: ['serve'], load: async () => (await import('./serve.ts')).addServeCommand },
  { names: ['token'], load: async () => (await import('./token.ts')).addTokenCommands },
  { names: ['import', 'export'], load: async () => (await import('./git.ts')).addGitCommands },
];

/** The modules that a command line needs: of its command, or all where it names none that is known. */
function modulesFor(argv: readonly string[]): typeof commandModules {
  const command = commandOf(argv);
  const found = commandModules.filter(({ names }) => command !== undefined && names.includes(command));
  return found.length === 0 ? commandModules : found;
}

const exitCodeHelp = `
Exit codes: 0 ok, 1 the rest, 2 the command line, 3 conflicted or parked (kept, nothing landed),
4 rejected by the store, 42 something named cannot be read as what it should be, 130 interrupted`;

function buildProgram(commands: readonly AddCommands[], finish: Finish): Command {
  const program = new Command('mound')
    .description('A version store in which hundreds of coding agents edit one codebase at once')
    .version(version)
    .option('--repo <dir>', 'the repository (default: the nearest at or above here)')
    .option('--json', 'one object on one line of standard output')
    .option('--author <name>', 'who acts (default: $MOUND_AUTHOR, else the agent or the user)')
    .option('--agent <id>', 'the acting agent; makes the author an agent')
    .option('--role <name>', "the agent's role")
    .option('--model <name>', "the agent's model")
    .exitOverride()
    .showSuggestionAfterError(false)
    .addHelpText('after', exitCodeHelp)
    .configureOutput({ outputError: (text) => warn(text.replace(/^error: /, '').trim()) });
  for (const add of commands) add(program, finish);
  program.command('swarm').description('run swarms (package @mound/swarm)').helpOption(false).allowUnknownOption();
  program.command('bench').description('measure (package @mound/bench)').helpOption(false).allowUnknownOption();
  return program;
}

/** The `mound` command; its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === 'swarm' || first === 'bench') return runCompanion(first, rest);
  // A reader that has gone away (`| head`) ends the command quietly.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    throw error;
  });
  let exitCode: number = exitCodes.ok;
  try {
    const commands = await Promise.all(modulesFor(argv).map(({ load }) => load()));
    await buildProgram(commands, (code) => (exitCode = code)).parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    const forwarded = await forward(error, withoutRepo(argv));
    if (forwarded !== undefined) return forwarded;
    // commander has written its line already.
    const isJson = argv.includes('--json');
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok;
      if (isJson) await writeJson({ error: 'usage', message: error.message.replace(/^error: /, '') });
      return exitCodes.usage;
    }
    const message = error instanceof Error ? error.message : String(error);
    warn(message);
    if (isJson) await writeJson({ error: isMoundError(error) ? error.code : 'failed', message });
    return exitCodeOfError(error);
  }
}
