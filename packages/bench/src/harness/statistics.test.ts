import { expect, test } from 'vitest';

import { medianOf, percentileOf, summarize } from './statistics.ts';

test('the median is the middle, or the mean of the two in the middle', () => {
  expect(medianOf([10, 9, 100])).toBe(10);
  expect(medianOf([4, 1, 3, 2])).toBe(2.5);
  expect(() => medianOf([])).toThrow(RangeError);
});

test('the spread tells how far the rounds lie apart', () => {
  expect(summarize([8, 10, 12])).toEqual({ median: 10, min: 8, max: 12, n: 3, spread: 0.4 });
});

test('percentiles are values that were measured', () => {
  const values = Float64Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentileOf(values, 0.5)).toBe(50);
  expect(percentileOf(values, 0.99)).toBe(99);
  expect(percentileOf(values, 1)).toBe(100);
  expect(percentileOf(Float64Array.of(7), 0.99)).toBe(7);
});
