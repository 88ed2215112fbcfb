import { expect, test } from 'vitest';

import { attemptedIn } from './attempted.ts';
import { sqliteEngine } from './engines/sqlite.ts';
import { Ledger } from './ledger.ts';
import { countsOf, type Counts, type Failure } from './outcome.ts';
import { runFile } from './run-file.ts';

/** What a file comes to on SQLite. */
async function outcomeOf(text: string): Promise<{ counts: Counts; failures: string[] }> {
  const ledger = Ledger.forFile(Buffer.byteLength(text));
  const failures: Failure[] = [];
  await runFile(text, sqliteEngine(), ledger, (failure) => failures.push(failure));
  const counts = countsOf(ledger.outcomes);
  expect(attemptedIn(text, 'sqlite')).toBe(counts.attempted);
  return { counts, failures: failures.map(({ line, outcome }) => `${line} ${outcome}`) };
}

const query = (head: string, sql: string, ...expected: string[]): string =>
  `query ${head}\n${sql}\n----\n${expected.map((line) => `${line}\n`).join('')}\n`;

const table = 'statement ok\nCREATE TABLE t(a INTEGER, b TEXT)\n\n';

// What is expected here was compared with the suite's own runner (on SQLite 3.40.1).
test.each<[string, string, Partial<Counts>, string[]]>([
  [
    'an unknown record is no error where it is left out',
    'onlyif mysql\nfrobnicate\n\nskipif sqlite\n\n' + query('I', 'SELECT 1', '1'),
    { right: 1, skipped: 2 },
    [],
  ],
  [
    'an unknown record ends the file',
    `${table}skipif mysql\nfrobnicate\n\n${query('I', 'SELECT 1', '1')}`,
    { right: 1, errors: 1 },
    ['5 error'],
  ],
  [
    'a condition of another engine with nothing behind it ends the file too',
    `${table}skipif mysql\n\n${query('I', 'SELECT 1', '1')}`,
    { right: 1, errors: 1 },
    ['4 error'],
  ],
  [
    'a statement with an unknown word is run',
    `statement OK\nCREATE TABLE t(a)\n\n${query('I', 'SELECT count(*) FROM t', '0')}`,
    { right: 1, errors: 1 },
    ['1 error'],
  ],
  [
    'a query with an unknown type is not run, and the file goes on',
    query('Q', 'SELECT 1', '1') + query('I', 'SELECT 1', '1'),
    { right: 1, errors: 1 },
    ['1 error'],
  ],
  [
    'a query with another number of columns changes nothing',
    `${table}${query('I', "INSERT INTO t VALUES (1, 'x')")}${query('I', 'SELECT count(*) FROM t', '0')}`,
    { right: 2, wrong: 1 },
    ['4 wrong'],
  ],
  [
    'only the first of several queries is asked',
    query('I', 'SELECT 1;\nSELECT 2', '1') + query('I', 'SELECT 1; -- no more', '1'),
    { right: 2 },
    [],
  ],
  [
    'a value that begins with # cannot be expected',
    query('T', "SELECT '#a'", '#a') + query('T', "SELECT ' #a'", ' #a'),
    { right: 1, wrong: 1 },
    ['1 wrong'],
  ],
  [
    'the last record needs no end of line, and no result where nothing comes',
    `hash-threshold 0\r\n\r\nquery I\r\nSELECT 1 WHERE 0\r\n----`,
    { right: 1 },
    [],
  ],
  [
    'a blank line that was forgotten behind a hash takes the next record away',
    'query III\nSELECT 1,2,3 UNION ALL SELECT 1,2,4 UNION ALL SELECT 0,0,0\n----\n' +
      '9 values hashing to d176401d9fc6ac8abaecebc4729e0444\nstatement ok\nNO SQL\n\n',
    { right: 1 },
    [],
  ],
])('%s', async (_, text, counts, failures) => {
  const found = await outcomeOf(text);
  expect(found.counts).toMatchObject({ right: 0, wrong: 0, errors: 0, skipped: 0, ...counts });
  expect(found.failures).toEqual(failures);
});

test('a label that does not fit a skipped record never makes more records attempted', async () => {
  const skipped = `skipif sqlite\n${query('I nosort lab', 'SELECT 2', '2')}`;
  const right = await outcomeOf(query('I nosort lab', 'SELECT 1', '1') + skipped);
  expect(right).toMatchObject({ counts: { attempted: 1, wrong: 1, skipped: 1 }, failures: ['1 wrong'] });
  const wrong = await outcomeOf(query('I nosort lab', 'SELECT 1', '3') + skipped);
  expect(wrong).toMatchObject({ counts: { attempted: 1, wrong: 1, skipped: 1 }, failures: ['1 wrong'] });
  const nothing = await outcomeOf(
    `${query('I nosort lab', 'SELECT 1', '1')}skipif sqlite\n${query('I nosort lab', 'x')}`,
  );
  expect(nothing).toMatchObject({ counts: { attempted: 1, wrong: 1, skipped: 1 } });
  const unasked = await outcomeOf(`skipif sqlite\n${query('I nosort lab', 'SELECT 1', '1')}${skipped}`);
  expect(unasked).toMatchObject({ counts: { attempted: 0, skipped: 2 }, failures: [] });
});

test.each([
  ["x'41ff42'", 'A@B'],
  ["CAST(x'ff41' AS TEXT)", '@A'],
  // Bytes that a lenient reader takes for an A.
  ["x'c181'", '@@'],
  ["x'c3a9'", '@@'],
  ["'é'", '@@'],
  ["'a' || char(0) || 'b'", 'a'],
  ['zeroblob(3)', '(empty)'],
  ["''", '(empty)'],
  ["char(9) || '~' || char(127)", '@~@'],
])('the text %s is shown byte by byte', async (value, shown) => {
  expect(await outcomeOf(query('T', `SELECT ${value}`, shown))).toMatchObject({ counts: { right: 1 }, failures: [] });
});
