import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import {
  allOff,
  runSwarm,
  ScriptedModel,
  type Coordination,
  type GivenTask,
  type Safeguard,
  type SwarmEvent,
  type SwarmOptions,
} from '@mound/swarm';
import { absent, openRepo, ruleRecord, signalsRecord, type Author, type CommitView, type Repo } from '@mound/vcs';

import { corePath, entriesPerSection, fullLines, fullPart, registrySections } from '../../workloads/intended-text.ts';
import type { IntendedWork } from '../../workloads/intended-work.ts';
import { judgeBuilds, judgeEdits, parameterName, sampled, type ArmFigures } from './arm.ts';
import type { Build, Tree } from './build.ts';
import { allJobs } from './jobs.ts';
import { Minds } from './minds.ts';

export interface SwarmArmOptions {
  readonly coordination: Coordination;
  readonly without: readonly Safeguard[];
  readonly agents: number;
  /** False: no planner; one agent has all tasks in a row. */
  readonly plans: boolean;
  readonly thinkMs: number;
  readonly leaseMs: number;
  readonly build: Build | undefined;
  readonly signal: AbortSignal;
}

const seeder: Author = { name: 'bench', kind: 'system' };
const neutralRoles: readonly string[] = ['merger', 'reconciler', 'decomposer', 'reviewer'];
/** The registry is large from a few entries more on. */
const megafileLines = registrySections * (entriesPerSection + 1) + 3;
/** A look at the build each so many landings. */
const greenEvery = 20;
/** Of the run; no arm comes near. */
const tokensMax = 1e9;

/** The rules and signals of the repository, the same in every arm. */
const surroundings = [
  ruleRecord('full', { kind: 'line-budget', paths: [fullPart], linesMax: fullLines }, absent),
  signalsRecord({ megafile: { bytes: 1 << 20, lines: megafileLines } }, absent),
];

/** How long somebody stands still who does. */
export const stallMsOf = (leaseMs: number): number => 1.5 * leaseMs;

function policyOf(coordination: Coordination, without: readonly Safeguard[]): NonNullable<SwarmOptions['policy']> {
  const builder = fileURLToPath(new URL('../../../bin/build-tree.js', import.meta.url));
  return {
    transcripts: false,
    thrashing: false,
    coordination,
    unsafeWithout: without,
    review: {
      onBlocking: 'task',
      lenses: [
        { name: 'arguments', sees: 'codebase', model: 'reviewer', persona: 'You count arguments.', appliesTo: ['src'], rate: 0.3 },
      ],
    },
    green: { command: `${process.execPath} ${builder}`, everyCommits: greenEvery, everyMs: 60_000, policy: 'task', runs: 1 },
  }; // prettier-ignore
}

