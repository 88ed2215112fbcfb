import { expect, test } from 'vitest';
import { changedLines } from '../core/changed-lines.ts';
import { thrashing, type ThrashingPolicy } from './thrashing.ts';

const policy: ThrashingPolicy = { window: 10, growing: 2, conflictsPer100Lines: 20 };
const at = (...rates: number[]): string | undefined =>
  thrashing(
    rates.map((rate) => ({ conflicts: rate, lines: 100 })),
    policy,
  );

test.each([
  ['grows and is high', [10, 20, 40], true],
  ['begins from nothing', [0, 10, 30], true],
  ['grew before, and goes on', [50, 5, 15, 30], true],
  ['is high and stays so', [40, 40, 40], false],
  ['grows by noise alone', [40, 41, 42], false],
  ['grows and is low', [1, 4, 16], false],
  ['grows in one window only', [20, 10, 30], false],
  ['falls', [80, 60, 40], false],
  ['has too few windows', [20, 40], false],
  ['has none', [], false],
])('a run that %s', (_, rates, isThrashing) => {
  expect(at(...rates) !== undefined).toBe(isThrashing);
});

test('where nothing lands at all the rate is that of a single line', () => {
  const windows = [
    { conflicts: 1, lines: 100 },
    { conflicts: 2, lines: 10 },
    { conflicts: 5, lines: 0 },
  ];
  expect(thrashing(windows, policy)).toBe(
    'conflicts per 100 accepted lines keep growing: 1.0, 20.0, 500.0, in windows of 10 intents',
  );
});

test.each([
  ['', '', 0],
  ['a\nb\n', 'a\nb\n', 0],
  ['a\nb\nc\n', 'a\nB\nc\n', 1],
  ['a\nc\n', 'a\nb\nb\nc\n', 2],
  ['a\nb\nc\n', 'a\nc\n', 0],
  ['a\nb\nc\n', 'c\na\nb\n', 0],
  ['', 'a\nb', 2],
  ['ab\n', 'aab\n', 1],
  ['x', '', 0],
])('changed lines of %j and %j', (before, after, lines) => expect(changedLines(before, after)).toBe(lines));
