import { mergeControls, mergePeers, moundDrivers } from '../../subjects/merges/index.ts';
import type { MergeSubject } from '../../subjects/merges/merge-subject.ts';
import { listOf, UsageError, wholeNumber, type SuiteArgument, type SuiteOption, type SuiteSize } from '../suite.ts';

export interface MergesParameters {
  /** The repository whose merges are replayed; absent: the seeded generator. */
  readonly gitDir: string | undefined;
  /** Mound's drivers first, then what they are laid beside. */
  readonly subjects: readonly MergeSubject[];
  /** Names of those that are Mound's. */
  readonly mounds: readonly string[];
  /** Merge commits that are replayed at most, drawn by the seed. */
  readonly mergesMax: number;
  /** Triples of the generator. */
  readonly triples: number;
  /** Of the timed lengths. */
  readonly rounds: number;
  readonly seed: number;
  /** With the negative controls. */
  readonly control: boolean;
  /** Where each triple on which Mound and another disagree is written. */
  readonly disagreements: string | undefined;
}

type Sizing = Pick<MergesParameters, 'mergesMax' | 'triples' | 'rounds'>;

const sizings: Readonly<Record<SuiteSize, Sizing>> = {
  quick: { mergesMax: 200, triples: 300, rounds: 3 },
  default: { mergesMax: 2_000, triples: 3_000, rounds: 7 },
  full: { mergesMax: Infinity, triples: 100_000, rounds: 15 },
};

const driverNames = Object.keys(moundDrivers);

function driverOf(name: string): MergeSubject {
  const driver = moundDrivers[name];
  if (driver === undefined) throw new UsageError(`no driver '${name}'; there are ${driverNames.join(', ')}`);
  return driver;
}

function peerOf(name: string): MergeSubject {
  const peer = mergePeers.find((one) => one.name === name);
  if (peer !== undefined) return peer;
  throw new UsageError(`no subject '${name}'; there are ${mergePeers.map((one) => one.name).join(', ')}`);
}

export const mergesArgument: SuiteArgument = {
  flags: '[git-dir]',
  name: 'gitDir',
  description: 'a git repository whose merges are replayed; it is only read',
};

export const mergesOptions: readonly SuiteOption[] = [
  {
    flags: '--driver <list>',
    description: `Mound's merge drivers: ${driverNames.join(',')} (text)`,
    parse: listOf(driverOf),
  },
  {
    flags: '--subjects <list>',
    description: `laid beside: ${mergePeers.map(({ name }) => name).join(',')} (all)`,
    parse: listOf(peerOf),
  },
  { flags: '--merges <n>', description: 'merge commits that are replayed at most', parse: wholeNumber(1, 10_000_000) },
  { flags: '--triples <n>', description: 'merges of the generator', parse: wholeNumber(1, 10_000_000) },
  { flags: '--rounds <n>', description: 'rounds of the timed lengths', parse: wholeNumber(1, 1_000) },
  { flags: '--seed <n>', description: 'another sample, or other generated merges (1)', parse: wholeNumber(0, 1e9) },
  { flags: '--control', description: 'with a slowed and a careless Mound, which must show (on with --full)' },
  { flags: '--disagreements <dir>', description: 'write each merge that is not agreed on below this directory' },
];

type Given = Partial<Pick<MergesParameters, 'gitDir' | 'triples' | 'rounds' | 'seed' | 'control' | 'disagreements'>> & {
  readonly driver?: readonly MergeSubject[];
  readonly subjects?: readonly MergeSubject[];
  readonly merges?: number;
};

/** From the command line's options. */
export function mergesParametersOf(size: SuiteSize, values: Readonly<Record<string, unknown>>): MergesParameters {
  const given = values as Given;
  const sizing = sizings[size];
  const control = given.control ?? size === 'full';
  const mounds = [...(given.driver ?? [driverOf('text')]), ...(control ? mergeControls : [])];
  return {
    gitDir: given.gitDir,
    subjects: [...mounds, ...(given.subjects ?? mergePeers)],
    mounds: mounds.map(({ name }) => name),
    mergesMax: given.merges ?? sizing.mergesMax,
    triples: given.triples ?? sizing.triples,
    rounds: given.rounds ?? sizing.rounds,
    seed: given.seed ?? 1,
    control,
    disagreements: given.disagreements,
  };
}
