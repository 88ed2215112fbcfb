import { expect, test } from 'vitest';

import type { CurvePoint, PointState } from './curve.ts';
import { falls, reached, steps } from './plan.ts';

const point = (commits: number, score: number, state: PointState = 'scored'): CurvePoint => ({
  seq: commits * 10,
  commits,
  ms: commits * 1000,
  state,
  passed: score * 100,
  total: 100,
  score,
  categories: [],
  buildSeconds: 0,
  scoreSeconds: 0,
  reason: '',
});
const points = (...scores: (number | 'broken')[]): CurvePoint[] =>
  scores.map((score, at) => (score === 'broken' ? point(at, 0, 'build-failed') : point(at, score)));
const told = (found: ReturnType<typeof falls>): unknown[] =>
  found.map(({ kind, from, to }) => [kind, from.commits, to.commits]);

test('the start, every nth and always the last', () => {
  expect(steps(10, 4)).toEqual([0, 4, 8, 10]);
  expect(steps(8, 4)).toEqual([0, 4, 8]);
  expect(steps(1, 4)).toEqual([0, 1]);
  expect(steps(2, 1)).toEqual([0, 1, 2]);
});

test('a fall is from the last point that was built; a broken build counts once', () => {
  expect(told(falls(points(0, 0.5, 0.7, 0.7), 0))).toEqual([]);
  expect(told(falls(points(0, 0.5, 0.4, 0.3), 0))).toEqual([
    ['score', 1, 2],
    ['score', 2, 3],
  ]);
  expect(told(falls(points(0.5, 'broken', 'broken', 0.4), 0))).toEqual([
    ['build', 0, 1],
    ['score', 0, 3],
  ]);
  expect(told(falls(points('broken', 0.2, 'broken', 0.3), 0))).toEqual([['build', 1, 2]]);
  expect(told(falls([point(0, 0.5), point(1, 0, 'crashed'), point(2, 0.5)], 0))).toEqual([['score', 0, 1]]);
});

test('a score that varies may fall by the tolerance', () => {
  expect(falls(points(0.5, 0.46), 0.05)).toEqual([]);
  expect(told(falls(points(0.5, 0.44), 0.05))).toEqual([['score', 0, 1]]);
});

test('a threshold is reached where a point first has it', () => {
  const found = reached(points(0, 0.5, 0.4, 0.7).toReversed(), [0.5, 0.6, 1]);
  expect(found.map(({ share, at }) => [share, at?.commits])).toEqual([
    [0.5, 1],
    [0.6, 3],
    [1, undefined],
  ]);
});
