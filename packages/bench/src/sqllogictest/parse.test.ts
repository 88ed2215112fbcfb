import { expect, test } from 'vitest';

import { parseTest } from './parse.ts';
import { endsFile, isSkipped, type TestRecord } from './record.ts';

const parse = (...lines: string[]): TestRecord[] => [...parseTest(lines.join('\n'))];

test('records end at blank lines, also at lines of whitespace and at carriage returns', () => {
  const text = 'statement ok\r\nCREATE TABLE t(a)\r\n\r\nquery I nosort\nSELECT a\nFROM t\n----\n1\n \t \nhalt';
  expect([...parseTest(text)]).toEqual([
    { kind: 'statement', line: 1, conditions: [], sql: 'CREATE TABLE t(a)', expect: 'ok' },
    {
      kind: 'query',
      line: 4,
      conditions: [],
      sql: 'SELECT a\nFROM t',
      types: 'I',
      sort: 'nosort',
      label: undefined,
      expected: ['1'],
    },
    { kind: 'halt', line: 10, conditions: [] },
  ]);
});

test('a comment stands nowhere: not in SQL, not in a result, and it separates nothing', () => {
  const [statement, query] = parse(
    '# first',
    'statement error',
    'SELECT',
    '# in it',
    "'#' # text",
    '',
    'query T',
    'x',
    '----',
    'a',
    '#b',
    'c',
  );
  expect(statement).toMatchObject({ sql: "SELECT\n'#' # text", expect: 'error', line: 2 });
  expect(query).toMatchObject({ expected: ['a', 'c'], sort: 'nosort' });
});

test('whitespace in values and in SQL is kept', () => {
  const [query] = parse('query T  nosort ', '  SELECT 1  ', '----', '  a ', 'b');
  expect(query).toMatchObject({ sql: '  SELECT 1  ', expected: ['  a ', 'b'] });
});

test('any number of conditions, with words behind them, before a record of any kind', () => {
  const [halt, query, threshold] = parse(
    'onlyif mssql # all of it',
    'halt',
    '',
    'skipif MySQL # not there',
    'skipif postgresql',
    'query I',
    'x',
    '',
    'onlyif sqlite',
    'hash-threshold 0',
  );
  expect(halt).toMatchObject({ kind: 'halt', conditions: [{ kind: 'onlyif', engine: 'mssql' }] });
  expect(query?.conditions).toHaveLength(2);
  expect(threshold).toMatchObject({ threshold: 0, conditions: [{ engine: 'sqlite' }] });
  const skippedFor = (record: TestRecord | undefined, engine: string) => isSkipped(record?.conditions ?? [], engine);
  expect([skippedFor(halt, 'sqlite'), skippedFor(halt, 'MSSQL')]).toEqual([true, false]);
  expect(['mysql', 'PostgreSQL', 'sqlite'].map((name) => skippedFor(query, name))).toEqual([true, true, false]);
});

test('two different onlyif leave a record out for everybody', () => {
  const [record] = parse('onlyif sqlite', 'onlyif mysql', 'statement ok', 'x');
  expect(['sqlite', 'mysql', 'other'].map((name) => isSkipped(record?.conditions ?? [], name))).toEqual([
    true,
    true,
    true,
  ]);
});

test('labels are cut to 20 characters; more words on the line count for nothing', () => {
  const [query] = parse('query II rowsort a-label-that-is-much-too-long and more', 'x');
  expect(query).toMatchObject({ types: 'II', sort: 'rowsort', label: 'a-label-that-is-much', expected: [] });
});

test.each([
  [['query IX nosort', 'x', '----', '1'], "'X' is no type of column"],
  [['query I sideways', 'x'], "'sideways' is no way to sort"],
  [['hash-threshold many'], "'hash-threshold many' is no count"],
])('%j is dropped and the file goes on', (lines, reason) => {
  const records = parse(...lines, '', 'halt');
  expect(records).toMatchObject([{ kind: 'malformed', reason, endsFile: false }, { kind: 'halt' }]);
});

test.each([
  [['frobnicate', 'x'], "'frobnicate' is no type of record"],
  [['----', '1'], "'----' is no type of record"],
  [['query', 'x'], 'a query has no column types'],
  [['skipif mysql'], "nothing stands behind 'skipif'"],
  [['\uFEFFstatement ok', 'x'], 'a byte order mark stands before the record'],
  [['\u00A0', 'x'], "'\u00A0' is no type of record"],
])('%j ends the file, where it is not left out', (lines, reason) => {
  const [record, ...behind] = parse(...lines, '', 'halt');
  expect(record).toMatchObject({ kind: 'malformed', reason });
  expect(record && endsFile(record)).toBe(true);
  expect(behind).toMatchObject([{ kind: 'halt', line: lines.length + 2 }]);
});

test('what a statement expects is told as it stands', () => {
  expect(parse('statement error with a text', 'x', '', 'statement maybe', 'y')).toMatchObject([
    { kind: 'statement', expect: 'error', sql: 'x' },
    { kind: 'statement', expect: 'maybe', sql: 'y' },
  ]);
});

test('a record goes on to the blank line behind it, whatever stands there', () => {
  const records = parse(
    '# head',
    'hash-threshold 3',
    'statement ok',
    'x',
    '',
    'onlyif mysql',
    'halt',
    'halt',
    '',
    'halt',
  );
  expect(records.map(({ kind, line }) => [kind, line])).toEqual([
    ['hash-threshold', 2],
    ['halt', 7],
    ['halt', 10],
  ]);
  // As in the reference runner, but for a threshold on the very first line.
  expect(parse('hash-threshold 3', 'statement ok', 'x').map(({ kind }) => kind)).toEqual([
    'hash-threshold',
    'statement',
  ]);
});

test('a condition with a blank line behind it is one of nothing', () => {
  const [left, statement] = parse('onlyif mysql', '# why', ' ', 'statement ok', 'x');
  expect(left).toMatchObject({ kind: 'malformed', line: 1, conditions: [{ engine: 'mysql' }] });
  expect(statement).toMatchObject({ kind: 'statement', conditions: [] });
});

test.each(['', '\n\n', '# nothing', '\r\n \f\v\t\r\n'])('%j holds no record', (text) => {
  expect([...parseTest(text)]).toEqual([]);
});
