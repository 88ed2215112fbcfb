import fc from 'fast-check';
import sqlite from 'node-sqlite3-wasm';
import { afterAll, expect, test } from 'vitest';

import { renderInteger, renderReal, renderText, textOfReal } from './render.ts';

const database = new sqlite.Database();
afterAll(() => database.close());

/** What SQLite itself makes of a value. */
const ask = (sql: string, value: sqlite.JSValue): unknown => database.get(`select ${sql} as v`, [value])?.['v'];

test.each([
  [5_000_000_000, '705032704'],
  [-1, '-1'],
  [2.9, '2'],
  [-2.9, '-2'],
  [1e300, '-1'],
  ['12 apples', '12'],
  ['  -7', '-7'],
  ['apples', '0'],
  ['', '0'],
  [2n ** 62n, '0'],
])('%s as an integer is %s', (value, line) => {
  expect(renderInteger(value)).toBe(line);
});

test.each([
  [92, '92.000'],
  [-0, '0.000'],
  [-0.0004, '-0.000'],
  [Infinity, 'Inf'],
  [-Infinity, '-Inf'],
  [Number.NaN, 'NULL'],
  [1e20 / 3, '33333333333333330000.000'],
  ['3.5e1x', '35.000'],
])('%s as a real is %s', (value, line) => {
  expect(renderReal(value)).toBe(line);
});

test.each([
  ['', '(empty)'],
  ['a b', 'a b'],
  ['tab\tnl\né', 'tab@nl@@@'],
  ['NULL', 'NULL'],
  ['a\0b', 'a'],
  ['\0', '(empty)'],
])('%j as a text is %s', (value, line) => {
  expect(renderText(value)).toBe(line);
});

const reals = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.integer().map((n) => n / 1000),
  fc.integer().map((n) => n * 1e9),
);

test('reals are rendered as SQLite prints them', () => {
  fc.assert(
    fc.property(reals, (real) => {
      // A real that is whole is bound as an integer, so it is made a real again.
      expect(renderReal(real)).toBe(ask("printf('%.3f', cast(? as real))", real));
    }),
    { seed: 5, numRuns: 500 },
  );
});

test('integers are cast as SQLite casts them', () => {
  const values = fc.oneof(
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    fc.string({ unit: fc.constantFrom('0', '1', '7', '9', ' ', '-', '+', '.', 'x') }),
  );
  fc.assert(
    fc.property(values, (value) => {
      const whole = BigInt(ask('cast(? as integer)', value) as number | bigint);
      expect(renderInteger(value)).toBe(String(BigInt.asIntN(32, whole)));
    }),
    { seed: 6, numRuns: 500 },
  );
});

test('reals as texts are read back as the same number, in SQLite’s form', () => {
  const form = /^-?(\d+\.\d+|\d\.\d+e[+-]\d{2,3})$/;
  fc.assert(
    fc.property(reals, (real) => {
      const text = textOfReal(real);
      expect(text).toMatch(form);
      expect(Number(text)).toBe(real === 0 ? 0 : real);
      expect(text.includes('e')).toBe((ask("cast(? as real) || ''", real) as string).includes('e'));
    }),
    { seed: 7, numRuns: 500 },
  );
});
