import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { parseResultFile, type ResultFile } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { attemptedIn } from '../../sqllogictest/attempted.ts';
import type { SqlScore } from '../../sqllogictest/summary.ts';
import { noProgress, UnreadableError, UsageError, type SuiteContext } from '../suite.ts';
import { sqllogictestSuite } from './sqllogictest.ts';

const project = fileURLToPath(new URL('../../../../../', import.meta.url));
const exampleEngine = `node ${join(project, 'docs/examples/sql-engine.mjs')}`;

/** The suite as the command runs it. */
async function scoreOf(values: Readonly<Record<string, unknown>>): Promise<ResultFile & SqlScore> {
  const { signal } = new AbortController();
  const context: SuiteContext = { size: 'default', values, dir: undefined, signal, progress: noProgress };
  const outcome = await sqllogictestSuite.run(context);
  if (outcome.kind !== 'result') throw new Error('it makes a result file');
  expect(outcome.exitCode).toBe(0);
  return outcome.result as ResultFile & SqlScore;
}

async function withCorpus<T>(files: Readonly<Record<string, string>>, use: (dir: string) => Promise<T>): Promise<T> {
  return withTempDir(undefined, async (dir) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(dir, path, '..'), { recursive: true });
      await writeFile(join(dir, path), text);
    }
    return use(dir);
  });
}

const counts = ({
  attempted,
  right,
  wrong,
  errors,
  crashed,
  timedOut,
  skipped,
}: SqlScore | SqlScore['files'][number]) => ({ attempted, right, wrong, errors, crashed, timedOut, skipped });

const cases = join(project, '../shared/cases');

test.skipIf(!existsSync(cases))('stacked conditions, halt under a condition, labels of skipped queries', async () => {
  const score = await scoreOf({ corpus: join(cases, '23-slt-stacked-conditions') });
  const [label, stacked] = score.files;
  expect(stacked).toMatchObject({ attempted: 4, right: 4, skipped: 4 });
  expect(label).toMatchObject({ attempted: 1, right: 0, wrong: 1, skipped: 1 });
});

test.skipIf(!existsSync(cases))('sorting by bytes, empty texts, bytes that cannot be printed', async () => {
  const score = await scoreOf({ corpus: join(cases, '24-slt-sort-and-empty') });
  expect(counts(score)).toMatchObject({ attempted: 8, right: 8 });
});

const corpus = join(project, '../shared/sqllogictest');

interface Reference {
  readonly file: string;
  readonly executed: number;
  readonly passed: number;
  readonly skipped: number;
}

test.skipIf(!existsSync(corpus))('SQLite comes out as the reference runner counts it', async () => {
  const reference = (JSON.parse(readFileSync(join(corpus, 'reference-counts.json'), 'utf8')) as Reference[]).filter(
    ({ file }) => file.startsWith('test/evidence/') || /random\/(expr|select)|view\/10\/|delete\/1\//.test(file),
  );
  expect(reference.length).toBeGreaterThan(15);
  await withTempDir(undefined, async (dir) => {
    for (const { file } of reference) await cp(join(corpus, file), join(dir, file));
    const { files } = await scoreOf({ corpus: dir });
    const found = files.map(({ path, attempted, right, skipped }) => ({ path, attempted, right, skipped }));
    for (const { path, attempted } of files)
      expect(attemptedIn(readFileSync(join(dir, path), 'utf8'), 'sqlite'), path).toBe(attempted);
    const expected = reference.map(({ file, executed, passed, skipped }) => ({
      path: file,
      attempted: executed,
      right: passed,
      skipped,
    }));
    expect(found).toEqual(expected.toSorted((a, b) => (a.path < b.path ? -1 : 1)));
  });
});

test('files that are links are files, and of nothing there is no share and no rate', async () => {
  await withCorpus({ 'empty/a.test': '', 'b/one.txt': record('SELECT 1'), 'dir.test/x': '' }, async (dir) => {
    await symlink('one.txt', join(dir, 'b/linked.test'));
    await symlink('../b', join(dir, 'empty/b.test'));
    const { files, samples } = await scoreOf({ corpus: dir });
    expect(files.map(({ path, attempted }) => [path, attempted])).toEqual([
      ['b/linked.test', 1],
      ['empty/a.test', 0],
    ]);
    const told = samples.filter(({ workload }) => workload['category'] === 'empty').map(({ metric }) => metric);
    expect(told).toContain('testsTotal');
    expect(told).not.toContain('score');
    expect(told).not.toContain('recordsPerSecond');
  });
});

