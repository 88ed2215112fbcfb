import { commitSubjects, slowedMoundSubject } from '../subjects/index.ts';
import type { Subject } from '../subjects/subject.ts';
import { listOf, UsageError, wholeNumber, type SuiteOption, type SuiteSize } from './suite.ts';

export interface CommitParameters {
  readonly subjects: readonly Subject[];
  readonly files: number;
  readonly filesPerCommit: number;
  readonly inFlight: readonly number[];
  readonly rounds: number;
  /** Time of one subject in one round. */
  readonly budgetMs: number;
  /** Commits of one subject in one round. */
  readonly commitsMax: number;
  readonly seed: number;
  /** With the negative control. */
  readonly control: boolean;
}

type Sizing = Pick<CommitParameters, 'files' | 'rounds' | 'budgetMs' | 'commitsMax'>;

const sizings: Readonly<Record<SuiteSize, Sizing>> = {
  quick: { files: 2_000, rounds: 2, budgetMs: 300, commitsMax: 4_000 },
  default: { files: 10_000, rounds: 3, budgetMs: 800, commitsMax: 20_000 },
  full: { files: 10_000, rounds: 7, budgetMs: 3_000, commitsMax: 60_000 },
};

export const commitOptions: readonly SuiteOption[] = [
  { flags: '--subjects <names>', description: 'only these, e.g. mound,sqlite-wal', parse: listOf(String) },
  { flags: '--files <n>', description: 'files of 4 KB in the repository', parse: wholeNumber(1, 1_000_000) },
  { flags: '--files-per-commit <n>', description: 'files that one commit edits (1)', parse: wholeNumber(1, 1_000) },
  {
    flags: '--in-flight <list>',
    description: 'commits that wait at the same time (1,100,1000)',
    parse: listOf(wholeNumber(1, 100_000)),
  },
  { flags: '--commits <n>', description: 'at most so many a subject and round', parse: wholeNumber(1, 1_000_000) },
  { flags: '--rounds <n>', description: 'rounds after the warm-up', parse: wholeNumber(1, 1_000) },
  { flags: '--seed <n>', description: 'another workload of the same kind (1)', parse: wholeNumber(0, 1_000_000_000) },
  { flags: '--control', description: 'with a slowed Mound, which must show as slower' },
];

function subjectsOf(names: readonly string[] | undefined, control: boolean): readonly Subject[] {
  const known = control ? [...commitSubjects, slowedMoundSubject] : commitSubjects;
  if (names === undefined) return known;
  return known.filter(({ name }) => names.includes(name) || (control && name.startsWith('mound')));
}

function checkNames(names: readonly string[] | undefined): void {
  const known = commitSubjects.map(({ name }) => name);
  for (const name of names ?? []) {
    if (!known.includes(name)) throw new UsageError(`no subject '${name}'; there are ${known.join(', ')}`);
  }
}

/** From the command line's options. */
export function parametersOf(size: SuiteSize, values: Readonly<Record<string, unknown>>): CommitParameters {
  const given = values as {
    readonly subjects?: readonly string[];
    readonly files?: number;
    readonly filesPerCommit?: number;
    readonly inFlight?: readonly number[];
    readonly commits?: number;
    readonly rounds?: number;
    readonly seed?: number;
    readonly control?: boolean;
  };
  checkNames(given.subjects);
  const sizing = sizings[size];
  const control = given.control ?? false;
  const parameters: CommitParameters = {
    subjects: subjectsOf(given.subjects, control),
    files: given.files ?? sizing.files,
    filesPerCommit: given.filesPerCommit ?? 1,
    inFlight: [...new Set(given.inFlight ?? [1, 100, 1000])],
    rounds: given.rounds ?? sizing.rounds,
    budgetMs: sizing.budgetMs,
    commitsMax: given.commits ?? sizing.commitsMax,
    seed: given.seed ?? 1,
    control,
  };
  const most = Math.max(...parameters.inFlight);
  if (most * parameters.filesPerCommit > parameters.files) {
    throw new UsageError(`${most} in flight need ${most * parameters.filesPerCommit} files or more (--files)`);
  }
  return parameters;
}
