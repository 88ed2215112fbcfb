import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

import { makeResult } from '../../harness/make-result.ts';
import { controlOfScoring } from '../../sqllogictest/control.ts';
import type { Engine } from '../../sqllogictest/engine.ts';
import { engineNames, makeEngine, type EngineSpec } from '../../sqllogictest/engines/index.ts';
import { exceptionsNote } from '../../sqllogictest/exceptions.ts';
import { Journal } from '../../sqllogictest/journal.ts';
import { score, testFiles } from '../../sqllogictest/score.ts';
import { summarise } from '../../sqllogictest/summary.ts';
import {
  UnreadableError,
  UsageError,
  wholeNumber,
  type Suite,
  type SuiteContext,
  type SuiteOutcome,
} from '../suite.ts';
import { sqlSamples } from './samples.ts';
import { failureTables, scoreNotes, scoreText } from './text.ts';

const recordSecondsDefault = 30;

interface Values {
  readonly corpus?: string;
  readonly engine?: string;
  readonly dialect?: string;
  readonly recordSeconds?: number;
  readonly workers?: number;
  readonly resume?: string;
}

/** The corpus's files. Errors: {@link UnreadableError} where there are none. */
async function corpusFiles(corpus: string | undefined): Promise<{ corpus: string; files: string[] }> {
  if (corpus === undefined) throw new UsageError('--corpus: name the directory with the .test files');
  const found = await stat(corpus).catch(() => undefined);
  const files = found?.isDirectory() === true ? await testFiles(corpus) : [];
  if (files.length > 0) return { corpus, files };
  const why = found === undefined ? 'is not there' : found.isDirectory() ? 'holds no .test file' : 'is no directory';
  throw new UnreadableError(`${corpus} ${why}; name the directory with the .test files`);
}

/** Makes the engine and asks it one thing, so that one that cannot run is told of before any file is counted. */
async function workingEngine(spec: EngineSpec): Promise<Engine> {
  let engine: Engine;
  try {
    engine = await makeEngine(spec);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const wanted = /'([^']+)'/.exec((error as Error).message)?.[1] ?? 'its package';
    throw new UnreadableError(`the engine ${spec.engine} is not installed here; npm install ${wanted}`);
  }
  try {
    const session = await engine.open(() => undefined);
    await session.statement('SELECT 1');
    await session.close();
  } catch (error) {
    throw new UnreadableError(`the engine '${spec.engine}' does not work: ${(error as Error).message}`);
  }
  return engine;
}

function openJournal(path: string | undefined, engine: Engine, recordSeconds: number): Journal | undefined {
  if (path === undefined) return undefined;
  const journal = Journal.open(path, { engine: engine.identity, dialect: engine.dialect, recordSeconds });
  if (typeof journal === 'string') throw new UsageError(`--resume: ${journal}`);
  return journal;
}

async function run(context: SuiteContext): Promise<SuiteOutcome> {
  const values = context.values as Values;
  const { corpus, files } = await corpusFiles(values.corpus);
  const spec: EngineSpec = {
    engine: values.engine ?? 'sqlite',
    ...(values.dialect === undefined ? {} : { dialect: values.dialect }),
  };
  const engine = await workingEngine(spec);
  const recordSecondsMax = values.recordSeconds ?? recordSecondsDefault;
  const workers = values.workers ?? availableParallelism();
  const journal = openJournal(values.resume, engine, recordSecondsMax);
  context.progress.begin(files.length);
  try {
    const found = await score({
      corpus,
      files,
      spec,
      engine,
      recordMsMax: recordSecondsMax * 1000,
      workers,
      journal,
      signal: context.signal,
      onFile: ({ path }) => context.progress.step(path),
    });
    const { name, identity: engineVersion, dialect } = engine;
    const json = summarise({ engine: name, engineVersion, dialect, workers, recordSecondsMax }, found);
    const control = await controlOfScoring();
    const exceptions = exceptionsNote(json);
    const notes = [...scoreNotes(json), ...(exceptions === undefined ? [] : [exceptions]), control.says];
    const result = await makeResult({
      suite: 'sqllogictest',
      samples: sqlSamples(json),
      notes,
      tables: failureTables(json),
      versions: { [name]: engineVersion },
    });
    return {
      kind: 'result',
      result: { ...result, ...json },
      text: scoreText(json, notes.slice(2)),
      exitCode: control.shows ? 0 : 1,
    };
  } finally {
    context.progress.end();
  }
}

/** Scores an SQL engine record by record on files in the sqllogictest format. */
export const sqllogictestSuite: Suite = {
  name: 'sqllogictest',
  summary: 'score of an SQL engine on files in the sqllogictest format, record by record',
  options: [
    { flags: '--corpus <dir>', description: 'directory with .test files, at any depth' },
    {
      flags: '--engine <name|cmd>',
      description: `${engineNames.join(', ')} in this process, or a command line that speaks the line protocol (default: sqlite)`,
    },
    {
      flags: '--dialect <name>',
      description: 'what skipif and onlyif call the engine (default: its own; sqlite for a command)',
    },
    {
      flags: '--record-seconds <n>',
      description: `longest time for one record (default: ${recordSecondsDefault})`,
      parse: wholeNumber(1, 86_400),
    },
    { flags: '--workers <n>', description: 'files at the same time (default: one a core)', parse: wholeNumber(1, 256) },
    {
      flags: '--resume <file>',
      description: 'journal of files that are done: written, and gone on with when it is there',
    },
  ],
  run,
};
