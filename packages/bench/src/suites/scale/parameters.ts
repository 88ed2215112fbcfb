import { UsageError, wholeNumber, type SuiteOption, type SuiteSize } from '../suite.ts';

export interface ScaleParameters {
  /** In place before the first commit that is measured. */
  readonly files: number;
  readonly commits: number;
  /** Commits whose rate is told together. */
  readonly stretch: number;
  readonly inFlight: number;
  readonly forks: number;
  /** Old versions that are read back by their bytes; all of them where there are no more. */
  readonly readBack: number;
  /** Commits of git's forms; 0: without git. */
  readonly gitCommits: number;
  /** For so long a reader scans while the agents commit. */
  readonly scanMs: number;
  /** A process beside the writers compacts the log. */
  readonly compact: boolean;
  readonly seed: number;
}

type Sizing = Pick<ScaleParameters, 'files' | 'commits' | 'forks' | 'readBack' | 'gitCommits' | 'scanMs'>;

const sizings: Readonly<Record<SuiteSize, Sizing>> = {
  quick: { files: 10_000, commits: 20_000, forks: 500, readBack: 20_000, gitCommits: 200, scanMs: 1_000 },
  default: { files: 100_000, commits: 50_000, forks: 2_000, readBack: 50_000, gitCommits: 500, scanMs: 3_000 },
  full: { files: 100_000, commits: 1_000_000, forks: 10_000, readBack: 100_000, gitCommits: 1_000, scanMs: 10_000 },
};

/** What the targets speak of; a shorter run is cut into as many pieces as it takes to see a trend. */
const stretchFull = 100_000;
const stretchesMin = 5;

export const scaleOptions: readonly SuiteOption[] = [
  { flags: '--files <n>', description: 'files of 4 KB from the start (100000)', parse: wholeNumber(1, 10_000_000) },
  {
    flags: '--commits <n>',
    description: 'commits in all (50000; the targets speak of 1000000)',
    parse: wholeNumber(1, 100_000_000),
  },
  {
    flags: '--stretch <n>',
    description: 'commits whose rate is told together (100000, or a fifth of a shorter run)',
    parse: wholeNumber(1, 100_000_000),
  },
  {
    flags: '--in-flight <n>',
    description: 'commits that wait at the same time (1000)',
    parse: wholeNumber(1, 100_000),
  },
  { flags: '--forks <n>', description: 'branches that are forked', parse: wholeNumber(1, 1_000_000) },
  {
    flags: '--read-back <n>',
    description: 'old versions that are read and compared byte for byte; the others by their ids',
    parse: wholeNumber(1, 100_000_000),
  },
  {
    flags: '--git-commits <n>',
    description: "commits of git's forms of the history; 0: none",
    parse: wholeNumber(0, 1_000_000),
  },
  { flags: '--no-compact', description: 'without a process that compacts the log beside the writers' },
  { flags: '--seed <n>', description: 'another history of the same kind (1)', parse: wholeNumber(0, 1_000_000_000) },
];

/** From the command line's options. */
export function scaleParametersOf(size: SuiteSize, values: Readonly<Record<string, unknown>>): ScaleParameters {
  const given = values as Partial<ScaleParameters>;
  const sizing = { ...sizings[size], ...definedOf(given) };
  const inFlight = given.inFlight ?? 1000;
  if (inFlight > sizing.files) throw new UsageError(`${inFlight} in flight need ${inFlight} files or more (--files)`);
  const stretch =
    given.stretch ??
    (sizing.commits >= stretchesMin * stretchFull ? stretchFull : Math.ceil(sizing.commits / stretchesMin));
  return { ...sizing, inFlight, stretch, compact: given.compact ?? true, seed: given.seed ?? 1 };
}

function definedOf(given: Partial<ScaleParameters>): Partial<Sizing> {
  const names = ['files', 'commits', 'forks', 'readBack', 'gitCommits'] as const;
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
}
