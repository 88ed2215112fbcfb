import { timePhases, type TimePhase } from './ledger.ts';
import { sum, type Counts } from './outcome.ts';
import type { FileScore, Score } from './score.ts';

/** Files of one kind: the directories of the corpus that tell kinds apart, without the sizes below them. */
export interface CategoryScore extends Counts {
  readonly category: string;
  readonly files: number;
  readonly threadSeconds: number;
  /** Of the threads' time; what is left to 1 is starting, waiting and writing down. */
  readonly shareOf: Readonly<Record<TimePhase, number>>;
  /** Attempted records a second of a thread's time. */
  readonly recordsPerThreadSecond: number;
}

/** What `mound bench sqllogictest --json` prints beside what every result file has. */
export interface SqlScore extends Counts {
  readonly engine: string;
  readonly engineVersion: string;
  readonly dialect: string;
  /** Taken from a journal, with the times that they took then; not there before it was told. */
  readonly filesKept?: number;
  /** Of the wall clock and of the files that were run now; so is the rate. */
  readonly seconds: number;
  readonly recordsPerSecond: number;
  readonly workers: number;
  readonly recordSecondsMax: number;
  readonly categories: readonly CategoryScore[];
  readonly files: readonly FileScore[];
}

const rounded = (value: number, digits = 4): number => Number(value.toFixed(digits));

/** `test/index/between/1000/x.test` is of `index/between`, `select1.test` of `.`. */
export function categoryOf(path: string): string {
  const parts = path.split('/').slice(0, -1);
  const named = parts.filter((part) => !/^\d+$/.test(part) && part !== 'test');
  return named.length === 0 ? '.' : named.slice(0, 2).join('/');
}

function categoryScore(category: string, files: readonly FileScore[]): CategoryScore {
  const threadSeconds = files.reduce((seconds, file) => seconds + file.seconds, 0);
  const shareOf = Object.fromEntries(
    timePhases.map((phase) => {
      const spent = files.reduce((seconds, { secondsOf }) => seconds + secondsOf[phase], 0);
      return [phase, rounded(threadSeconds === 0 ? 0 : spent / threadSeconds)];
    }),
  ) as Record<TimePhase, number>;
  const counts = sum(files);
  return {
    category,
    files: files.length,
    ...counts,
    threadSeconds: rounded(threadSeconds),
    shareOf,
    recordsPerThreadSecond: rounded(threadSeconds === 0 ? 0 : counts.attempted / threadSeconds, 0),
  };
}

export interface SummaryHead {
  readonly engine: string;
  readonly engineVersion: string;
  readonly dialect: string;
  readonly workers: number;
  readonly recordSecondsMax: number;
}

export function summarise(head: SummaryHead, { files, filesKept, attemptedNow, secondsNow }: Score): SqlScore {
  const categories = new Map<string, FileScore[]>();
  for (const file of files) {
    const category = categoryOf(file.path);
    categories.set(category, [...(categories.get(category) ?? []), file]);
  }
  return {
    ...head,
    ...sum(files),
    filesKept,
    seconds: rounded(secondsNow, 3),
    recordsPerSecond: rounded(secondsNow === 0 ? 0 : attemptedNow / secondsNow, 0),
    categories: [...categories].map(([category, members]) => categoryScore(category, members)),
    files,
  };
}
