import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openRepo, type Repo } from '@mound/vcs';
import type { EffectiveConfig } from '../config/config.ts';
import { makeModels, mustKeys } from '../config/make-models.ts';
import { handsOf } from '../config/hand-minds.ts';
import { redacted } from '../config/redact.ts';
import { scoreOf } from '../config/score.ts';
import { commandsOf, recordedLayer, settingsOf } from '../config/settings.ts';
import { isJsonObject } from '../core/json.ts';
import type { RunHeader } from '../runtime/run-header.ts';
import type { RunView } from '../runtime/run-view.ts';
import { resumeSwarm, runSwarm, type SwarmResult } from '../runtime/run-swarm.ts';
import { configOf, missingMind, mustServe, type ConfigFlags } from './config-of-flags.ts';
import { exportAfterRun } from './git-export.ts';
import { namesOf, runNamed, withRepo } from './named-run.ts';
import { follower, printResult, type OutputFlags, type Scores } from './print.ts';
import { OutOfBounds, UsageError } from './usage-error.ts';

/** What Ctrl-C asks for: once, agents end their turns; twice, now. */
export interface Stops {
  readonly soon: AbortSignal;
  readonly now: AbortSignal;
}

export interface RunFlags extends ConfigFlags, OutputFlags {
  readonly goalFile?: string;
  readonly printConfig?: true;
}

export interface ResumeFlags extends RunFlags {
  readonly acceptChanges?: true;
}

export async function run(given: string | undefined, flags: RunFlags, stops: Stops): Promise<void> {
  const config = await configOf(flags, process.env);
  if (flags.printConfig) return printConfig(config);
  const goal = goalOf(given, flags.goalFile);
  mustServe(config);
  const runId = `r${randomBytes(6).toString('hex')}`;
  await perform(config, runId, flags, stops, (parts) =>
    runSwarm({ ...parts, ...settingsOf(config, goal), goal, runId }),
  );
}

/** What nobody names is as the run has it. */
export async function resume(name: string | undefined, flags: ResumeFlags, stops: Stops): Promise<void> {
  const { run: runId, header } = await headerOf(flags.repo, name);
  if (header.state === 'ended' && header.reason === 'finished')
    throw new UsageError(`run ${runId} cannot be resumed: it has finished; 'mound swarm run' begins another`);
  const config = await configOf(flags, process.env, recordedLayer(header.settings));
  if (flags.printConfig) return printConfig(config);
  const missing = missingMind(config);
  if (missing !== undefined) throw new UsageError(`${missing}; run ${runId} was made with ${mindsIn(header)}`);
  await perform(config, runId, flags, stops, (parts) => {
    const { tasks: _, ...settings } = settingsOf(config, '');
    const onChanged = flags.acceptChanges ? 'accept' : 'refuse';
    return resumeSwarm({ ...parts, ...settings, runId, onChanged });
  });
}

const headerOf = (dir: string, name: string | undefined): Promise<Pick<RunView, 'run' | 'header'>> =>
  withRepo(dir, (repo) => runNamed(repo, name));

/** `planner strong, worker cheap`: what served it. */
function mindsIn({ settings }: RunHeader): string {
  const { models } = settings;
  const served = isJsonObject(models) ? models : {};
  return Object.entries(served)
    .map(([role, model]) => `${role} ${typeof model === 'string' ? model : '?'}`)
    .join(', ');
}

type Parts = Pick<
  Parameters<typeof runSwarm>[0],
  'repo' | 'models' | 'prices' | 'commands' | 'processes' | 'onEvent' | 'onSpent' | 'signal' | 'stopSignal'
>;

async function perform(
  config: EffectiveConfig,
  runId: string,
  flags: RunFlags,
  stops: Stops,
  execute: (parts: Parts) => Promise<SwarmResult>,
): Promise<void> {
  mustKeys(config);
  const { settings: commands, says } = commandsOf(config, runId, process.env);
  const repo = await openRepo(flags.repo);
  const shown = follower(flags);
  let closeMinds: (() => Promise<void>) | undefined;
  try {
    if (says !== undefined && !flags.json && !flags.jsonl) console.error(`mound-swarm: ${says}`);
    const { close, ...minds } = await makeModels(config, { repo });
    closeMinds = close;
    const before = await measure(repo, config, stops);
    const result = await execute({
      repo,
      ...minds,
      ...(commands !== undefined && { commands }),
      processes: handsOf(config),
      onEvent: shown.onEvent,
      ...(shown.onSpent && { onSpent: shown.onSpent }),
      stopSignal: stops.soon,
      signal: stops.now,
    });
    shown.close();
    const after = await measure(repo, config, stops);
    await exportAfterRun(repo);
    conclude(result, flags, config.score === undefined ? undefined : { before, after });
  } finally {
    shown.close();
    await closeMinds?.();
    await repo.close();
  }
}

/** The score of the newest tree; undefined where the command prints none. */
const measure = async (repo: Repo, config: EffectiveConfig, stops: Stops): Promise<number | undefined> =>
  config.score === undefined ? undefined : scoreOf(repo, config.score, config, process.env, stops.now);

function printConfig(config: EffectiveConfig): void {
  console.log(JSON.stringify(redacted(config, process.env), null, 2));
}

function conclude(result: SwarmResult, flags: OutputFlags, scores: Scores | undefined): void {
  printResult(result, flags, scores);
  const why = result.detail ?? 'no reason given';
  const next = `'mound swarm resume ${result.run}' goes on with it`;
  switch (result.reason) {
    case 'finished':
      return concludeFinished(result);
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

/** Who started it reads from the exit code whether the goal was reached. */
function concludeFinished({ run: name, status = 'done', tasks: { givenUp } }: SwarmResult): void {
  const whole = status === 'done' || status === 'nothing-to-do';
  const lost = givenUp.length === 0 ? '' : `given up were ${namesOf(givenUp)}; `;
  const see = `'mound swarm status ${name}' and 'mound swarm trace TASK' show why`;
  if (!whole) throw new Error(`the run finished, and its goal is not reached (${status}): ${lost}${see}`);
  if (lost !== '') console.error(`mound-swarm: ${lost}${see}`);
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
