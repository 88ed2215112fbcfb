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

/** Of the last point of a curve, in its own result file or an experiment's. Errors: {@link UnreadableError} where there is none, or several. */
async function categoriesOf(file: string, name: string | undefined): Promise<CategoryCount[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UnreadableError(`${file} cannot be read (${error.code ?? error.message})`);
  });
  const result = parseResultFile(text);
  if (typeof result === 'string') throw new UnreadableError(`${file} ${result}`);
  const kinds = result.samples.filter(({ workload }) => workload['workload'] === 'category');
  const subjects = [...new Set(kinds.map(({ subject }) => subject))];
  if (subjects.length === 0)
    throw new UnreadableError(`${file} is of ${result.suite} and holds no curve with kinds of tests`);
  const [wanted] = subjects.length === 1 ? subjects : subjects.filter((subject) => subject === name);
  if (wanted === undefined)
    throw new UnreadableError(`${file} holds several curves; name one with --name: ${subjects.join(', ')}`);
  const counts = new Map<string, { passed: number; total: number }>();
  for (const { subject, workload, metric, median } of kinds) {
    if (subject !== wanted) continue;
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
    ...(curve !== undefined && { categories: await categoriesOf(curve, name) }),
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
    { flags: '--curve <file>', description: 'result file of a curve or an experiment, for its kinds of tests' },
    { flags: '--name <name>', description: 'what it is called in the report, and in the --curve (default: the run)' },
  ],
  run,
};
