import { Command, CommanderError } from 'commander';
import { createRequire } from 'node:module';
import { exitCodeOfError, exitCodes, isMoundError } from '../core/errors.ts';
import { addBisectCommand } from './bisect.ts';
import { addCareCommands } from './care.ts';
import { runCompanion } from './companion.ts';
import { addCompareCommands } from './compare.ts';
import { addConflictCommands } from './conflicts.ts';
import { addDecisionCommands } from './decisions.ts';
import { addExplainCommand } from './explain.ts';
import { addFileCommands } from './files.ts';
import { addGitCommands } from './git.ts';
import { addGreenCommand } from './green.ts';
import { addHistoryCommands } from './history.ts';
import { addInitCommand } from './init.ts';
import { addMegafileCommands } from './megafiles.ts';
import { warn, writeJson } from './output.ts';
import { addRuleCommands } from './rules.ts';
import { addPurgeCommand } from './purge.ts';
import { addSignalCommands } from './signals.ts';
import { addUndoCommands } from './undo.ts';
import { addWorkspaceWorkCommands } from './workspace-work.ts';
import { addWorkspaceCommand } from './workspace.ts';

/** A command tells its exit code through this. */
export type Finish = (exitCode: number) => void;

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

const exitCodeHelp = `
Exit codes: 0 ok, 1 the rest, 2 the command line, 3 conflicted or parked (kept, nothing landed),
4 rejected by the store, 42 something named cannot be read as what it should be, 130 interrupted`;

function buildProgram(finish: Finish): Command {
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
  addInitCommand(program, finish);
  addCareCommands(program, finish);
  addFileCommands(program, finish);
  addWorkspaceCommand(program, finish);
  addWorkspaceWorkCommands(program, finish);
  addHistoryCommands(program, finish);
  addCompareCommands(program, finish);
  addUndoCommands(program, finish);
  addBisectCommand(program, finish);
  addGreenCommand(program, finish);
  addPurgeCommand(program, finish);
  addConflictCommands(program, finish);
  addRuleCommands(program, finish);
  addDecisionCommands(program, finish);
  addExplainCommand(program, finish);
  addMegafileCommands(program, finish);
  addSignalCommands(program, finish);
  addGitCommands(program, finish);
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
    await buildProgram((code) => (exitCode = code)).parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
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
