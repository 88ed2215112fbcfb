import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { mechanisms } from '@mound/swarm';

import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { describeMachine, gitVersion } from '../../harness/machine.ts';
import type { Metric } from '../../harness/metric.ts';
import { formatVersion, sampleOf, type Sample } from '../../harness/result-file.ts';
import { rotate } from '../../harness/rounds.ts';
import { medianOf } from '../../harness/statistics.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { IntendedWork } from '../../workloads/intended-work.ts';
import { attempt, type Findings } from '../findings.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';
import type { ArmFigures } from './arm.ts';
import { Build } from './build.ts';
import { runOldStyleArm } from './old-style-arm.ts';
import {
  coordinationOptions,
  coordinationParametersOf,
  exercised,
  type Arm,
  type CoordinationParameters,
} from './parameters.ts';
import { runSwarmArm } from './swarm-arm.ts';

export const coordinationSuite: Suite = {
  name: 'coordination',
  summary: 'The same intended edits through swarms that differ in coordination alone, git worktrees and one agent',
  options: coordinationOptions,
  run: (context) => runCoordinationSuite(coordinationParametersOf(context.size, context.values), context),
};

/** What is told of an arm, by seed. */
const figures: readonly (readonly [Metric, (figure: ArmFigures) => number | undefined])[] = [
  ['conflictsPerAcceptedEdit', ({ conflicts, accepted }) => conflicts / Math.max(1, accepted)],
  ['conflictsPerCommit', ({ conflicts, commits }) => conflicts / Math.max(1, commits)],
  ['acceptedEdits', ({ accepted }) => accepted],
  ['lostUpdates', ({ lost }) => lost],
  ['oscillations', ({ oscillations }) => oscillations],
  ['brokenBuilds', ({ builds, brokenBuilds }) => (builds === 0 ? undefined : brokenBuilds / builds)],
  ['commitsPerRound', ({ commits }) => commits],
  ['neutralCommits', ({ neutralCommits }) => neutralCommits],
  ['wallSeconds', ({ seconds }) => seconds],
  ['tokensTotal', ({ tokens }) => tokens],
  ['mergeQueueMsP50', ({ mergeQueueMsP50 }) => mergeQueueMsP50],
  ['mergeQueueMsP99', ({ mergeQueueMsP99 }) => mergeQueueMsP99],
];

type Found = ReadonlyMap<Arm, readonly ArmFigures[]>;

export async function runCoordinationSuite(
  parameters: CoordinationParameters,
  { dir: parent, signal, progress }: Pick<SuiteContext, 'dir' | 'signal' | 'progress'>,
): Promise<SuiteOutcome> {
  return withTempDir(parent, async (dir): Promise<SuiteOutcome> => {
    const { arms, seeds, agents, thinkMs, ...project } = parameters;
    const findings: Findings = { notes: [], dir, failed: false };
    const build = await Build.load();
    if (build === undefined) findings.notes.push('missing: the TypeScript compiler, so nothing is said of builds');
    const hasGit = (await gitVersion()) !== undefined;
    if (!hasGit) findings.notes.push('missing: old-style (needs git)');
    const able = arms.filter(({ kind }) => kind !== 'old-style' || hasGit);
    const found = new Map<Arm, ArmFigures[]>(able.map((arm) => [arm, []]));
    progress.begin(able.length * seeds);
    try {
      for (let seed = 1; seed <= seeds; seed++) {
        const work = new IntendedWork({ ...project, seed });
        for (const arm of rotate(able, seed - 1)) {
          throwIfInterrupted(signal);
          progress.step(`seed ${seed} of ${seeds}: ${arm.name}`);
          await attempt(arm.name, `do the work of seed ${seed}`, findings, async () => {
            const place = join(dir, `${arm.name}-${seed}`);
            await mkdir(place);
            found.get(arm)?.push(await runArm(arm, work, place, { agents, thinkMs, build, signal }));
          });
        }
      }
    } finally {
      progress.end();
    }
    const workload = { workload: 'coordination', ...project, agents, thinkMs, seeds };
    const samples = samplesOf(found, workload);
    const result = {
      suite: coordinationSuite.name,
      formatVersion,
      machine: await describeMachine(),
      samples,
      notes: [...told(found, parameters), ...findings.notes],
    };
    const isWrong = [...found].some(([{ kind }, all]) => kind !== 'old-style' && all.some(({ lost }) => lost > 0));
    return { kind: 'result', result, exitCode: findings.failed || isWrong ? 1 : 0 };
  });
}

type Surroundings = Pick<CoordinationParameters, 'agents' | 'thinkMs'> & {
  readonly build: Build | undefined;
  readonly signal: AbortSignal;
};

function runArm(
  { kind, coordination }: Arm,
  work: IntendedWork,
  dir: string,
  around: Surroundings,
): Promise<ArmFigures> {
  if (kind === 'old-style') return runOldStyleArm(work, dir, around);
  const agents = kind === 'swarm' ? around.agents : 1;
  return runSwarmArm(work, dir, { ...around, agents, coordination, plans: kind !== 'solo' });
}

function samplesOf(found: Found, workload: Readonly<Record<string, string | number>>): Sample[] {
  return [...found].flatMap(([{ name }, all]) =>
    figures.flatMap(([metric, of]) => {
      const values = all.flatMap((figure) => of(figure) ?? []);
      return values.length === 0 ? [] : [sampleOf(name, workload, metric, values)];
    }),
  );
}

/** For each mechanism, whether what it is for differs without it: in which direction, and in how many of the seeds. */
function told(found: Found, { seeds, files, subtrees, tasksPerSubtree }: CoordinationParameters): string[] {
  const of = (name: string): readonly ArmFigures[] => [...found].find(([arm]) => arm.name === name)?.[1] ?? [];
  const all = of('all-on');
  const compared = (name: string): string[] => {
    const without = of(name);
    if (all.length < seeds || without.length < seeds) return [];
    return figures.slice(0, 6).flatMap(([metric, figure]) => {
      const differences = all.map((one, at) => (figure(without[at] ?? one) ?? 0) - (figure(one) ?? 0));
      if (differences.every((difference) => difference === 0)) return [];
      const more = differences.filter((difference) => difference > 0).length;
      const fewer = differences.filter((difference) => difference < 0).length;
      const median = medianOf(differences);
      const signs = more > 0 && fewer > 0 ? `; THE SIGN CHANGES with the seed (${more} more, ${fewer} fewer)` : '';
      return [`${metric} ${median >= 0 ? '+' : ''}${Number(median.toPrecision(3))}${signs}`];
    });
  };
  const effects = [...found.keys()]
    .filter(({ name }) => name !== 'all-on')
    .map(({ name }) => `${name}, beside all-on: ${compared(name).join('; ') || 'no difference'}`);
  const others = mechanisms.filter((name) => !exercised.includes(name));
  return [
    `${seeds} streams of intended edits, each through every arm: ${files} files, ${subtrees} subtrees of ${tasksPerSubtree} tasks; ` +
      'minds are scripts that do not know their arm, conflicts and losses come from the store or git, builds from the TypeScript compiler',
    ...effects,
    `not measured, for it depends on what a model makes of it: ${others.join(', ')}`,
    'tokens are estimated by length; a conflict in old-style is a merge that the integrator aborted, or a lock that another had',
  ];
}
