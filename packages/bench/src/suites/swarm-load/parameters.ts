import type { SwarmLoadParameters } from '../../workloads/swarm-load.ts';
import { ownValues, wholeNumber, type SuiteOption, type SuiteSize } from '../suite.ts';

export interface SwarmLoadRun extends SwarmLoadParameters {
  readonly processes: number;
  /** Steps a second of all agents together, if the store keeps up. */
  readonly rate: number;
  readonly seconds: number;
  /** From reading to landing. */
  readonly thinkMs: number;
}

const published = { files: 896, thinkMs: 200, seed: 1 };

const sizes: Readonly<Record<SuiteSize, SwarmLoadRun>> = {
  quick: { ...published, agents: 60, processes: 2, rate: 100, seconds: 4, megafileLines: 1_000 },
  default: { ...published, agents: 1_000, processes: 4, rate: 1_000, seconds: 30, megafileLines: 3_000 },
  full: { ...published, agents: 1_000, processes: 4, rate: 1_000, seconds: 600, megafileLines: 3_000 },
};

export const swarmLoadOptions: readonly SuiteOption[] = [
  { flags: '--agents <n>', description: 'agents at once', parse: wholeNumber(2, 100_000) },
  { flags: '--processes <n>', description: 'processes that share them', parse: wholeNumber(1, 64) },
  { flags: '--rate <n>', description: 'steps a second of all agents', parse: wholeNumber(1, 100_000) },
  { flags: '--seconds <n>', description: 'how long', parse: wholeNumber(1, 86_400) },
  { flags: '--think-ms <n>', description: 'from reading to landing', parse: wholeNumber(0, 60_000) },
  { flags: '--files <n>', description: 'files beside the settings', parse: wholeNumber(50, 100_000) },
  { flags: '--megafile-lines <n>', description: 'lines of the two megafiles', parse: wholeNumber(100, 200_000) },
  { flags: '--seed <n>', description: 'another load of the same kind', parse: wholeNumber(0, 1_000_000_000) },
];

export const swarmLoadRunOf = (size: SuiteSize, values: Readonly<Record<string, unknown>>): SwarmLoadRun => ({
  ...sizes[size],
  ...ownValues(swarmLoadOptions, values),
});
