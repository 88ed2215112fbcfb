import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { absent, openRepo, type Repo } from '@mound/vcs';
import { runSwarm, shippedRoles, type TaskId } from '@mound/swarm';

import { runCommand } from '../../harness/child-process.ts';
import type { BareMeasured, BareWork } from './bare-process.ts';
import { scriptOf, WatchedModel, type Measured } from './minds.ts';
import { contentOf, pathOf, type MindOptions, type StepKind, type SwarmParameters } from './parameters.ts';

const inBin = (name: string): string => fileURLToPath(new URL(`../../../bin/${name}`, import.meta.url));

export interface RunMeasured {
  /** Of all processes, scripts left out. */
  readonly cpuMs: number;
  readonly stepMs: Float64Array;
  readonly residentBytes: number;
  /** Steps of which the repository has nothing. */
  readonly lost: number;
}

/** A repository in which each agent has a file; its FileVersion. */
async function seeded(dir: string, agents: number): Promise<{ readonly repo: Repo; readonly seq: number }> {
  const repo = await openRepo(dir, { create: true });
  const changes = Array.from({ length: agents }, (_, at) => ({
    kind: 'put' as const,
    path: pathOf(at),
    content: contentOf(at, 0),
    expect: absent,
  }));
  const outcome = await repo.land({ author: { name: 'bench', kind: 'system' }, message: 'start', changes });
  if (outcome.kind !== 'landed') throw new Error(`the repository was not seeded: ${outcome.kind}`);
  return { repo, seq: outcome.seq };
}

/** One run of scripted agents over its processes. `busyMs`: what the control wastes after each step. */
export async function runAgents(
  kind: StepKind,
  { agents, processes, steps }: SwarmParameters,
  dir: string,
  signal: AbortSignal,
  busyMs: number,
): Promise<RunMeasured> {
  const { repo, seq } = await seeded(join(dir, 'repo'), agents);
  const options: MindOptions = { kind, steps, dir: join(dir, 'measured') };
  mkdirSync(options.dir);
  const model = new WatchedModel(scriptOf(options));
  const { worker, ...roles } = shippedRoles();
  try {
    const tasks = Array.from({ length: agents }, (_, at) => ({
      id: `t${at}` as TaskId,
      title: `agent ${at}`,
      scope: [pathOf(at)],
      brief: 'count up',
      input: { path: pathOf(at), version: seq },
    }));
    const result = await runSwarm({
      repo,
      goal: 'count up',
      runId: 'bench',
      models: { worker: model },
      roles: { ...roles, worker: { ...worker, maxTurns: steps + 2 } },
      agentsMax: agents,
      tasks,
      processes: { count: processes, module: inBin('swarm-minds.js'), options },
      signal,
      onEvent: (event) => {
        if (busyMs > 0 && event.kind === 'intent.answered') beBusy(busyMs);
      },
    });
    if (result.reason !== 'finished') throw new Error(`a run ended by ${result.reason}: ${result.detail ?? ''}`);
    const all = [model.measured(), ...filesIn(options.dir)];
    const sum = (of: (one: Measured) => number): number => all.reduce((total, one) => total + of(one), 0);
    return {
      cpuMs: sum(({ cpuMs }) => cpuMs) - sum(({ modelMs }) => modelMs),
      stepMs: Float64Array.from(all.flatMap(({ stepMs }) => stepMs)),
      residentBytes: sum(({ residentBytes }) => residentBytes),
      lost: kind === 'step' ? lostIn(repo, agents, steps) : 0,
    };
  } finally {
    await repo.close();
  }
}

const filesIn = (dir: string): Measured[] =>
  readdirSync(dir).map((name) => JSON.parse(readFileSync(join(dir, name), 'utf8')) as Measured);

/** What every file should hold behind all steps, read from the newest snapshot. */
function lostIn(repo: Repo, agents: number, steps: number): number {
  const snapshot = repo.snapshot();
  const isWhole = (at: number): boolean => snapshot.readText(pathOf(at)) === contentOf(at, steps);
  return Array.from({ length: agents }, (_, at) => (isWhole(at) ? 0 : steps)).reduce<number>(
    (sum, one) => sum + one,
    0,
  );
}

function beBusy(ms: number): void {
  const from = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(from);
    if (user + system >= ms * 1000) return;
  }
}

/** The same calls of the store from as many processes, without a runtime: CPU time of all, in milliseconds. */
export async function runBare(
  { agents, processes, steps }: SwarmParameters,
  dir: string,
  signal: AbortSignal,
): Promise<number> {
  const { repo, seq } = await seeded(join(dir, 'repo'), agents);
  await repo.close();
  const shares = Array.from({ length: processes }, (_, at) => Math.floor((agents + at) / processes));
  let from = 0;
  const running = shares.map((share) => {
    const work: BareWork = { repo: join(dir, 'repo'), from, agents: share, steps, version: seq };
    from += share;
    const args = [inBin('swarm-bare.js'), JSON.stringify(work)];
    return runCommand(process.execPath, args, { cwd: dir, env: process.env, signal });
  });
  const outputs = await Promise.all(running);
  return outputs.reduce((sum, text) => sum + (JSON.parse(text.toString('utf8')) as BareMeasured).cpuMs, 0);
}
