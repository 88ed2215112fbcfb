import { expect, test } from 'vitest';

import { makeResult } from './make-result.ts';
import { formatVersion, parseResultFile, sampleOf, type Sample } from './result-file.ts';

test('a result holds the values of its rounds, its seeds, and what ran where and when', async () => {
  const samples = [
    sampleOf('mound', { workload: 'w1', seed: 7 }, 'commitsPerSecond', [3, 1, 2]),
    sampleOf('mound', { workload: 'w1', seed: 2 }, 'commitsPerSecond', [4]),
    sampleOf('mound', { workload: 'w1', seed: 7 }, 'latencyMsP50', [5]),
  ];
  const result = await makeResult({ suite: 'x', samples, notes: [], versions: { other: '1.2' } });
  expect(parseResultFile(JSON.stringify(result))).toEqual(result);
  expect(result).toMatchObject({ formatVersion, seeds: [2, 7], machine: { node: process.versions.node } });
  expect(result.samples[0]).toMatchObject({ median: 2, min: 1, max: 3, n: 3, values: [3, 1, 2] });
  expect(result.versions).toEqual({ mound: expect.stringMatching(/^\d+\.\d+\.\d+( \([0-9a-f]+(-dirty)?\))?$/), other: '1.2' }); // prettier-ignore
  expect(Math.abs(Date.parse(result.measuredAt ?? '') - Date.now())).toBeLessThan(60_000);
});

test('seeds that no workload names are given', async () => {
  expect(await makeResult({ suite: 'x', samples: [], notes: [], seeds: [1, 2] })).toMatchObject({ seeds: [1, 2] });
});

test.each<[string, Partial<Sample>, string]>([
  ['values that are no numbers', { values: ['1'] as never }, 'holds a sample without its fields'],
  ['no values', { values: [], n: 0 }, 'holds a sample without its fields'],
  ['fields that are not flat', { workload: { a: { b: 1 } } as never }, 'holds a sample without its fields'],
  ['another unit', { unit: 'ms' }, 'holds score in ms, which is told in share'],
  ['another median', { median: 0.5 }, 'holds score of a, whose median or range is not that of its values'],
  ['another range', { max: 2 }, 'holds score of a, whose median or range is not that of its values'],
  ['more rounds', { n: 4 }, 'holds score of a, whose median or range is not that of its values'],
])('%s are refused: what is told is what was measured', async (_, changes, reason) => {
  const result = await makeResult({ suite: 'x', samples: [sampleOf('a', {}, 'score', [1, 1 / 3, 0.7])], notes: [] });
  expect(parseResultFile(JSON.stringify(result))).toEqual(result);
  const changed = { ...result, samples: result.samples.map((sample) => ({ ...sample, ...changes })) };
  expect(parseResultFile(JSON.stringify(changed))).toBe(reason);
});

test('before values were kept, a sample had none', async () => {
  const result = await makeResult({ suite: 'x', samples: [sampleOf('a', {}, 'score', [1])], notes: [] });
  const { values: _, ...old } = result.samples[0] ?? sampleOf('a', {}, 'score', [1]);
  const without = { ...result, samples: [old] };
  expect(parseResultFile(JSON.stringify({ ...without, formatVersion: 3 }))).toMatchObject({ formatVersion: 3 });
  expect(parseResultFile(JSON.stringify(without))).toBe('holds a sample without its fields');
});

test.each([{ notes: [{}] }, { machine: { cpu: {} } }, { notes: undefined }, { machine: undefined }])(
  '%j makes no result',
  async (changes) => {
    const result = await makeResult({ suite: 'x', samples: [], notes: [] });
    expect(parseResultFile(JSON.stringify({ ...result, ...changes }))).toBe('is not a result file');
  },
);
