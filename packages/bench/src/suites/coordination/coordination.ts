import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { gitVersion } from '../../harness/machine.ts';
import { makeResult } from '../../harness/make-result.ts';
import { sampleOf, type Sample } from '../../harness/result-file.ts';
import { rotate } from '../../harness/rounds.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { IntendedWork } from '../../workloads/intended-work.ts';
import { attempt, type Findings } from '../findings.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';
import type { ArmFigures } from './arm.ts';
import { Build } from './build.ts';
import { controlFaults } from './control.ts';
import { effectsOf, figures, type Comparison, type Effect } from './effects.ts';
import { runOldStyleArm } from './old-style-arm.ts';
import {
  coordinationOptions,
  coordinationParametersOf,
  variationsOf,
  type Arm,
  type CoordinationParameters,
  type Variation,
} from './parameters.ts';
import { runSwarmArm, stallMsOf } from './swarm-arm.ts';

export const coordinationSuite: Suite = {
  name: 'coordination',
  summary: 'The same intended edits through swarms that differ in coordination alone, git worktrees and one agent',
  options: coordinationOptions,
  run: (context) => runCoordinationSuite(coordinationParametersOf(context.size, context.values), context),
};

type Found = ReadonlyMap<Arm, readonly ArmFigures[]>;

export async function runCoordinationSuite(
  parameters: CoordinationParameters,
  { dir: parent, signal, progress }: Pick<SuiteContext, 'dir' | 'signal' | 'progress'>,
): Promise<SuiteOutcome> {
  return withTempDir(parent, async (dir): Promise<SuiteOutcome> => {
    const { arms, seeds, agents, thinkMs, leaseMs, skew = 1, sweep: _, ...project } = parameters;
    const findings: Findings = { notes: [], dir, failed: false };
    const build = await Build.load();
    if (build === undefined) findings.notes.push('missing: the TypeScript compiler, so nothing is said of builds');
    const blind = controlFaults(new IntendedWork({ ...project, skew, seed: 1 }), build);
    if (blind.length > 0) findings.failed = true;
    findings.notes.push(
      blind.length === 0
        ? `control: an edit that is taken out counts as lost${build === undefined ? '' : ', and a tree with a fault does not build'}`
        : `FAULT: control: ${blind.join('; ')}: trust nothing here`,
    );
    const hasGit = (await gitVersion()) !== undefined;
    if (!hasGit) findings.notes.push('missing: old-style (needs git)');
    const able = arms.filter(({ kind }) => kind !== 'old-style' || hasGit);
    const swept = able.filter(({ kind }) => kind === 'swarm');
    const variations = variationsOf(parameters);
    const own: Variation = { name: '', assumed: { agents, thinkMs, skew } };
    const found = new Map<Variation, Map<Arm, ArmFigures[]>>();
    const gather = async ({ assumed, name }: Variation, arm: Arm, seed: number, to: ArmFigures[]): Promise<void> => {
      throwIfInterrupted(signal);
      const about = `${arm.name}, stream ${seed}${name === '' ? '' : `, ${name}`}`;
      progress.step(about);
      await attempt(arm.name, `do the work of ${about}`, findings, async () => {
        const place = join(dir, 'arm');
        await mkdir(place);
        try {
          const work = new IntendedWork({ ...project, skew: assumed.skew, seed });
          to.push(await runArm(arm, work, place, { ...assumed, leaseMs, build, signal }));
        } finally {
          await rm(place, { recursive: true, force: true, maxRetries: 3 });
        }
      });
    };
    progress.begin(able.length * seeds + swept.length * variations.length);
    try {
      for (const [at, variation] of [own, ...variations].entries()) {
        const these = at === 0 ? able : swept;
        const of = new Map<Arm, ArmFigures[]>(these.map((arm) => [arm, []]));
        found.set(variation, of);
        for (let seed = 1; seed <= (at === 0 ? seeds : 1); seed++)
          for (const arm of rotate(these, seed - 1 + at)) await gather(variation, arm, seed, of.get(arm) ?? []);
      }
    } finally {
      progress.end();
    }
    const samples = [...found].flatMap(([{ assumed }, of]) =>
      samplesOf(of, { workload: 'coordination', ...project, ...assumed, seeds: assumed === own.assumed ? seeds : 1 }),
    );
    const result = await makeResult({
      suite: coordinationSuite.name,
      samples,
      notes: [...told(found, parameters), ...findings.notes],
      seeds: [...Array(seeds).keys()].map((at) => at + 1),
      ...(build !== undefined && { versions: { typescript: build.version } }),
    });
    const all = [...found.values()].flatMap((of) => [...of]);
    const isWrong = all.some(([{ kind }, these]) => kind !== 'old-style' && these.some(({ lost }) => lost > 0));
    return { kind: 'result', result, exitCode: findings.failed || isWrong ? 1 : 0 };
  });
}

