import type { Target } from '../targets.ts';
import { wholeNumber, type SuiteArgument, type SuiteOption, type SuiteSize } from '../suite.ts';

export interface GitParameters {
  /** Absent: a generated repository. */
  readonly gitDir: string | undefined;
  /** Of the generated history's main line. */
  readonly commits: number;
  /** Versions of files that are read. */
  readonly reads: number;
  readonly rounds: number;
  readonly seed: number;
}

const sizes: Readonly<Record<SuiteSize, Pick<GitParameters, 'commits' | 'reads' | 'rounds'>>> = {
  quick: { commits: 150, reads: 100, rounds: 1 },
  default: { commits: 2000, reads: 1000, rounds: 3 },
  full: { commits: 10_000, reads: 10_000, rounds: 5 },
};

export const gitArgument: SuiteArgument = {
  flags: '[git-dir]',
  name: 'gitDir',
  description: 'a git repository; it is only read, and its branches and tags are copied (default: a generated one)',
};

export const gitOptions: readonly SuiteOption[] = [
  { flags: '--commits <n>', description: 'of a generated history', parse: wholeNumber(10, 1_000_000) },
  { flags: '--reads <n>', description: 'versions of files that are read', parse: wholeNumber(1, 1_000_000) },
  { flags: '--rounds <n>', description: 'rounds after the warm-up', parse: wholeNumber(1, 100) },
  {
    flags: '--seed <n>',
    description: 'decides the generated history and what is read',
    parse: wholeNumber(0, 2 ** 31 - 1),
  },
];

/** From the command line's options. */
export function gitParametersOf(size: SuiteSize, values: Readonly<Record<string, unknown>>): GitParameters {
  return { gitDir: undefined, seed: 1, ...sizes[size], ...values };
}

export const gitTargets: readonly Target[] = [
  {
    what: 'import, times as fast as git fast-import',
    metric: 'ratioToPeer',
    where: { workload: 'git-import', peer: 'git-fast-import', by: 'wall' },
    atLeast: 1,
  },
  {
    what: 'export, times as fast as git fast-import',
    metric: 'ratioToPeer',
    where: { workload: 'git-export', peer: 'git-fast-import', by: 'wall' },
    atLeast: 1,
  },
  {
    what: "the store after gc, of git's pack",
    metric: 'ratioToPackedSize',
    where: { workload: 'git-store' },
    below: 2,
  },
  {
    what: 'reading any version of any file, median in us',
    metric: 'readUsP50',
    where: { workload: 'git-store' },
    below: 1000,
  },
];