/** A record of each kind of outcome. */
const mixed = `statement ok
CREATE TABLE t(a INTEGER, b TEXT)

statement ok
INSERT INTO t VALUES (1, 'one'), (2, ''), (3, NULL)

statement ok
THIS IS NOT SQL

statement error
INSERT INTO t VALUES (4, 'four')

statement error
SELECT nothing FROM nowhere

query IT rowsort
SELECT a, b FROM t WHERE a < 4
----
1
one
2
(empty)
3
NULL

query I nosort
SELECT count(*) FROM t
----
5

query II nosort
SELECT a FROM t WHERE a = 1
----
1

query Q nosort
SELECT 1
----
1

skipif sqlite
statement ok
WHATEVER

query T nosort same
SELECT 'x'
----
x

query T nosort same
SELECT 'y'
----
y

# rows end where an error comes up, as in the reference runner
query I nosort
SELECT abs(a) FROM (SELECT -9223372036854775807 - 1 AS a)

halt

statement ok
NOT REACHED
`;

test('each outcome counts on its own, by line', async () => {
  await withCorpus({ 'a/mixed.test': mixed, 'b/empty.test': '', 'notes.txt': 'no test' }, async (dir) => {
    const score = await scoreOf({ corpus: dir });
    expect(counts(score)).toEqual({
      attempted: 12,
      right: 6,
      wrong: 4,
      errors: 2,
      crashed: 0,
      timedOut: 0,
      skipped: 1,
    });
    expect(score.files.map(({ path }) => path)).toEqual(['a/mixed.test', 'b/empty.test']);
    // The same, as every suite's result has it.
    const result = parseResultFile(JSON.stringify(score));
    if (typeof result === 'string') throw new Error(result);
    const told = result.samples.filter(({ workload }) => workload['category'] === 'a' && !('phase' in workload));
    expect(Object.fromEntries(told.map(({ metric, median }) => [metric, median]))).toMatchObject({
      testsTotal: 12,
      testsPassed: 6,
      recordsWrong: 4,
      recordsFailed: 2,
      recordsCrashed: 0,
      recordsTimedOut: 0,
      recordsSkipped: 1,
    });
    expect(result.tables?.[0]?.rows).toHaveLength(6);
    expect(score.files[0]?.failures.map(({ line, outcome }) => `${line} ${outcome}`)).toEqual([
      '7 error',
      '10 wrong',
      '26 wrong',
      '31 wrong',
      '36 error',
      '50 wrong',
    ]);
  });
});

test('a command that speaks the line protocol scores as the engine in this process does', async () => {
  await withCorpus({ 'mixed.test': mixed }, async (dir) => {
    const [inProcess, command] = [
      await scoreOf({ corpus: dir }),
      await scoreOf({ corpus: dir, engine: exampleEngine }),
    ];
    // The example gives an error in the middle of rows as an error.
    expect(counts(command)).toEqual({ ...counts(inProcess), right: 5, errors: 3 });
  });
});

/** What an engine does with a query for these words, where it does not answer. */
const faultyEngine = `
import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';
const told = new Set();
for await (const line of createInterface({ input: process.stdin })) {
  told.add(line);
  if (line.includes('CRASH')) { console.error('out of memory'); process.exit(9); }
  if (line.includes('HANG')) { spawn('sleep', ['1000'], { stdio: 'ignore' }); await new Promise(() => setInterval(() => {}, 1000)); }
  if (line.includes('GARBAGE')) { console.log('hello'); continue; }
  if (line.startsWith('query')) console.log('rows 1 1\\ni ' + [...told].filter((l) => l.includes('INSERT')).length);
  else console.log('ok');
}
`;

const record = (sql: string, expected = '1'): string => `query I nosort\n${sql}\n----\n${expected}\n\n`;

test('an engine that crashes, hangs or talks nonsense is started anew and told what it was told before', async () => {
  const text = [
    'statement ok\nINSERT ONE\n\n',
    record('CRASH'),
    record('COUNT'),
    record('HANG'),
    'statement ok\nINSERT TWO\n\n',
    record('GARBAGE'),
    record('COUNT', '2'),
  ].join('');
  await withCorpus({ 'engine.mjs': faultyEngine, 'faults.test': text }, async (dir) => {
    const engine = `node ${join(dir, 'engine.mjs')}`;
    const score = await scoreOf({ corpus: dir, engine, recordSeconds: 1 });
    expect(counts(score)).toMatchObject({ attempted: 7, right: 4, crashed: 2, timedOut: 1 });
    expect(score.files[0]?.failures).toEqual([
      { line: 4, outcome: 'crashed', reason: 'the engine ended (exit 9): out of memory' },
      { line: 14, outcome: 'timedOut', reason: 'took longer than 1 s' },
      {
        line: 22,
        outcome: 'crashed',
        reason: 'the engine answered "hello", not ok, error MESSAGE or rows COLUMNS ROWS',
      },
    ]);
    // Nothing of the group that hung is left.
    const ps = spawn('ps', ['-eo', 'args']);
    let listed = '';
    ps.stdout.on('data', (chunk: Buffer) => (listed += chunk.toString()));
    await new Promise((resolve) => ps.on('close', resolve));
    expect(listed).not.toContain(dir);
  });
});

