import { allOff, allOn, mechanisms, type Coordination, type Mechanism } from '@mound/swarm';

import type { IntendedWorkParameters } from '../../workloads/intended-work.ts';
import { listOf, UsageError, wholeNumber, type SuiteOption, type SuiteSize } from '../suite.ts';

export interface CoordinationParameters extends Omit<IntendedWorkParameters, 'seed'> {
  readonly agents: number;
  readonly thinkMs: number;
  readonly seeds: number;
  readonly arms: readonly Arm[];
}

/** Mechanisms on which this load has an effect, or could have; what the others do depends on what a model makes of it. */
export const exercised: readonly Mechanism[] = mechanisms.filter((name) =>
  ['split-brain', 'merger', 'reconciler', 'fresh-reads'].includes(name),
);

/** One way to organise the same work. */
export interface Arm {
  readonly name: string;
  readonly kind: 'swarm' | 'solo' | 'one-at-a-time' | 'old-style';
  readonly coordination: Coordination;
}

export const allArms: readonly Arm[] = [
  { name: 'all-on', kind: 'swarm', coordination: allOn },
  { name: 'all-off', kind: 'swarm', coordination: allOff },
  ...exercised.map((name): Arm => ({ name: `no-${name}`, kind: 'swarm', coordination: { ...allOn, [name]: 'off' } })),
  { name: 'one-at-a-time', kind: 'one-at-a-time', coordination: allOn },
  { name: 'solo', kind: 'solo', coordination: allOff },
  { name: 'old-style', kind: 'old-style', coordination: allOff },
];

type Sizing = Omit<CoordinationParameters, 'arms'>;

const sizes: Readonly<Record<SuiteSize, Sizing>> = {
  quick: { files: 30, subtrees: 2, tasksPerSubtree: 8, agents: 8, thinkMs: 20, seeds: 1 },
  default: { files: 60, subtrees: 4, tasksPerSubtree: 24, agents: 16, thinkMs: 40, seeds: 3 },
  full: { files: 120, subtrees: 6, tasksPerSubtree: 48, agents: 32, thinkMs: 60, seeds: 5 },
};

export const coordinationOptions: readonly SuiteOption[] = [
  {
    flags: '--arms <list>',
    description: `of ${allArms.map(({ name }) => name).join(',')} (all)`,
    parse: listOf(armOf),
  },
  { flags: '--agents <n>', description: 'workers at once', parse: wholeNumber(1, 1000) },
  { flags: '--files <n>', description: 'files of the project', parse: wholeNumber(10, 10_000) },
  { flags: '--subtrees <n>', description: "planners below the goal's", parse: wholeNumber(2, 100) },
  { flags: '--tasks-per-subtree <n>', description: 'tasks of each', parse: wholeNumber(1, 10_000) },
  { flags: '--think-ms <n>', description: 'a turn of a mind, on average', parse: wholeNumber(0, 60_000) },
  { flags: '--seeds <n>', description: 'streams of work, each through every arm', parse: wholeNumber(1, 100) },
];

function armOf(name: string): Arm {
  const found = allArms.find((arm) => arm.name === name);
  if (found === undefined)
    throw new UsageError(`no arm '${name}'; there are ${allArms.map((arm) => arm.name).join(', ')}`);
  return found;
}

export const coordinationParametersOf = (
  size: SuiteSize,
  values: Readonly<Record<string, unknown>>,
): CoordinationParameters => ({ ...sizes[size], arms: allArms, ...values });
