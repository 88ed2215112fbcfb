import { expect, test } from 'vitest';

import { noProgress } from '../suite.ts';
import { runMegafileSuite } from './megafile.ts';

test('stale retries fall after a split, and do not where the split puts everything in one module', async () => {
  const outcome = await runMegafileSuite(
    { agents: 6, lines: 200, modules: 100, edits: 60, seed: 1, rounds: 1 },
    { dir: undefined, signal: new AbortController().signal, progress: noProgress },
  );
  if (outcome.kind !== 'result') throw new Error('no result file');
  const of = (arm: string, metric: string): number =>
    outcome.result.samples.find((found) => found.metric === metric && found.workload['arm'] === arm)?.median ?? NaN;
  expect(of('split', 'staleRetriesFall')).toBeGreaterThan(2);
  expect(of('control', 'staleRetriesFall')).toBeLessThan(2);
  expect(outcome.result.samples.filter(({ metric }) => metric === 'lostUpdates').map(({ median }) => median)).toEqual([
    0, 0, 0, 0,
  ]);
});
