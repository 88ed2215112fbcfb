import { readFileSync } from 'node:fs';
import { openRepo, type Repo } from '@mound/vcs';
import type { JsonObject } from '../core/json.ts';
import type { ResumeOptions, SwarmLimits } from '../runtime/run-options.ts';
import { makeModels, mustKeys } from '../runtime/model-mix.ts';
import { resumeSwarm, runSwarm, type SwarmResult } from '../runtime/run-swarm.ts';
import { exportAfterRun } from './git-export.ts';
import { budgetOfFlags, limitsOfFlags, type BoundFlags } from './bound-flags.ts';
import type { MixFlags } from './mix-flags.ts';
import { mixOf } from './mix-of-flags.ts';
import { runNamed } from './named-run.ts';
import { eventPrinter, printResult, type OutputFlags } from './print.ts';
import { OutOfBounds, UsageError } from './usage-error.ts';

/** What Ctrl-C asks for: once, agents end their turns; twice, now. */
export interface Stops {
  readonly soon: AbortSignal;
  readonly now: AbortSignal;
}

export interface RunFlags extends MixFlags, OutputFlags, BoundFlags {
  readonly repo: string;
  readonly goalFile?: string;
}

export interface ResumeFlags extends RunFlags {
  readonly acceptChanges?: true;
}

export async function run(given: string | undefined, flags: RunFlags, stops: Stops): Promise<void> {
  const goal = goalOf(given, flags.goalFile);
  await withModels(flags, async (repo, models) => {
    const result = await runSwarm({ ...models, ...settingsOf(flags, stops), repo, goal });
    await exportAfterRun(repo);
    conclude(result, flags);
  });
}

/** What nobody names is as the run has it. */
export async function resume(name: string | undefined, flags: ResumeFlags, stops: Stops): Promise<void> {
  await withModels(flags, async (repo, models) => {
    const { run: runId, header } = runNamed(repo, name);
    const result = await resumeSwarm({
      ...models,
      ...settingsOf(flags, stops, header.settings),
      repo,
      runId,
      onChanged: flags.acceptChanges ? 'accept' : 'refuse',
    });
    await exportAfterRun(repo);
    conclude(result, flags);
  });
}

async function withModels(
  flags: RunFlags,
  use: (repo: Repo, models: ReturnType<typeof makeModels>) => Promise<void>,
): Promise<void> {
  const mix = mixOf(flags, process.env);
  mustKeys(mix);
  const repo = await openRepo(flags.repo);
  try {
    await use(repo, makeModels(mix, { repo }));
  } finally {
    await repo.close();
  }
}

type Settings = Pick<ResumeOptions, 'agentsMax' | 'budget' | 'limits' | 'onEvent' | 'stopSignal' | 'signal'>;

function settingsOf(flags: RunFlags, stops: Stops, recorded: JsonObject = {}): Settings {
  const agents = recorded['agentsMax'];
  return {
    agentsMax: flags.agents ?? (typeof agents === 'number' ? agents : 8),
    budget: budgetOfFlags(flags),
    limits: { ...limitsOfRecord(recorded['limits']), ...limitsOfFlags(flags) },
    onEvent: eventPrinter(flags),
    stopSignal: stops.soon,
    signal: stops.now,
  };
}

/** They stand there as text, for one of them may be infinite. */
function limitsOfRecord(recorded: unknown): Partial<SwarmLimits> {
  if (typeof recorded !== 'object' || recorded === null) return {};
  return Object.fromEntries(Object.entries(recorded).map(([limit, value]) => [limit, Number(value)]));
}

function conclude(result: SwarmResult, flags: OutputFlags): void {
  printResult(result, flags);
  const why = result.detail ?? 'no reason given';
  const next = `'mound swarm resume ${result.run}' goes on with it`;
  switch (result.reason) {
    case 'finished':
      return;
    case 'aborted':
      return console.error(`mound-swarm: the run was stopped; ${next}`);
    case 'planner-failed':
      throw new Error(`the planner failed (${why}); what landed is in the repository; ${next}`);
    case 'budget':
      throw new OutOfBounds(`the run stopped at its budget (${why}); ${next} once --usd or --tokens allow more`);
    case 'time-limit':
      throw new OutOfBounds(`the run stopped at its time limit; ${next}`);
    case 'thrashing':
    case 'no-progress':
      throw new Error(`the run stopped: ${result.reason} (${why}); ${next}`);
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
