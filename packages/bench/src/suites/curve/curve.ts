import { stat } from 'node:fs/promises';

import { scoreCurve, type CurveOptions, type Scorer } from '../../curve/index.ts';
import { makeResult } from '../../harness/make-result.ts';
import { commitsOptions } from '../commits-options.ts';
import {
  UnreadableError,
  UsageError,
  listOf,
  wholeNumber,
  type Suite,
  type SuiteContext,
  type SuiteOutcome,
} from '../suite.ts';
import { curveNotes, curveSamples } from './curve-samples.ts';

interface Values {
  readonly repo?: string;
  readonly branch?: string;
  readonly run?: string;
  readonly from?: number;
  readonly to?: number;
  readonly build?: string;
  readonly corpus?: string;
  readonly engine?: string;
  readonly dialect?: string;
  readonly recordSeconds?: number;
  readonly workers?: number;
  readonly score?: string;
  readonly every?: number;
  readonly tolerance?: number;
  readonly thresholds?: number[];
  readonly buildSeconds?: number;
  readonly scoreSeconds?: number;
  readonly sandbox?: boolean;
  readonly resume?: string;
  readonly name?: string;
}

/** A parser for percentages, as a share. */
const percentage = (text: string): number => {
  const value = Number(text.replace(/\s*%$/, ''));
  if (text.trim() === '' || !(value >= 0 && value <= 100)) throw new UsageError(`'${text}' is no percentage`);
  return value / 100;
};

function given<Key extends string>(values: Readonly<Partial<Record<Key, unknown>>>, names: readonly Key[]): Key[] {
  return names.filter((name) => values[name] !== undefined);
}

async function scorerOf(values: Values): Promise<Scorer> {
  const { corpus, engine, score } = values;
  if (score !== undefined) {
    const [other] = given(values, ['corpus', 'engine', 'dialect', 'recordSeconds', 'workers']);
    if (other !== undefined) throw new UsageError(`--score counts by itself; leave out --${other}`);
    return { kind: 'command', command: score };
  }
  if (corpus === undefined || engine === undefined)
    throw new UsageError('name what is scored by: --corpus with --engine, or --score');
  const found = await stat(corpus).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new UnreadableError(`${corpus} is no directory; name the one with the .test files`);
  const { dialect, recordSeconds, workers } = values;
  return {
    kind: 'engine',
    corpus,
    engine,
    ...(dialect !== undefined && { dialect }),
    ...(recordSeconds !== undefined && { recordSeconds }),
    ...(workers !== undefined && { workers }),
  };
}

const passedOn = [
  'branch',
  'run',
  'from',
  'to',
  'build',
  'every',
  'tolerance',
  'thresholds',
  'buildSeconds',
  'scoreSeconds',
] as const;

async function run(context: SuiteContext): Promise<SuiteOutcome> {
  const values = context.values as Values;
  const { repo, sandbox, resume, name } = values;
  if (repo === undefined) throw new UsageError('--repo: name the directory of the repository');
  const options: CurveOptions = {
    repo,
    scorer: await scorerOf(values),
    ...Object.fromEntries(given(values, passedOn).map((key) => [key, values[key]])),
    sandbox: sandbox === false ? 'none' : 'required',
    ...(resume !== undefined && { journal: resume }),
    ...(context.dir !== undefined && { dir: context.dir }),
    signal: context.signal,
    onPlan: (points) => context.progress.begin(points),
    onPoint: ({ commits, state, passed, total }) =>
      context.progress.step(`commit ${commits}: ${state === 'scored' ? `${passed} of ${total}` : state}`),
  };
  try {
    const found = await scoreCurve(options);
    const subject = name ?? found.run ?? 'commits';
    const result = await makeResult({
      suite: 'curve',
      samples: curveSamples(subject, found),
      notes: curveNotes(found),
    });
    return { kind: 'result', result, exitCode: found.control?.shows === false ? 1 : 0 };
  } finally {
    context.progress.end();
  }
}

const count = wholeNumber(1, 1_000_000_000);
const seconds = wholeNumber(1, 86_400);

/** Scores what a swarm has built along its commits, and finds those that made it worse. */
export const curveSuite: Suite = {
  name: 'curve',
  summary: 'score of what a run has built, along its commits, and who made it worse',
  options: [
    ...commitsOptions,
    { flags: '--build <cmd>', description: 'run in the directory of each snapshot' },
    { flags: '--corpus <dir>', description: 'directory with .test files, at any depth' },
    { flags: '--engine <cmd>', description: 'the built engine, in its directory; speaks the line protocol' },
    { flags: '--dialect <name>', description: 'what skipif and onlyif call the engine (default: sqlite)' },
    { flags: '--record-seconds <n>', description: 'longest time for one record (default: 10)', parse: seconds },
    { flags: '--workers <n>', description: 'test files at the same time (default: 1)', parse: wholeNumber(1, 256) },
    { flags: '--score <cmd>', description: 'in place of a corpus: prints {"passed": N, "total": N} as its last line' },
    { flags: '--every <n>', description: 'commits between two points (default: 1)', parse: count },
    { flags: '--tolerance <percent>', description: 'what a score may fall unnoticed (default: 0)', parse: percentage },
    {
      flags: '--thresholds <list>',
      description: 'percentages (default: 66.7,73,85,97,100)',
      parse: listOf(percentage),
    },
    { flags: '--build-seconds <n>', description: 'longest time for a build (default: 600)', parse: seconds },
    { flags: '--score-seconds <n>', description: 'longest time for a score (default: 600)', parse: seconds },
    { flags: '--no-sandbox', description: 'with a network and all files in reach; for what you wrote yourself' },
    { flags: '--resume <file>', description: 'journal of points: written, and gone on with when it is there' },
    { flags: '--name <name>', description: 'what the curve is called in the report (default: the run)' },
  ],
  run,
};