/** The work, done by a swarm of scripted minds in a store of its own. */
export async function runSwarmArm(work: IntendedWork, dir: string, options: SwarmArmOptions): Promise<ArmFigures> {
  const { agents, plans, thinkMs, leaseMs, build, signal } = options;
  const repo = await openRepo(join(dir, 'repo'), { create: true });
  try {
    const changes = [...work.initialFiles()].map(
      ([path, content]) => ({ kind: 'put', path, content, expect: absent }) as const,
    );
    await repo.land({ author: seeder, message: 'Initial files', changes, records: surroundings });
    const startSeq = repo.snapshot().seq;
    const minds = new Minds(work, { thinkMs, stallMs: stallMsOf(leaseMs) });
    const model = new ScriptedModel(minds.scripts);
    const doubled = new Doubled();
    const result = await runSwarm({
      repo,
      goal: 'Bring everything in that is wanted',
      runId: 'bench',
      models: Object.fromEntries(Object.keys(minds.scripts).map((role) => [role, model])),
      agentsMax: agents,
      ...(!plans && { tasks: givenTasks(work) }),
      policy: policyOf(plans ? options.coordination : allOff, options.without),
      budget: { tokens: tokensMax },
      commands: { directory: join(dir, 'commands'), environment: { PATH: process.env['PATH'] ?? '' } },
      limits: { fruitlessTasksMax: 10_000, leaseMs, taskAttemptsMax: 10 },
      onEvent: (event) => doubled.seen(event),
      signal,
    });
    if (result.reason !== 'finished') throw new Error(`the run ended: ${result.reason} ${result.detail ?? ''}`);
    const landings = [...repo.log()].filter(({ seq, changes: made }) => seq > startSeq && made.length > 0).toReversed();
    const events = [...repo.events()];
    const count = (kind: string): number => events.filter((event) => event.kind === kind).length;
    const piledOn = new Set(events.flatMap(({ kind, seq }) => (kind === 'file.piled-on' ? [seq] : [])));
    const { usage } = result.cost.total;
    return {
      ...judgeEdits(work, treeAt(repo, repo.snapshot().seq), acknowledgedTasks(landings)),
      ...(await judgeBuilds(
        build,
        sampled(landings.map(({ seq }) => seq)).map((seq) => treeAt(repo, seq)),
      )),
      conflicts: count('conflict.opened'),
      commits: landings.length,
      neutralCommits: landings.filter(isNeutral).length,
      refusedTries: result.outcomes.rejected,
      duplicateWork: doubled.count + piledOn.size,
      oscillations: count('file.oscillated'),
      seconds: result.seconds,
      tokens: usage.inputTokens + usage.outputTokens,
      toldTokens: minds.toldTokens,
      passRate: result.green?.passRate,
      mergeQueueMsP50: result.merges.queueDelayMs.p50,
      mergeQueueMsP99: result.merges.queueDelayMs.p99,
    };
  } finally {
    await repo.close();
  }
}

const isNeutral = ({ author, changes }: CommitView): boolean =>
  neutralRoles.includes(author.role ?? '') ||
  author.kind === 'system' ||
  changes.every(({ path }) => !path.startsWith('src/'));

/** Counts what more than one owner of a task published. */
class Doubled {
  readonly #taskOf = new Map<string, { readonly task: string; readonly life: number }>();
  readonly #lives = new Map<string, Set<number>>();
  #started = 0;

  seen(event: SwarmEvent): void {
    if (event.kind === 'agent.started' && event.role === 'worker' && event.task !== undefined)
      this.#taskOf.set(event.agent, { task: event.task, life: ++this.#started });
    if (event.kind !== 'intent.answered' || event.outcome === 'rejected') return;
    const at = this.#taskOf.get(event.agent);
    if (at === undefined) return;
    const lives = this.#lives.get(at.task) ?? new Set();
    this.#lives.set(at.task, lives.add(at.life));
  }

  get count(): number {
    return [...this.#lives.values()].reduce((sum, { size }) => sum + size - 1, 0);
  }
}

/** Tasks, and parameters of the core function, that somebody was told are on the trunk. */
const acknowledgedTasks = (landings: readonly CommitView[]): Set<string> =>
  new Set(
    landings.flatMap(({ task = '', message, changes }) => {
      const [id = ''] = (task.split('/').at(-1) ?? '').split('.');
      const extended = id.startsWith('extend') ? (message.match(/task\d+/g) ?? []) : [id];
      const isCore = changes.some(({ path }) => path === corePath);
      return [id, ...(isCore ? extended.map(parameterName) : [])];
    }),
  );

function treeAt(repo: Repo, seq: number): Tree {
  const snapshot = repo.snapshot(seq);
  return new Map(snapshot.list('src').map(({ path }) => [path, snapshot.readText(path) ?? '']));
}

/** One after another, as one agent alone would take them; what makes it build comes last. */
function givenTasks(work: IntendedWork): GivenTask[] {
  const jobs = allJobs(work);
  const ids = jobs.map((job, at) => (job.kind === 'task' ? job.task : `${job.kind}-${at}`));
  return jobs.map((job, at) => {
    const before = ids[at - 1];
    return {
      id: ids[at] as GivenTask['id'],
      title: ids[at] ?? '',
      scope: [],
      brief: '',
      input: job,
      ...(before !== undefined && { after: [before as GivenTask['id']] }),
    };
  });
}
