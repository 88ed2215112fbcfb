import { expect, test } from 'vitest';

import { expectedHash, judge, sorted } from './judge.ts';
import type { QueryRecord } from './record.ts';

const query = (fields: Partial<QueryRecord>): QueryRecord => ({
  kind: 'query',
  line: 1,
  conditions: [],
  sql: '',
  types: 'I',
  sort: 'nosort',
  label: undefined,
  expected: [],
  ...fields,
});

const values = ['9', '100', '-1', '10', 'NULL', '(empty)'];
const byText = ['(empty)', '-1', '10', '100', '9', 'NULL'];

test('sorts by the bytes of the text, never as numbers', () => {
  expect(sorted({ columns: 1, values }, 'rowsort')).toEqual(byText);
  expect(sorted({ columns: 2, values }, 'valuesort')).toEqual(byText);
  expect(sorted({ columns: 2, values: ['b', '1', 'a', '2', 'a', '10'] }, 'rowsort')).toEqual([
    'a',
    '10',
    'a',
    '2',
    'b',
    '1',
  ]);
  expect(sorted({ columns: 1, values }, 'nosort')).toEqual(values);
});

const nine = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
// MD5 of "1\n2\n…9\n", by md5sum.
const hashOfNine = '9 values hashing to 22e400a2ddbb013acf2a5852d6ab69fc';

test('more values than the threshold are compared by their hash, as many are not', () => {
  const hashed = judge(query({ expected: [hashOfNine] }), { columns: 1, values: nine }, 8);
  expect(hashed.reason).toBeUndefined();
  expect(judge(query({ expected: [hashOfNine] }), { columns: 1, values: nine }, 9).reason).toBeDefined();
  expect(judge(query({ expected: nine }), { columns: 1, values: nine }, 9).reason).toBeUndefined();
  expect(judge(query({ expected: nine }), { columns: 1, values: nine }, 0).reason).toBeUndefined();
  expect(judge(query({ expected: nine }), { columns: 1, values: nine }, 8).reason).toMatch(/^9 values hashing to/);
  const behind = [hashOfNine, 'halt'];
  expect(judge(query({ expected: behind }), { columns: 1, values: nine }, 8).reason).toBeUndefined();
});

test.each([
  [query({ expected: ['1'] }), ['2'], 'value 1 is "2" instead of "1"'],
  [query({ expected: ['1', '2'] }), ['1'], 'value 2 is nothing instead of "2"'],
  [query({ expected: ['1'] }), ['1', '2'], 'value 2 is "2" instead of nothing'],
  [query({ expected: [] }), ['1'], 'value 1 is "1" instead of nothing'],
])('a wrong result says where: %#', (record, found, reason) => {
  expect(judge(record, { columns: 1, values: found }, 8).reason).toBe(reason);
});

test('a wrong number of columns is wrong, whatever the values', () => {
  expect(judge(query({ types: 'II', expected: ['1', '2'] }), { columns: 1, values: ['1', '2'] }, 8).reason).toBe(
    '1 columns instead of 2',
  );
});

test('a label’s hash is of the sorted result, and an expected block has the same', () => {
  const record = query({ sort: 'valuesort', label: 'l', expected: ['1', '2'] });
  expect(judge(record, { columns: 1, values: ['2', '1'] }, 8).labelHash).toBe(expectedHash(record));
  expect(expectedHash(query({ expected: [hashOfNine, 'halt'] }))).toBe(hashOfNine.split(' ').at(-1));
});
