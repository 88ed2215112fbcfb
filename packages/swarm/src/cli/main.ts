import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { exitCodeOfError, exitCodes, openRepo } from '@mound/vcs';
import { ModelError } from '../model/model-error.ts';
import { makeModels, mustKeys } from '../runtime/model-mix.ts';
import { runSwarm } from '../runtime/run-swarm.ts';
import { runDemo } from './demo.ts';
import { examine } from './doctor.ts';
import { mixOf, withMixFlags, type MixFlags } from './mix-flags.ts';
import { eventPrinter, isWell, printChecks, printResult, type OutputFlags } from './print.ts';
import { UsageError } from './usage-error.ts';

interface RunFlags extends MixFlags, OutputFlags {
  readonly repo: string;
  readonly agents: number;
  readonly goalFile?: string;
}

function countOf(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 10_000) throw new InvalidArgumentError('not a count from 1.');
  return count;
}

/** Runs one command line (without node and script); gives the exit code. */
export async function main(argv: string[]): Promise<number> {
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort();
  process.once('SIGINT', onInterrupt);
  try {
    await programOf(stop.signal).parseAsync(argv, { from: 'user' });
    return stop.signal.aborted ? exitCodes.interrupted : exitCodes.ok;
  } catch (error) {
    return report(error);
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

function programOf(signal: AbortSignal): Command {
  const program = new Command('mound-swarm')
    .description('A planner and its workers, mergers included, on one Mound repository')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  program
    .command('demo')
    .description('run a scripted swarm on a small made-up project')
    .option('--repo <dir>', 'empty repository to use, made where it is not there; default a temporary one')
    .option('--json', 'one JSON object on one line')
    .action((flags: Partial<RunFlags>) => demo(flags, signal));
  const running = program
    .command('run')
    .description('run a swarm towards a goal')
    .argument('[goal]')
    .option('--goal-file <file>', 'the goal, where it is longer than a line')
    .option('--repo <dir>', 'repository', '.')
    .option('--agents <n>', 'workers and mergers at once', countOf, 8);
  withMixFlags(running)
    .option('--json', 'one JSON object on one line')
    .option('--jsonl', 'events as they come, the result last')
    .action((goal: string | undefined, flags: RunFlags) => run(goal, flags, signal));
  const doctor = program
    .command('doctor')
    .description('check all that a run needs: each line says what to do')
    .option('--repo <dir>', 'repository', '.');
  withMixFlags(doctor)
    .option('--json', 'one JSON object on one line')
    .action((flags: RunFlags) => consult(flags, signal));
  return program;
}

async function demo(flags: Partial<RunFlags>, signal: AbortSignal): Promise<void> {
  const dir = flags.repo ?? (await mkdtemp(join(tmpdir(), 'mound-demo-')));
  try {
    const repo = await openRepo(dir, { create: true });
    try {
      printResult(await runDemo(repo, { signal }), flags);
    } finally {
      await repo.close();
    }
  } finally {
    if (flags.repo === undefined) await rm(dir, { recursive: true, force: true });
  }
}

async function run(given: string | undefined, flags: RunFlags, signal: AbortSignal): Promise<void> {
  const goal = goalOf(given, flags.goalFile);
  const mix = mixOf(flags, process.env);
  mustKeys(mix);
  const repo = await openRepo(flags.repo);
  try {
    const { models, prices } = makeModels(mix, { repo });
    const result = await runSwarm({
      repo,
      goal,
      models,
      prices,
      agentsMax: flags.agents,
      onEvent: eventPrinter(flags),
      signal,
    });
    printResult(result, flags);
    if (result.reason === 'planner-failed') {
      throw new Error(`the planner failed (${result.detail ?? 'no reason given'}); what landed is in the repository`);
    }
  } finally {
    await repo.close();
  }
}

function goalOf(goal: string | undefined, file: string | undefined): string {
  if ((goal === undefined) === (file === undefined)) throw new UsageError('give a goal, or --goal-file FILE');
  if (file === undefined) return goal ?? '';
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function consult(flags: RunFlags, signal: AbortSignal): Promise<void> {
  const mix = mixOf(flags, process.env);
  const checks = await examine(mix, flags.repo, signal);
  printChecks(checks, flags);
  if (!isWell(checks)) throw new NotWell();
}

/** All was said on stdout. */
class NotWell extends Error {}

/** One clear line on stderr and the documented exit code. */
function report(error: unknown): number {
  if (error instanceof NotWell) return exitCodes.other;
  if (error instanceof CommanderError) {
    // Help and version are no errors, and written already.
    if (error.exitCode === 0) return exitCodes.ok;
    const said = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
    const isBare = error.code === 'commander.help';
    console.error(`mound-swarm: ${isBare ? 'no command given' : said}; see 'mound-swarm --help'`);
    return exitCodes.usage;
  }
  console.error(`mound-swarm: ${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof UsageError || (error instanceof ModelError && error.code === 'key-missing')) {
    return exitCodes.usage;
  }
  return exitCodeOfError(error);
}
