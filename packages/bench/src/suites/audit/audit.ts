import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { audit, auditControl, type AuditOptions } from '../../audit/index.ts';
import type { CategoryCount } from '../../curve/index.ts';
import { makeResult } from '../../harness/make-result.ts';
import { parseResultFile } from '../../harness/result-file.ts';
import { commitsOptions } from '../commits-options.ts';
import { UnreadableError, UsageError, type Suite, type SuiteContext, type SuiteOutcome } from '../suite.ts';
import { auditNotes, auditSamples, auditTables, controlNote, hasFindings, isBlind } from './audit-result.ts';

interface Values {
  readonly repo?: string;
  readonly branch?: string;
  readonly run?: string;
  readonly from?: number;
  readonly to?: number;
  readonly corpus?: string;
  readonly words?: string[];
  readonly also?: string[];
  readonly tests?: string[];
  readonly allow?: string[];
  readonly curve?: string;
  readonly name?: string;
}

const wordCharsMin = 4;

/** A list with commas; an empty one is one, too. */
const names = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

function wordList(text: string): string[] {
  const words = names(text);
  const short = words.find((word) => word.length < wordCharsMin);
  if (short !== undefined)
    throw new UsageError(`'${short}' is too short to tell of anything; ${wordCharsMin} letters or more`);
  return words;
}

/** Of the last point of a curve's result file. Errors: {@link UnreadableError} where it is none. */
async function categoriesOf(file: string): Promise<CategoryCount[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UnreadableError(`${file} cannot be read (${error.code ?? error.message})`);
  });
  const result = parseResultFile(text);
  if (typeof result === 'string') throw new UnreadableError(`${file} ${result}`);
  if (result.suite !== 'curve') throw new UnreadableError(`${file} is of ${result.suite}, not of a curve`);
  const counts = new Map<string, { passed: number; total: number }>();
  for (const { workload, metric, median } of result.samples) {
    if (workload['workload'] !== 'category') continue;
    const category = String(workload['category']);
    const count = counts.get(category) ?? { passed: 0, total: 0 };
    if (metric === 'testsPassed') count.passed = median;
    if (metric === 'testsTotal') count.total = median;
    counts.set(category, count);
  }
  return [...counts].map(([category, count]) => ({ category, ...count }));
}

async function run(context: SuiteContext): Promise<SuiteOutcome> {
  const values = context.values as Values;
  const { repo, curve, name, ...more } = values;
  if (repo === undefined) throw new UsageError('--repo: name the directory of the repository');
  const missing = [...(more.corpus === undefined ? [] : [more.corpus]), ...(more.also ?? [])].find(
    (path) => !existsSync(path),
  );
  if (missing !== undefined) throw new UnreadableError(`${missing} is not there`);
  const passedOn = ['branch', 'run', 'from', 'to', 'corpus', 'words', 'also', 'tests', 'allow'] as const;
  const options: AuditOptions = {
    repo,
    ...Object.fromEntries(passedOn.flatMap((key) => (more[key] === undefined ? [] : [[key, more[key]]]))),
    ...(curve !== undefined && { categories: await categoriesOf(curve) }),
  };
  const found = await audit(options);
  const control = await auditControl(context.dir);
  const result = await makeResult({
    suite: 'audit',
    samples: auditSamples(name ?? found.run ?? 'commits', found),
    notes: [...auditNotes(found), controlNote(control)],
    tables: auditTables(found),
  });
  return { kind: 'result', result, exitCode: hasFindings(found) || isBlind(control) ? 1 : 0 };
}

/** Looks for what a run should not have done, with the evidence. */
export const auditSuite: Suite = {
  name: 'audit',
  summary: 'whether a run cheated: leaks, tests taken away, answers written down, network, dependencies',
  options: [
    ...commitsOptions,
    { flags: '--corpus <dir>', description: 'the tests that it was scored by, and should not have seen' },
    { flags: '--words <list>', description: 'words that tell of them (default: sqllogictest)', parse: wordList },
    { flags: '--also <list>', description: 'files and directories to look in, beside the store', parse: names },
    { flags: '--tests <list>', description: 'paths of tests, beside the usual ones: checks/**,*.case', parse: names },
    { flags: '--allow <list>', description: "dependencies that are allowed; '': none", parse: names },
    { flags: '--curve <file>', description: 'result file of a curve, for its kinds of tests' },
    { flags: '--name <name>', description: 'what it is called in the report (default: the run)' },
  ],
  run,
};
