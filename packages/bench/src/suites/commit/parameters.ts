import { commitSubjects, moundArms, slowedMoundSubject, unwrittenSubjects } from '../../subjects/index.ts';
import { sqliteDeltasSubject } from '../../subjects/sqlite-wal.ts';
import { agentsOfFew, type Subject } from '../../subjects/subject.ts';
import { listOf, UsageError, wholeNumber, type SuiteOption, type SuiteSize } from '../suite.ts';
import { filesOfW1, type Load, type Skew } from './load.ts';

/** A load and the subjects that are put under it; without `only`, all. */
export interface PlannedLoad {
  readonly load: Load;
  readonly only?: (subject: Subject) => boolean;
}

export interface CommitParameters {
  readonly subjects: readonly Subject[];
  readonly loads: readonly PlannedLoad[];
  /** What a subject that is poured into has in flight, if it had any. */
  readonly inFlightOfStreams: number;
  readonly rounds: number;
  /** Time of one subject in one round. */
  readonly budgetMs: number;
  /** Time of one subject before the first round, at least; 0: one short round. */
  readonly warmUpMs: number;
  /** Commits of one subject in one round. */
  readonly commitsMax: number;
  readonly seed: number;
  /** With the negative control. */
  readonly control: boolean;
  /** With the shares of time. */
  readonly profile: boolean;
}

export const referenceName = 'mound';

type Sizing = Pick<CommitParameters, 'rounds' | 'budgetMs' | 'warmUpMs' | 'commitsMax'> & { readonly files: number };

const sizings: Readonly<Record<SuiteSize, Sizing>> = {
  quick: { files: 2_000, rounds: 2, budgetMs: 300, warmUpMs: 0, commitsMax: 4_000 },
  default: { files: filesOfW1, rounds: 3, budgetMs: 600, warmUpMs: 3_000, commitsMax: 15_000 },
  full: { files: filesOfW1, rounds: 7, budgetMs: 3_000, warmUpMs: 5_000, commitsMax: 60_000 },
};

const filesOfHot = 1_000;
const inFlightDefault = [1, 100, 1000];

const parseSkew = (text: string): Skew => {
  if (text === 'uniform' || text === 'zipf') return text;
  throw new UsageError(`'${text}' is neither uniform nor zipf`);
};

const seconds = (text: string): number => {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < 0.01 || value > 3600) {
    throw new UsageError(`'${text}' is no number of seconds from 0.01 to 3600`);
  }
  return value;
};

export const commitOptions: readonly SuiteOption[] = [
  { flags: '--subjects <names>', description: 'only these, e.g. mound,sqlite-wal', parse: listOf(String) },
  {
    flags: '--in-flight <list>',
    description: 'commits that wait at the same time, of all processes together (1,100,1000)',
    parse: listOf(wholeNumber(1, 100_000)),
  },
  {
    flags: '--processes <list>',
    description: 'processes on one repository that share the agents (1)',
    parse: listOf(wholeNumber(1, 64)),
  },
  {
    flags: '--files <list>',
    description: 'files of 4 KB in the repository (10000)',
    parse: listOf(wholeNumber(1, 1_000_000)),
  },
  {
    flags: '--files-per-commit <list>',
    description: 'files that one commit edits (1)',
    parse: listOf(wholeNumber(1, 1_000)),
  },
  {
    flags: '--skew <list>',
    description: `uniform: each agent its own files; zipf: all the same ${filesOfHot} hot ones, merged (uniform)`,
    parse: listOf(parseSkew),
  },
  { flags: '--commits <n>', description: 'at most so many a subject and round', parse: wholeNumber(1, 1_000_000) },
  { flags: '--seconds <n>', description: 'time of a subject in a round', parse: seconds },
  { flags: '--warm-up <n>', description: 'seconds of a subject before the first round, at least', parse: seconds },
  { flags: '--rounds <n>', description: 'rounds after the warm-up', parse: wholeNumber(1, 1_000) },
  { flags: '--seed <n>', description: 'another workload of the same kind (1)', parse: wholeNumber(0, 1_000_000_000) },
  { flags: '--no-profile', description: 'without the run that tells where the time goes' },
  { flags: '--control', description: 'with a slowed Mound, which must show as slower (on with --full)' },
];

interface Given {
  readonly subjects?: readonly string[];
  readonly inFlight?: readonly number[];
  readonly processes?: readonly number[];
  readonly files?: readonly number[];
  readonly filesPerCommit?: readonly number[];
  readonly skew?: readonly Skew[];
  readonly commits?: number;
  readonly seconds?: number;
  readonly warmUp?: number;
  readonly rounds?: number;
  readonly seed?: number;
  readonly profile?: boolean;
  readonly control?: boolean;
}

