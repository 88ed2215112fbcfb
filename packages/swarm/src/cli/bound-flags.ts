import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Cap } from '../core/amount.ts';
import type { SwarmLimits } from '../runtime/run-options.ts';

/** What a run may use; undefined where nobody said. */
export interface BoundFlags {
  readonly agents?: number;
  readonly usd?: number;
  readonly tokens?: number;
  readonly minutes?: number;
  readonly depth?: number;
  readonly fanOut?: number;
  readonly tasks?: number;
}

function amountOf(text: string): number {
  const amount = Number(text);
  if (text.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError('not a number from 0.');
  return amount;
}

const countFrom =
  (least: number, most: number) =>
  (text: string): number => {
    const count = Number(text);
    if (text.trim() === '' || !Number.isInteger(count) || count < least || count > most)
      throw new InvalidArgumentError(`not a count from ${least}.`);
    return count;
  };

/** Each is a flag, and a variable of the environment. */
export function withBoundFlags(command: Command): Command {
  const add = (flag: string, says: string, variable: string, parse: (text: string) => number): void =>
    void command.addOption(new Option(flag, says).env(variable).argParser(parse));
  add('--agents <n>', 'workers and mergers at once; default 8', 'MOUND_AGENTS', countFrom(1, 10_000));
  add('--usd <amount>', 'US dollars of the whole run, 0 for none; default no bound', 'MOUND_USD', amountOf);
  add('--tokens <n>', 'tokens of the whole run, 0 for none; default no bound', 'MOUND_TOKENS', countFrom(0, 1e15));
  add('--minutes <n>', 'then this process stops the run, to be resumed; default never', 'MOUND_MINUTES', amountOf);
  add('--depth <n>', 'planners below the first; default 3', 'MOUND_DEPTH', countFrom(0, 1000));
  add('--fan-out <n>', 'tasks of one planner that have not ended; default 1000', 'MOUND_FAN_OUT', countFrom(1, 1e9));
  add('--tasks <n>', 'tasks of the whole run; default 100000', 'MOUND_TASKS', countFrom(1, 1e9));
  return command;
}

/** Tokens are counted whole, money in billionths of a dollar. */
export const budgetOfFlags = ({ tokens, usd }: BoundFlags): Partial<Cap> => ({
  ...(tokens !== undefined && { tokens }),
  ...(usd !== undefined && { nanoUsd: Math.round(usd * 1e9) }),
});

export const limitsOfFlags = ({ minutes, depth, fanOut, tasks }: BoundFlags): Partial<SwarmLimits> => ({
  ...(minutes !== undefined && { wallClockMs: minutes * 60_000 }),
  ...(depth !== undefined && { depthMax: depth }),
  ...(fanOut !== undefined && { fanOutMax: fanOut }),
  ...(tasks !== undefined && { tasksMax: tasks }),
});
