import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { runCommand, sandboxed, shellWord, toolLimits, type Sandbox } from '@mound/swarm';

import { Interrupted, throwIfInterrupted } from '../harness/interrupt.ts';
import { attemptedIn } from '../sqllogictest/attempted.ts';
import { makeEngine } from '../sqllogictest/engines/index.ts';
import { sum } from '../sqllogictest/outcome.ts';
import { score as scoreFiles, testFiles, type FileScore } from '../sqllogictest/score.ts';
import { categoryOf } from '../sqllogictest/summary.ts';
import type { CategoryCount, Scored } from './curve.ts';

/** What makes a score of a built directory. */
export type Scorer =
  | {
      readonly kind: 'engine';
      /** Directory with `.test` files. */
      readonly corpus: string;
      /** For the shell, in the built directory; it speaks the line protocol. */
      readonly engine: string;
      /** Default: `sqlite`. */
      readonly dialect?: string;
      /** Default: 10. */
      readonly recordSeconds?: number;
      /** Files at the same time. Default: 1. */
      readonly workers?: number;
    }
  | {
      readonly kind: 'command';
      /** For the shell, in the built directory; its last line is JSON with `passed` and `total`. */
      readonly command: string;
    };

export interface ScoreBounds {
  readonly dir: string;
  readonly sandbox: Sandbox;
  /** Directories that the engine does not see. */
  readonly hidden: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

type Answer = Omit<Scored, 'buildSeconds' | 'scoreSeconds'>;

const recordSecondsDefault = 10;
const dialectDefault = 'sqlite';
const outputBytesMax = 256 * 1024;
const reasonCharsMax = 2000;

/** The end of what was said: that is where errors stand. */
export const lastWords = (text: string): string => text.trim().slice(-reasonCharsMax);

/** What of a scorer makes its scores comparable. Errors: `ENOENT` where the corpus is not there. */
export async function identityOf(scorer: Scorer): Promise<string> {
  if (scorer.kind === 'command') return `command ${scorer.command}`;
  const { corpus, engine, dialect = dialectDefault, recordSeconds = recordSecondsDefault } = scorer;
  const hash = createHash('sha256');
  for (const path of await testFiles(corpus)) {
    const bytes = await readFile(join(corpus, path));
    hash.update(`${path}\0${createHash('sha256').update(bytes).digest('hex')}\n`);
  }
  return `engine ${engine} as ${dialect}, ${recordSeconds} s a record, corpus ${hash.digest('hex').slice(0, 32)}`;
}

/** How many tests there are, where no point has told; 0 where only the program knows. */
export async function totalOf(scorer: Scorer): Promise<number> {
  if (scorer.kind === 'command') return 0;
  const { corpus, dialect = dialectDefault } = scorer;
  let total = 0;
  for (const path of await testFiles(corpus)) total += attemptedIn(await readFile(join(corpus, path), 'utf8'), dialect);
  return total;
}

export const scoreDirectory = (scorer: Scorer, bounds: ScoreBounds): Promise<Answer> =>
  scorer.kind === 'command' ? askCommand(scorer.command, bounds) : askEngine(scorer, bounds);

function categoriesOf(files: readonly FileScore[]): CategoryCount[] {
  const categories = new Map<string, CategoryCount>();
  for (const { path, right, attempted } of files) {
    const category = categoryOf(path);
    const { passed = 0, total = 0 } = categories.get(category) ?? {};
    categories.set(category, { category, passed: passed + right, total: total + attempted });
  }
  // In an order of their own: files end as they can.
  return [...categories.values()].toSorted((a, b) => (a.category < b.category ? -1 : 1));
}

async function askEngine(
  { corpus, engine, dialect, recordSeconds = recordSecondsDefault, workers = 1 }: Scorer & { kind: 'engine' },
  { dir, sandbox, hidden, seconds, signal }: ScoreBounds,
): Promise<Answer> {
  const inDir = `cd ${shellWord(dir)} && ${engine}`;
  const [file, args] = sandboxed(sandbox, dir, ['/bin/sh', '-c', inDir], hidden);
  const spec = { engine: ['exec', ...[file, ...args].map(shellWord)].join(' '), dialect: dialect ?? dialectDefault };
  const time = AbortSignal.timeout(seconds * 1000);
  const done: FileScore[] = [];
  let isLate = false;
  try {
    await scoreFiles({
      corpus: resolve(corpus),
      files: await testFiles(corpus),
      spec,
      engine: await makeEngine(spec),
      recordMsMax: recordSeconds * 1000,
      workers,
      journal: undefined,
      signal: AbortSignal.any([signal, time]),
      onFile: (found) => done.push(found),
    });
  } catch (error) {
    throwIfInterrupted(signal);
    if (!(error instanceof Interrupted)) throw error;
    isLate = true;
  }
  const { right, attempted, crashed } = sum(done);
  const counted = { passed: right, total: attempted, categories: categoriesOf(done) };
  const reason = done.flatMap(({ failures }) => failures)[0]?.reason ?? '';
  if (isLate) return { ...counted, total: 0, state: 'timed-out', reason: `longer than ${seconds} s` };
  if (right === 0 && crashed > 0) return { ...counted, state: 'crashed', reason: lastWords(reason) };
  return { ...counted, state: 'scored', reason: '' };
}

async function askCommand(
  command: string,
  { dir, sandbox, hidden, env, seconds, signal }: ScoreBounds,
): Promise<Answer> {
  const end = await runCommand({
    command: ['/bin/sh', '-c', command],
    cwd: dir,
    env,
    sandbox,
    hidden,
    limits: { ...toolLimits, seconds, outputBytesMax },
    signal,
  });
  throwIfInterrupted(signal);
  const failed = (state: 'crashed' | 'timed-out', reason: string): Answer => ({
    state,
    passed: 0,
    total: 0,
    categories: [],
    reason,
  });
  if (end.kind === 'timed-out') return failed('timed-out', end.says);
  if (end.code !== 0) return failed('crashed', lastWords(`${end.stdout}\n${end.stderr}\n${end.says}`));
  const counts = countsOf(end.stdout.trim().split('\n').at(-1) ?? '');
  if (counts === undefined)
    return failed('crashed', lastWords(`no {"passed", "total"} in its last line: ${end.stdout}`));
  return { ...counts, state: 'scored', reason: '' };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

type Count = Pick<CategoryCount, 'passed' | 'total'>;

function isCounted(value: unknown): value is Count {
  const { passed, total } = (value ?? {}) as Partial<Count>;
  return isCount(passed) && isCount(total) && passed <= total;
}

/** undefined where a line is no score. */
export function countsOf(line: string): Pick<Answer, 'passed' | 'total' | 'categories'> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isCounted(value) || value.total === 0) return undefined;
  const { categories: given = [] } = value as { readonly categories?: readonly CategoryCount[] };
  const isWhole = Array.isArray(given) && given.every((one) => typeof one.category === 'string' && isCounted(one));
  if (!isWhole) return undefined;
  const categories = given.map(({ category, passed, total }) => ({ category, passed, total }));
  return { passed: value.passed, total: value.total, categories };
}