function subjectsOf(names: readonly string[] | undefined, control: boolean): readonly Subject[] {
  const known = control ? [...commitSubjects, slowedMoundSubject] : commitSubjects;
  if (names === undefined) return known;
  return [...known, ...moundArms].filter(
    ({ name }) => names.includes(name) || (control && (name === referenceName || name === slowedMoundSubject.name)),
  );
}

function checkNames(names: readonly string[] | undefined): void {
  const known = [...commitSubjects, ...moundArms].map(({ name }) => name);
  for (const name of names ?? []) {
    const unwritten = unwrittenSubjects.find((one) => one.name === name);
    if (unwritten !== undefined) throw new UsageError(`${name}: ${unwritten.why}`);
    if (!known.includes(name)) throw new UsageError(`no subject '${name}'; there are ${known.join(', ')}`);
  }
}

/** To which more than W1 itself is worth its time; SQLite with deltas is close to SQLite without. */
const isFast = ({ pace, name }: Subject): boolean => pace === 'in-flight' && name !== sqliteDeltasSubject.name;
const isReference = ({ name }: Subject): boolean => name === referenceName;
const isShared = (subject: Subject): boolean => 'attach' in subject && subject.name !== sqliteDeltasSubject.name;
/** Dear to set up, so only at the most that they can. */
const isNotFew = ({ pace }: Subject): boolean => pace !== 'few-in-flight';

/** What the targets are about, in a few minutes. */
function plannedLoads(size: SuiteSize, files: number): PlannedLoad[] {
  const w1: Load = { files, filesPerCommit: 1, skew: 'uniform', inFlight: 1000, processes: 1 };
  const planned: PlannedLoad[] = inFlightDefault.map((inFlight) => ({
    load: { ...w1, inFlight },
    ...(inFlight < agentsOfFew && { only: isNotFew }),
  }));
  if (size === 'quick') return planned;
  return [
    ...planned,
    { load: { ...w1, processes: 2 }, only: isReference },
    { load: { ...w1, processes: 4 }, only: isShared },
    { load: { ...w1, filesPerCommit: 5 }, only: isFast },
    { load: { ...w1, skew: 'zipf', files: filesOfHot }, only: isReference },
    ...(size === 'full' ? [{ load: { ...w1, files: 100_000 }, only: isFast }] : []),
  ];
}

/** Every combination of what was named. */
function namedLoads(given: Given, files: number): PlannedLoad[] {
  const loads: PlannedLoad[] = [];
  for (const skew of given.skew ?? ['uniform']) {
    const filesDefault = skew === 'zipf' ? filesOfHot : files;
    for (const fileCount of given.files ?? [filesDefault]) {
      for (const filesPerCommit of skew === 'zipf' ? [1] : (given.filesPerCommit ?? [1])) {
        for (const processes of given.processes ?? [1]) {
          for (const inFlight of new Set(given.inFlight ?? inFlightDefault)) {
            const load = { files: fileCount, filesPerCommit, skew, inFlight, processes };
            if (skew === 'uniform') checkFiles(load);
            loads.push({ load });
          }
        }
      }
    }
  }
  return loads;
}

function checkFiles({ inFlight, filesPerCommit, files }: Load): void {
  const needed = inFlight * filesPerCommit;
  if (needed > files) throw new UsageError(`${inFlight} in flight need ${needed} files or more (--files)`);
}

/** From the command line's options. */
export function parametersOf(size: SuiteSize, values: Readonly<Record<string, unknown>>): CommitParameters {
  const given = values as Given;
  checkNames(given.subjects);
  const sizing = sizings[size];
  const control = given.control ?? size === 'full';
  const isNamed = [given.inFlight, given.processes, given.files, given.filesPerCommit, given.skew].some(
    (list) => list !== undefined,
  );
  const loads = isNamed ? namedLoads(given, sizing.files) : plannedLoads(size, sizing.files);
  return {
    subjects: subjectsOf(given.subjects, control),
    loads,
    inFlightOfStreams: Math.max(...loads.map(({ load }) => load.inFlight)),
    rounds: given.rounds ?? sizing.rounds,
    budgetMs: given.seconds === undefined ? sizing.budgetMs : given.seconds * 1000,
    // Who bounds the work means the whole of it.
    warmUpMs: given.commits === undefined ? (given.warmUp ?? sizing.warmUpMs / 1000) * 1000 : 0,
    commitsMax: given.commits ?? sizing.commitsMax,
    seed: given.seed ?? 1,
    control,
    profile: given.profile ?? true,
  };
}
