import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Layer } from '../config/layers.ts';

/** What a run may use and how it is organised; undefined where nobody said. */
export interface BoundFlags {
  readonly agents?: number;
  readonly processes?: number;
  readonly usd?: number;
  readonly tokens?: number;
  readonly minutes?: number;
  readonly depth?: number;
  readonly fanOut?: number;
  readonly tasks?: number;
  readonly topology?: string;
  readonly check?: string;
  readonly score?: string;
  readonly workerCommands?: string;
}

function amountOf(text: string): number {
  const amount = Number(text);
  if (text.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError('not a number from 0.');
  return amount;
}

/** For an option that is a whole number. */
export const countFrom =
  (least: number, most: number) =>
  (text: string): number => {
    const count = Number(text);
    if (text.trim() === '' || !Number.isInteger(count) || count < least || count > most)
      throw new InvalidArgumentError(`not a count from ${least}.`);
    return count;
  };

/** Each is a flag, and a variable of the environment. */
export function withBoundFlags(command: Command): Command {
  const option = (flag: string, says: string, variable: string): Option => new Option(flag, says).env(variable);
  const add = (flag: string, says: string, variable: string, parse: (text: string) => number): void =>
    void command.addOption(option(flag, says, variable).argParser(parse));
  add('--agents <n>', 'workers and mergers at once; default 8', 'MOUND_AGENTS', countFrom(1, 10_000));
  add('--processes <n>', 'that share the workers; default 1', 'MOUND_PROCESSES', countFrom(1, 64));
  add('--usd <amount>', 'US dollars of the whole run, 0 for none; default no bound', 'MOUND_USD', amountOf);
  add('--tokens <n>', 'tokens of the whole run, 0 for none; default no bound', 'MOUND_TOKENS', countFrom(0, 1e15));
  add('--minutes <n>', 'then this process stops the run, to be resumed; default never', 'MOUND_MINUTES', amountOf);
  add('--depth <n>', 'planners below the first; default 3', 'MOUND_DEPTH', countFrom(0, 1000));
  add('--fan-out <n>', 'tasks of one planner that have not ended; default 1000', 'MOUND_FAN_OUT', countFrom(1, 1e9));
  add('--tasks <n>', 'tasks of the whole run; default 100000', 'MOUND_TASKS', countFrom(1, 1e9));
  const shape = option('--topology <kind>', 'how the work is organised; default tree', 'MOUND_TOPOLOGY');
  const commands = option(
    '--worker-commands <mode>',
    'commands that workers run: in a sandbox, open without one, or off; default auto',
    'MOUND_WORKER_COMMANDS',
  );
  return command
    .addOption(shape.choices(['tree', 'solo', 'peers', 'pipeline']))
    .addOption(option('--check <command>', 'proves the tasks that name no check of their own', 'MOUND_CHECK'))
    .addOption(option('--score <command>', 'prints a number, before and after the run', 'MOUND_SCORE'))
    .addOption(commands.choices(['auto', 'sandbox', 'open', 'off']));
}

/** What they say, as a part of a configuration. */
export function boundLayer(flags: BoundFlags): Layer {
  const { agents, processes, usd, tokens, minutes, depth, fanOut, tasks, topology, check, score, workerCommands } =
    flags;
  const layer = {
    budget: { usd, tokens },
    bounds: { agents, processes, minutes, tasks },
    topology: { kind: topology, depth, fanOut },
    check,
    score,
    commands: { mode: workerCommands },
  };
  // Without what nobody said.
  return JSON.parse(JSON.stringify(layer)) as Layer;
}
