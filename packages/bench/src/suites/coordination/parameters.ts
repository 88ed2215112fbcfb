import { allOff, allOn, mechanisms, safeguards, type Coordination, type Safeguard } from '@mound/swarm';

import type { IntendedWorkParameters } from '../../workloads/intended-work.ts';
import { listOf, ownValues, UsageError, wholeNumber, type SuiteOption, type SuiteSize } from '../suite.ts';

export interface CoordinationParameters extends Omit<IntendedWorkParameters, 'seed'> {
  readonly agents: number;
  readonly thinkMs: number;
  /** Then an owner of a task that has got no further loses it; one who stands still does for half as long again. */
  readonly leaseMs: number;
  readonly seeds: number;
  readonly arms: readonly Arm[];
  /** What is assumed and could be otherwise: each is tried at other values too, with one stream. */
  readonly sweep: readonly Assumption[];
}

/** One way to organise the same work. */
export interface Arm {
  readonly name: string;
  readonly kind: 'swarm' | 'solo' | 'one-at-a-time' | 'old-style';
  readonly coordination: Coordination;
  /** What only an experiment does without. */
  readonly without: readonly Safeguard[];
}

const arm = (name: string, kind: Arm['kind'], coordination: Coordination, without: Arm['without'] = []): Arm => ({
  name,
  kind,
  coordination,
  without,
});

export const allArms: readonly Arm[] = [
  arm('all-on', 'swarm', allOn),
  arm('all-off', 'swarm', allOff, safeguards),
  ...mechanisms.map((name) => arm(`no-${name}`, 'swarm', { ...allOn, [name]: 'off' })),
  ...safeguards.map((name) => arm(`no-${name}`, 'swarm', allOn, [name])),
  arm('one-at-a-time', 'one-at-a-time', allOn),
  arm('solo', 'solo', allOff),
  arm('old-style', 'old-style', allOff),
];

/** What a quick run takes: the others show little at its size. */
const quickNames = ['all-on', 'all-off', 'no-merger', 'no-fresh-reads', 'no-field-guide', 'no-green', 'no-fences', 'solo', 'old-style']; // prettier-ignore
const quickArms = allArms.filter(({ name }) => quickNames.includes(name));

export const assumptions = ['agents', 'hot-share', 'latency'] as const;
export type Assumption = (typeof assumptions)[number];

type Assumed = Pick<CoordinationParameters, 'agents' | 'thinkMs'> & { readonly skew: number };

export interface Variation {
  readonly name: string;
  readonly assumed: Assumed;
}

/** Each assumption at a value below and one above. */
export function variationsOf({ agents, thinkMs, skew = 1, sweep }: CoordinationParameters): Variation[] {
  const base = { agents, thinkMs, skew };
  const changed = (name: string, change: Partial<Assumed>): Variation => ({ name, assumed: { ...base, ...change } });
  const half = Math.max(2, Math.round(agents / 2));
  return sweep.flatMap((name): Variation[] => {
    switch (name) {
      case 'agents':
        return [half, agents * 2].map((count) => changed(`${count} agents`, { agents: count }));
      case 'hot-share':
        return [0, 2].map((other) => changed(other === 0 ? 'no hot files' : 'hotter files', { skew: other }));
      case 'latency':
        return [thinkMs / 4, thinkMs * 4].map((ms) => changed(`turns of ${ms} ms`, { thinkMs: ms }));
    }
  });
}

type Sizing = Omit<CoordinationParameters, 'arms'>;

const sizes: Readonly<Record<SuiteSize, Sizing>> = {
  quick: { files: 30, subtrees: 2, tasksPerSubtree: 4, agents: 8, thinkMs: 5, leaseMs: 600, seeds: 1, sweep: [] },
  default: {
    files: 60,
    subtrees: 4,
    tasksPerSubtree: 24,
    agents: 16,
    thinkMs: 40,
    leaseMs: 2500,
    seeds: 3,
    sweep: assumptions,
  },
  full: {
    files: 120,
    subtrees: 6,
    tasksPerSubtree: 48,
    agents: 32,
    thinkMs: 60,
    leaseMs: 4000,
    seeds: 5,
    sweep: assumptions,
  },
};

export const coordinationOptions: readonly SuiteOption[] = [
  {
    flags: '--arms <list>',
    description: `of ${allArms.map(({ name }) => name).join(',')} (all; with --quick nine of them)`,
    parse: listOf(armOf),
  },
  { flags: '--agents <n>', description: 'workers at once', parse: wholeNumber(1, 1000) },
  { flags: '--files <n>', description: 'files of the project', parse: wholeNumber(10, 10_000) },
  { flags: '--subtrees <n>', description: "planners below the goal's", parse: wholeNumber(2, 100) },
  { flags: '--tasks-per-subtree <n>', description: 'tasks of each', parse: wholeNumber(1, 10_000) },
  { flags: '--think-ms <n>', description: 'a turn of a mind, on average', parse: wholeNumber(0, 60_000) },
  {
    flags: '--lease-ms <n>',
    description: 'until a task is taken from who gets no further',
    parse: wholeNumber(100, 600_000),
  },
  { flags: '--seeds <n>', description: 'streams of work, each through every arm', parse: wholeNumber(1, 100) },
  {
    flags: '--sweep <list>',
    description: `assumptions that are tried at other values too: of ${assumptions.join(',')}, or none`,
    parse: sweepOf,
  },
];

function sweepOf(text: string): readonly Assumption[] {
  return text === 'none' ? [] : listOf(assumptionOf)(text);
}

function assumptionOf(name: string): Assumption {
  const found = assumptions.find((one) => one === name);
  if (found === undefined)
    throw new UsageError(`no assumption '${name}'; there are ${assumptions.join(', ')}, or none`);
  return found;
}

function armOf(name: string): Arm {
  const found = allArms.find((one) => one.name === name);
  if (found === undefined)
    throw new UsageError(`no arm '${name}'; there are ${allArms.map((one) => one.name).join(', ')}`);
  return found;
}

export const coordinationParametersOf = (
  size: SuiteSize,
  values: Readonly<Record<string, unknown>>,
): CoordinationParameters => ({
  ...sizes[size],
  arms: size === 'quick' ? quickArms : allArms,
  ...ownValues(coordinationOptions, values),
});
