import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { throwIfInterrupted } from '../harness/interrupt.ts';
import type { Engine } from './engine.ts';
import type { EngineSpec } from './engines/index.ts';
import type { Journal } from './journal.ts';
import { Ledger, timePhases, type TimePhase } from './ledger.ts';
import { countsOf, type Counts, type Failure } from './outcome.ts';
import { Slot } from './slot.ts';

/** What one file came to. */
export interface FileScore extends Counts {
  /** Within the corpus, with `/`. */
  readonly path: string;
  readonly seconds: number;
  /** Of its thread's time: reading the file, the engine, comparing. */
  readonly secondsOf: Readonly<Record<TimePhase, number>>;
  /** The first of them. */
  readonly failures: readonly Failure[];
}

export interface ScoreOptions {
  readonly corpus: string;
  /** In the corpus, as {@link testFiles} gives them. */
  readonly files: readonly string[];
  readonly spec: EngineSpec;
  readonly engine: Engine;
  readonly recordMsMax: number;
  /** Files at the same time. */
  readonly workers: number;
  readonly journal: Journal | undefined;
  readonly signal: AbortSignal;
  readonly onFile: (score: FileScore) => void;
}

export interface Score {
  readonly files: readonly FileScore[];
  /** Files that were taken from a journal. */
  readonly filesKept: number;
  /** Of the others, which were run now. */
  readonly attemptedNow: number;
  readonly secondsNow: number;
}

/** Test files below a directory, links to files too, in byte order of their paths. */
export async function testFiles(corpus: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(corpus, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.test')) continue;
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() || (entry.isSymbolicLink() && (await stat(path)).isFile()))
      paths.push(path.slice(join(corpus, 'x').length - 1));
  }
  return paths.toSorted((a, b) => (a < b ? -1 : 1));
}

/** Scores every file, the largest first so that none is left alone at the end. */
export async function score(options: ScoreOptions): Promise<Score> {
  const loaded = await Promise.all(
    options.files.map(async (path) => {
      const text = await readFile(join(options.corpus, path));
      return { path, bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') };
    }),
  );
  const queue = loaded.toSorted((a, b) => b.bytes - a.bytes);
  const scores = new Map<string, FileScore>();
  const started = performance.now();
  let [attemptedNow, filesKept] = [0, 0];
  const slots = Array.from({ length: Math.min(options.workers, queue.length) }, () => new Slot());
  const closeAll = (): void => {
    for (const slot of slots) void slot.close();
  };
  options.signal.addEventListener('abort', closeAll, { once: true });
  const serve = async (slot: Slot): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const known = options.journal?.find(next.path, next.sha256);
      const found = known ?? (await scoreFile(slot, next.path, next.bytes, options));
      throwIfInterrupted(options.signal);
      if (known === undefined) {
        options.journal?.add(found, next.sha256);
        attemptedNow += found.attempted;
      } else filesKept++;
      scores.set(next.path, found);
      options.onFile(found);
    }
  };
  try {
    await Promise.all(slots.map((slot) => serve(slot)));
  } finally {
    options.signal.removeEventListener('abort', closeAll);
    await Promise.all(slots.map((slot) => slot.close()));
  }
  const files = options.files.flatMap((path) => scores.get(path) ?? []);
  return { files, filesKept, attemptedNow, secondsNow: (performance.now() - started) / 1000 };
}

async function scoreFile(slot: Slot, path: string, bytes: number, options: ScoreOptions): Promise<FileScore> {
  const file = join(options.corpus, path);
  const ledger = Ledger.forFile(bytes);
  const from = performance.now();
  const { spec, engine, recordMsMax, signal } = options;
  const failures = await slot.run({ spec, file, ledger, dialect: engine.dialect, recordMsMax, signal });
  const seconds = (performance.now() - from) / 1000;
  const secondsOf = Object.fromEntries(
    timePhases.map((phase) => [phase, rounded(ledger.spent(phase) / 1000)]),
  ) as Record<TimePhase, number>;
  return { path, ...countsOf(ledger.outcomes), seconds: rounded(seconds), secondsOf, failures };
}

const rounded = (seconds: number): number => Math.round(seconds * 1e4) / 1e4;
