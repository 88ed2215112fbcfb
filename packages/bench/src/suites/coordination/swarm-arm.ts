import { join } from 'node:path';

import { allOff, runSwarm, ScriptedModel, type Coordination, type GivenTask } from '@mound/swarm';
import { absent, openRepo, type Author, type CommitView, type Repo } from '@mound/vcs';

import type { IntendedWork } from '../../workloads/intended-work.ts';
import { judgeBuilds, judgeEdits, sampled, type ArmFigures } from './arm.ts';
import type { Build, Tree } from './build.ts';
import { allJobs, type Job } from './jobs.ts';
import { Minds } from './minds.ts';

export interface SwarmArmOptions {
  readonly coordination: Coordination;
  readonly agents: number;
  /** False: no planner; one agent has all tasks in a row. */
  readonly plans: boolean;
  readonly thinkMs: number;
  readonly build: Build | undefined;
  readonly signal: AbortSignal;
}

const seeder: Author = { name: 'bench', kind: 'system' };
const neutralRoles: readonly string[] = ['merger', 'reconciler', 'decomposer'];

/** The work, done by a swarm of scripted minds in a store of its own. */
export async function runSwarmArm(work: IntendedWork, dir: string, options: SwarmArmOptions): Promise<ArmFigures> {
  const { coordination, agents, plans, thinkMs, build, signal } = options;
  const repo = await openRepo(join(dir), { create: true });
  try {
    const changes = [...work.initialFiles()].map(
      ([path, content]) => ({ kind: 'put', path, content, expect: absent }) as const,
    );
    await repo.land({ author: seeder, message: 'Initial files', changes });
    const startSeq = repo.snapshot().seq;
    const model = new ScriptedModel(new Minds(work, thinkMs).scripts);
    const result = await runSwarm({
      repo,
      goal: 'Bring everything in that is wanted',
      runId: 'bench',
      models: { planner: model, worker: model, merger: model, reconciler: model },
      agentsMax: agents,
      ...(!plans && { tasks: givenTasks(work) }),
      policy: { transcripts: false, thrashing: false, coordination: plans ? coordination : allOff },
      limits: { fruitlessTasksMax: 10_000 },
      signal,
    });
    if (result.reason !== 'finished') throw new Error(`the run ended: ${result.reason} ${result.detail ?? ''}`);
    const landings = [...repo.log()].filter(({ seq, changes: made }) => seq > startSeq && made.length > 0).toReversed();
    const events = [...repo.events()].map(({ kind }) => kind);
    const count = (kind: string): number => events.filter((one) => one === kind).length;
    const { usage } = result.cost.total;
    return {
      ...judgeEdits(work, treeAt(repo, repo.snapshot().seq), acknowledgedTasks(landings)),
      ...(await judgeBuilds(
        build,
        sampled(landings.map(({ seq }) => seq)).map((seq) => treeAt(repo, seq)),
      )),
      conflicts: count('conflict.opened'),
      commits: landings.length,
      neutralCommits: landings.filter(({ author }) => neutralRoles.includes(author.role ?? '')).length,
      oscillations: count('file.oscillated'),
      seconds: result.seconds,
      tokens: usage.inputTokens + usage.outputTokens,
      mergeQueueMsP50: result.merges.queueDelayMs.p50,
      mergeQueueMsP99: result.merges.queueDelayMs.p99,
    };
  } finally {
    await repo.close();
  }
}

/** Tasks of which something is on the trunk, by their own names. */
const acknowledgedTasks = (landings: readonly CommitView[]): Set<string> =>
  new Set(landings.flatMap(({ task }) => task?.split('/').at(-1) ?? []));

function treeAt(repo: Repo, seq: number): Tree {
  const snapshot = repo.snapshot(seq);
  return new Map(snapshot.list('src').map(({ path }) => [path, snapshot.readText(path) ?? '']));
}

/** One after another, as one agent alone would take them; what makes it build comes last. */
function givenTasks(work: IntendedWork): GivenTask[] {
  const jobs: Job[] = [...allJobs(work), { kind: 'repair' }];
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
