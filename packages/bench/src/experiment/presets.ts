import { allOff, allOn, mechanisms, safeguards, type Safeguard, type SwarmConfig } from '@mound/swarm';

/** A part of a swarm's configuration that makes an arm what it is called. */
export type Preset = Pick<SwarmConfig, 'topology' | 'coordination' | 'bounds'>;

const tree = { kind: 'tree' } as const;

/** Names of every preset, in the order in which they are told. */
export const presetNames: readonly string[] = [
  'all-on',
  'all-off',
  ...[...mechanisms, ...safeguards].map((name) => `no-${name}`),
  'one-at-a-time',
  'solo',
  'old-style',
];

/**
 * `old-style` is the organisation that came before planners: equals who claim
 * what they do, every mechanism off, conflicts left open. It runs on Mound's
 * store, so what it shows is the organisation's effect and not git's.
 */
export function presetOf(name: string, agents: number): Preset | undefined {
  if (!presetNames.includes(name)) return undefined;
  switch (name) {
    case 'all-on':
      return { topology: tree, coordination: allOn };
    case 'all-off':
      return { topology: tree, coordination: allOff };
    case 'one-at-a-time':
      return { topology: tree, coordination: allOn, bounds: { agents: 1 } };
    case 'solo':
      return { topology: { kind: 'solo' }, coordination: allOff, bounds: { agents: 1 } };
    case 'old-style':
      return { topology: { kind: 'peers', count: agents }, coordination: allOff };
    case 'no-fences':
    case 'no-budgets':
      return { topology: tree, coordination: allOn };
    default:
      return { topology: tree, coordination: { ...allOn, [name.slice('no-'.length)]: 'off' } };
  }
}

/** Safeguards that a preset does without; a configuration cannot say so. */
export const unsafeWithout = (preset: string): readonly Safeguard[] =>
  safeguards.filter((name) => preset === `no-${name}`);
