import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { exitCodeOfError, exitCodes, openRepo } from '@mound/vcs';
import { ModelError } from '../model/model-error.ts';
import { OpenAiModel } from '../model/openai-model.ts';
import { runSwarm, type SwarmOptions, type SwarmResult } from '../runtime/run-swarm.ts';
import { runDemo } from './demo.ts';

class UsageError extends Error {}

interface RunFlags {
  readonly repo: string;
  readonly agents: number;
  readonly json?: true;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly apiKeyEnv?: string;
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
  program
    .command('run')
    .description('run a swarm towards a goal')
    .argument('<goal>')
    .option('--repo <dir>', 'repository', '.')
    .option('--agents <n>', 'workers and mergers at once', countOf, 8)
    .option('--base-url <url>', 'OpenAI-compatible endpoint, up to and with /v1; or MOUND_BASE_URL')
    .option('--model <name>', 'model of every role; or MOUND_MODEL')
    .option('--api-key-env <name>', 'NAME of the environment variable that holds the key; or MOUND_API_KEY_ENV')
    .option('--json', 'one JSON object on one line')
    .action((goal: string, flags: RunFlags) => run(goal, flags, signal));
  return program;
}

async function demo(flags: Partial<RunFlags>, signal: AbortSignal): Promise<void> {
  const dir = flags.repo ?? (await mkdtemp(join(tmpdir(), 'mound-demo-')));
  try {
    const repo = await openRepo(dir, { create: true });
    try {
      print(await runDemo(repo, { signal }), flags.json);
    } finally {
      await repo.close();
    }
  } finally {
    if (flags.repo === undefined) await rm(dir, { recursive: true, force: true });
  }
}

async function run(goal: string, flags: RunFlags, signal: AbortSignal): Promise<void> {
  const { env } = process;
  const baseURL = flags.baseUrl ?? env['MOUND_BASE_URL'];
  const name = flags.model ?? env['MOUND_MODEL'];
  const apiKeyEnv = flags.apiKeyEnv ?? env['MOUND_API_KEY_ENV'];
  if (!baseURL || !name) {
    throw new UsageError(
      "no model: give --base-url and --model (an OpenAI-compatible endpoint), or try 'mound-swarm demo', which needs none",
    );
  }
  const model = new OpenAiModel({ baseURL, model: name, ...(apiKeyEnv && { apiKeyEnv }) });
  const repo = await openRepo(flags.repo);
  try {
    const options: SwarmOptions = {
      repo,
      goal,
      models: { planner: model, worker: model, merger: model },
      agentsMax: flags.agents,
      signal,
    };
    const result = await runSwarm(options);
    print(result, flags.json);
    if (result.reason === 'planner-failed') {
      throw new Error(`the planner failed (${result.detail ?? 'no reason given'}); what landed is in the repository`);
    }
  } finally {
    await repo.close();
  }
}

function print(result: SwarmResult, json: true | undefined): void {
  if (json) {
    console.log(JSON.stringify(result));
    return;
  }
  const { outcomes, tasks, agents, landings, roles } = result;
  const turns = roles.planner.turns + roles.worker.turns + roles.merger.turns;
  console.log(
    [
      `run ${result.run}: ${result.reason} after ${result.seconds.toFixed(2)} s`,
      `${tasks.ended} of ${tasks.created} tasks ended; ${agents.names} agents, ${agents.liveMax} at once; ${turns} model turns`,
      `landed ${outcomes.landed}, merged ${outcomes.merged}, conflicted ${outcomes.conflicted}, resolved ${outcomes.resolved}, parked ${outcomes.parked}, rejected ${outcomes.rejected}`,
      `a landing took ${landings.p50Ms.toFixed(1)} ms at the median, ${landings.p99Ms.toFixed(1)} ms at p99`,
    ].join('\n'),
  );
}

/** One clear line on stderr and the documented exit code. */
function report(error: unknown): number {
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