test('an engine that breaks at every record: the attempted ones stay the same', async () => {
  const text = record('CRASH').repeat(30) + 'skipif sqlite\n' + record('x') + record('COUNT', '0');
  await withCorpus({ 'engine.mjs': faultyEngine, 'faults.test': text }, async (dir) => {
    const score = await scoreOf({ corpus: dir, engine: `node ${join(dir, 'engine.mjs')}` });
    expect(counts(score)).toMatchObject({ attempted: 31, right: 0, crashed: 31, skipped: 1 });
  });
});

test('a record that never ends in an engine of this process is timed out, and the file goes on', async () => {
  const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
  const text = `statement ok\nCREATE TABLE t(a)\n\n${record(endless)}${record('SELECT count(*) FROM t', '0')}`;
  await withCorpus({ 'endless.test': text }, async (dir) => {
    const score = await scoreOf({ corpus: dir, recordSeconds: 1 });
    expect(counts(score)).toMatchObject({ attempted: 3, right: 2, timedOut: 1 });
  });
});

test('--resume goes on with what a journal holds, drops a line that was cut off, and refuses another run’s', async () => {
  await withCorpus({ 'a.test': record('SELECT 1'), 'b.test': record('SELECT 2', '2') }, async (dir) => {
    const journal = join(dir, 'journal');
    const first = await scoreOf({ corpus: dir, resume: journal });
    const written = await readFile(journal, 'utf8');
    expect(written.trimEnd().split('\n')).toHaveLength(3);
    // One file's line is cut in the middle, as a kill leaves it; the other one's is believed without a run.
    const [head, a = '', b = ''] = written.trimEnd().split('\n');
    const [kept, cut] = a.includes('a.test') ? [a, b] : [b, a];
    await writeFile(journal, `${head}\n${kept.replace('"right":1', '"right":7')}\n${cut.slice(0, 40)}`);
    const second = await scoreOf({ corpus: dir, resume: journal });
    expect([first.right, second.right]).toEqual([2, 8]);
    expect([first.filesKept, second.filesKept]).toEqual([0, 1]);
    expect(second.notes).toContainEqual(expect.stringMatching(/^1 of 2 files were taken from the journal/));
    // Where nothing was run, nothing was timed.
    const third = await scoreOf({ corpus: dir, resume: journal });
    const timed = ({ samples }: ResultFile) => samples.filter(({ metric }) => metric === 'wallSeconds').length;
    expect([first, second, third].map(timed)).toEqual([1, 1, 0]);
    expect((await readFile(journal, 'utf8')).trimEnd().split('\n')).toHaveLength(3);
    // A file that has changed is run again.
    await appendFile(join(dir, 'a.test'), record('SELECT 3', '3'));
    expect((await scoreOf({ corpus: dir, resume: journal })).right).toBe(3);
    const other = scoreOf({ corpus: dir, resume: journal, recordSeconds: 5 });
    const reason = `--resume: ${journal} is of a run with recordSeconds 30, not 5; name another file`;
    await expect(other).rejects.toThrow(new UsageError(reason));
  });
});

test.each([
  [{ corpus: undefined }, new UsageError('--corpus: name the directory with the .test files')],
  [
    { corpus: '/no/such/dir' },
    new UnreadableError('/no/such/dir is not there; name the directory with the .test files'),
  ],
  [{ corpus: 'docs' }, new UnreadableError('docs holds no .test file; name the directory with the .test files')],
  [
    { corpus: 'HERE', engine: 'no-such-engine 2>&-' },
    new UnreadableError("the engine 'no-such-engine 2>&-' does not work: the engine ended (exit 127)"),
  ],
  [
    { corpus: 'HERE', engine: 'duckdb' },
    new UnreadableError('the engine duckdb is not installed here; npm install @duckdb/node-api'),
  ],
])('%j is refused in one line', async (values: Readonly<Record<string, unknown>>, error) => {
  await withCorpus({ 'a.test': record('SELECT 1') }, async (dir) => {
    const there = values['corpus'] === 'HERE' ? { ...values, corpus: dir } : values;
    await expect(scoreOf(there)).rejects.toThrow(error);
    await expect(scoreOf(there)).rejects.toBeInstanceOf(error.constructor);
  });
});
