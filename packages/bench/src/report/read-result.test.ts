import { expect, test } from 'vitest';

import { htmlReport } from './html.ts';
import { markdownReport } from './markdown.ts';
import { readResult } from './read-result.ts';

const counts = { attempted: 10, right: 8, wrong: 1, errors: 1, crashed: 0, timedOut: 0, skipped: 2 };
const category = { category: 'index/in', files: 1, ...counts, threadSeconds: 2, shareOf: { read: 0.1, engine: 0.5, judge: 0.1 }, recordsPerThreadSecond: 5 }; // prettier-ignore
const failures = [{ line: 7, outcome: 'wrong', reason: 'expected <1>, got <2>' }];
const first = {
  suite: 'sqllogictest',
  formatVersion: 1,
  engine: 'sqlite',
  engineVersion: 'sqlite 3.1.2',
  dialect: 'sqlite',
  workers: 2,
  recordSecondsMax: 30,
  ...counts,
  seconds: 2,
  recordsPerSecond: 5,
  categories: [category],
  files: [{ path: 'test/index/in/1.test', ...counts, seconds: 2, secondsOf: {}, failures }],
};

test('a score of the first form, which had no samples, is told of as later ones are', () => {
  const result = readResult(JSON.stringify(first));
  if (typeof result === 'string') throw new Error(result);
  const figure = (workload: string, metric: string) =>
    result.samples.find((sample) => sample.workload['workload'] === workload && sample.metric === metric)?.median;
  expect([figure('sqllogictest', 'score'), figure('sqllogictest', 'recordsSkipped')]).toEqual([0.8, 2]);
  expect([figure('records', 'recordsPerSecond'), figure('records', 'recordsFailed')]).toEqual([5, 1]);
  const markdown = markdownReport(result);
  expect(markdown).toContain('machine not told, sqlite 3.1.2');
  expect(markdown).toContain('| test/index/in/1.test:7 | wrong | expected \\<1\\>, got \\<2\\> |');
  expect(htmlReport([result])).toContain('expected &#60;1&#62;');
});

test('what is no result is refused with a reason', () => {
  const cut = (fields: object): string => JSON.stringify({ ...first, ...fields });
  expect(readResult('{')).toBe('is not JSON');
  expect(readResult(cut({ categories: undefined }))).toBe('has result format 1; this program reads 2 to 4');
  expect(readResult(cut({ suite: 'commit' }))).toBe('has result format 1; this program reads 2 to 4');
});
