import { expect, test } from 'vitest';

import { makeResult } from './make-result.ts';
import { formatVersion, parseResultFile, sampleOf } from './result-file.ts';

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

test('values that are no numbers make no sample', async () => {
  const result = await makeResult({ suite: 'x', samples: [sampleOf('a', {}, 'score', [1])], notes: [] });
  const changed = { ...result, samples: result.samples.map((sample) => ({ ...sample, values: ['1'] })) };
  expect(parseResultFile(JSON.stringify(changed))).toBe('holds a sample without its fields');
});
