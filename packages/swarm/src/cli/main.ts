import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { exitCodeOfError, exitCodes, openRepo } from '@mound/vcs';
import { ModelError } from '../model/model-error.ts';
import { countFrom, withBoundFlags } from './bound-flags.ts';
import { addControls } from './controls.ts';
import { withConfigFlag } from './config-of-flags.ts';
import { withMindFlags } from './mind-flags.ts';
import { isWell, printChecks, printResult } from './print.ts';
import { addViews } from './run-views.ts';
import type { LensesFlags } from './lenses.ts';
import type { ResumeFlags, RunFlags, Stops } from './run.ts';
import { OutOfBounds, UsageError } from './usage-error.ts';

/** Runs one command line (without node and script); gives the exit code. */
export async function main(argv: string[]): Promise<number> {
  const [soon, now] = [new AbortController(), new AbortController()];
  const onInterrupt = (): void => {
    if (soon.signal.aborted) return now.abort();
    if (process.stderr.isTTY) console.error('mound-swarm: agents end their turns; once more stops them now');
    soon.abort();
  };
  process.on('SIGINT', onInterrupt);
  // A reader that has gone away (`| head`) is no fault, and ends no run.
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners('error').includes(ignoreGone)) stream.on('error', ignoreGone);
  try {
    await programOf({ soon: soon.signal, now: now.signal }).parseAsync(argv, { from: 'user' });
    return soon.signal.aborted ? exitCodes.interrupted : exitCodes.ok;
  } catch (error) {
    return report(error);
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** Stays on the streams: the word of it may come late. */
function ignoreGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** What asks models is loaded where it is needed: a look at a run starts at once. */
function programOf(stops: Stops): Command {
  const program = new Command('mound-swarm')
    .description('A planner and its workers, mergers included, on one Mound repository')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  program
    .command('demo')
    .description('run a scripted swarm on a small made-up project')
    .option('--repo <dir>', 'empty repository to use, made where it is not there; default a temporary one')
    .option('--json', 'one JSON object on one line')
    .action((flags: Partial<RunFlags>) => demo(flags, stops));
  const running = program
    .command('run')
    .description('run a swarm towards a goal')
    .argument('[goal]')
    .option('--goal-file <file>', 'the goal, where it is longer than a line')
    .option('--repo <dir>', 'repository', '.');
  withMindFlags(withBoundFlags(withConfigFlag(running)))
    .option('--print-config', 'print the configuration that would hold, without secrets, and run nothing')
    .option('--json', 'one JSON object on one line')
    .option('--jsonl', 'events as they come, the result last')
    .action(async (goal: string | undefined, flags: RunFlags) => (await import('./run.ts')).run(goal, flags, stops));
  const resuming = program
    .command('resume')
    .description('go on with a run that was stopped or cut off')
    .argument('[run]', 'default: the newest')
    .option('--accept-changes', 'with other models, prompts or limits than it was made with')
    .option('--repo <dir>', 'repository', '.');
  withMindFlags(withBoundFlags(withConfigFlag(resuming)))
    .option('--print-config', 'print the configuration that would hold, without secrets, and run nothing')
    .option('--json', 'one JSON object on one line')
    .option('--jsonl', 'events as they come, the result last')
    .action(async (name: string | undefined, flags: ResumeFlags) =>
      (await import('./run.ts')).resume(name, flags, stops),
    );
  const lenses = program
    .command('lenses')
    .description(
      "score the configured review lenses on the repository's own changes, every second with a seeded defect",
    )
    .option('--repo <dir>', 'repository', '.')
    .option('--cases <n>', 'changes, the newest', countFrom(1, 10_000), 20)
    .option('--seed <n>', 'which defects', countFrom(0, 1_000_000_000), 1)
    .option('--json', 'one JSON object on one line');
  withMindFlags(withConfigFlag(lenses)).action(async (flags: LensesFlags) =>
    (await import('./lenses.ts')).scoreLenses(flags, stops),
  );
  addViews(program);
  addControls(program);
  const doctor = program
    .command('doctor')
    .description('check all that a run needs: each line says what to do')
    .option('--repo <dir>', 'repository', '.');
  withMindFlags(withBoundFlags(withConfigFlag(doctor)))
    .option('--json', 'one JSON object on one line')
    .action((flags: RunFlags) => consult(flags, stops.soon));
  return program;
}

async function demo(flags: Partial<RunFlags>, stops: Stops): Promise<void> {
  const { runDemo } = await import('./demo.ts');
  const dir = flags.repo ?? (await mkdtemp(join(tmpdir(), 'mound-demo-')));
  try {
    const repo = await openRepo(dir, { create: true });
    try {
      const result = await runDemo(repo, { stopSignal: stops.soon, signal: stops.now });
      printResult(result, flags);
      if (!flags.json) console.log(whatNext(dir, flags.repo !== undefined));
    } finally {
      await repo.close();
    }
  } finally {
    if (flags.repo === undefined) await rm(dir, { recursive: true, force: true });
  }
}

const whatNext = (dir: string, isKept: boolean): string =>
  isKept
    ? `'mound swarm trace planner-1 --repo ${dir}' shows what its planner said, 'mound ls --repo ${dir}' what came of it`
    : "its repository is gone again; --repo DIR keeps it for 'mound swarm status', 'costs', 'trace' and 'mound log'";

async function consult(flags: RunFlags, signal: AbortSignal): Promise<void> {
  const [{ examine }, { configOf, missingMind }] = await Promise.all([
    import('./doctor.ts'),
    import('./config-of-flags.ts'),
  ]);
  const config = await configOf(flags, process.env);
  const [missing, next] = missingMind(config)?.split(/: (.*)/s) ?? [];
  const found = await examine(config, flags.repo, signal);
  const checks =
    missing === undefined || next === undefined
      ? found
      : [...found, { subject: 'roles', check: 'minds', state: 'fail' as const, says: missing, next }];
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
    const said = error.message
      .replace(/^error: /, '')
      .replace(/\s*\n\s*/g, ' ')
      .replace(/\.$/, '');
    const isBare = error.code === 'commander.help';
    console.error(`mound-swarm: ${isBare ? 'no command given' : said}; see 'mound-swarm --help'`);
    return exitCodes.usage;
  }
  console.error(`mound-swarm: ${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof OutOfBounds) return exitCodes.budget;
  if (error instanceof UsageError || (error instanceof ModelError && error.code === 'key-missing')) {
    return exitCodes.usage;
  }
  return exitCodeOfError(error);
}