type Surroundings = Pick<CoordinationParameters, 'agents' | 'thinkMs' | 'leaseMs'> & {
  readonly build: Build | undefined;
  readonly signal: AbortSignal;
};

function runArm(
  { kind, coordination, without }: Arm,
  work: IntendedWork,
  dir: string,
  around: Surroundings,
): Promise<ArmFigures> {
  if (kind === 'old-style') return runOldStyleArm(work, dir, { ...around, stallMs: stallMsOf(around.leaseMs) });
  const agents = kind === 'swarm' ? around.agents : 1;
  return runSwarmArm(work, dir, { ...around, agents, coordination, without, plans: kind !== 'solo' });
}

function samplesOf(found: Found, workload: Readonly<Record<string, string | number>>): Sample[] {
  return [...found].flatMap(([{ name }, all]) =>
    figures.flatMap(([metric, of]) => {
      const values = all.flatMap((figure) => of(figure) ?? []);
      return values.length === 0 ? [] : [sampleOf(name, workload, metric, values)];
    }),
  );
}

/** For each arm, how it differs from the one with everything, and where the sign of that changes. */
function told(
  found: ReadonlyMap<Variation, Found>,
  { seeds, files, subtrees, tasksPerSubtree, arms }: CoordinationParameters,
): string[] {
  const compared = (name: string): Comparison[] =>
    [...found].flatMap(([{ name: assumed }, of]) => {
      const figuresOf = (wanted: string): readonly ArmFigures[] =>
        [...of].find(([arm]) => arm.name === wanted)?.[1] ?? [];
      const [on, off] = [figuresOf('all-on'), figuresOf(name)];
      return on.length === 0 || on.length !== off.length ? [] : [{ assumed, with: on, without: off }];
    });
  const effects = arms
    .filter(({ name }) => name !== 'all-on')
    .flatMap(({ name }) => {
      const comparisons = compared(name);
      if (comparisons.length === 0) return [];
      return [`${name}, beside all-on: ${wordsOf(effectsOf(comparisons))}`];
    });
  return [
    `${seeds} streams of intended edits, each through every arm: ${files} files, ${subtrees} subtrees of ${tasksPerSubtree} tasks; ` +
      'minds are scripts that do not know their arm, conflicts and losses come from the store or git, builds from the TypeScript compiler',
    ...effects,
    'not measured, for it depends on what a model makes of it: what reviewers find beyond a wrong number of arguments, what notes say beyond one trap, and what an explanation of a failing build is worth',
    'tokens, those that were told too, are estimated by length, four bytes each; a conflict in old-style is a merge that the integrator aborted, or a lock that another had; ' +
      'fences and budgets are off in no-fences and no-budgets by a switch that only an experiment has',
  ];
}

/** What one stream shows and another does not is no effect. */
function wordsOf(effects: readonly Effect[]): string {
  if (effects.length === 0) return 'no difference';
  const holds = effects.some(({ isSteady }) => isSteady);
  return `${holds ? '' : 'no effect that every stream shows: '}${effects.map(({ says }) => says).join('; ')}`;
}
