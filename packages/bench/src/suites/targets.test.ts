import { expect, test } from 'vitest';

import { sampleOf } from '../harness/result-file.ts';
import { commitTargets, targetNotes } from './targets.ts';

const w1 = { workload: 'w1', files: 10_000, filesPerCommit: 1, processes: 1, inFlight: 1000 };

test('each target of which there is a figure is told of, reached or not, by the median', () => {
  const samples = [
    sampleOf('mound', w1, 'ratioToFloor', [0.6, 0.5, 0.7]),
    sampleOf('floor', w1, 'ratioToFloor', [9]),
    sampleOf('mound', { ...w1, peer: 'sqlite-wal' }, 'ratioToPeer', [2.49]),
    sampleOf('mound', { ...w1, inFlight: 100 }, 'latencyMsP99', [25]),
    sampleOf('mound', { ...w1, inFlight: 7 }, 'ratioToFloor', [0.1]),
  ];
  expect(targetNotes(commitTargets, samples, 'mound')).toEqual([
    'target reached: W1 at 1,000 in flight, of the floor program >= 0.55: 0.6, 0.5 to 0.7 (10,000 files)',
    'target NOT reached: W1 at 1,000 in flight, times as fast as sqlite-wal >= 2.5: 2.49 (10,000 files)',
    'target NOT reached: W1 at 100 in flight, p99 in ms < 25: 25 (10,000 files)',
  ]);
});

test('starving is judged only after enough commits', () => {
  const four = { ...w1, processes: 4, inFlight: 250 };
  const judged = (least: number, most: number): string[] =>
    targetNotes(
      commitTargets,
      [sampleOf('mound', four, 'commitsPerAgentMin', [least]), sampleOf('mound', four, 'commitsPerAgentMax', [most])],
      'mound',
    );
  expect(judged(0, 2)[0]).toMatch(/^target not judged/);
  expect(judged(0, 9)[0]).toMatch(/^target NOT reached/);
  expect(judged(3, 9)[0]).toMatch(/^target reached/);
});
