import { readdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { parseResultFile, sampleOf } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { noProgress } from '../suite.ts';
import { judge, runSwarmSuite } from './swarm.ts';

test('a tiny run: figures for whole and empty steps, nothing lost, nothing left behind', async () => {
  await withTempDir(undefined, async (dir) => {
    const outcome = await runSwarmSuite(
      { agents: 4, processes: 2, steps: 3, rounds: 1, controlMs: 2 },
      { dir, signal: new AbortController().signal, progress: noProgress },
    );
    if (outcome.kind !== 'result') throw new Error('no result file');
    const { samples, notes } = outcome.result;
    expect(parseResultFile(JSON.stringify(outcome.result))).toMatchObject({ suite: 'swarm' });
    const names = samples.filter(({ metric }) => metric === 'stepOverheadMs');
    expect(
      names.map(({ subject, workload }) => [subject, workload['step'], workload['agents'], workload['processes']]),
    ).toEqual([
      ['mound', 'whole', 4, 2],
      ['mound', 'empty', 4, 2],
      ['mound-slow', 'whole', 4, 2],
      ['mound', 'tools', 4, 2],
    ]);
    expect(samples.filter(({ metric }) => metric === 'lostUpdates').map(({ max }) => max)).toEqual([0, 0, 0]);
    expect(samples.find(({ metric }) => metric === 'latencyMsP50')?.median).toBeGreaterThan(0);
    expect(notes).toContain('read back: every step stands');
    expect(readdirSync(dir)).toEqual([]);
  });
});

test('a lost step and a control that does not show fail the run', () => {
  const whole = { step: 'whole' };
  const at = (subject: string, ms: number): ReturnType<typeof sampleOf> =>
    sampleOf(subject, whole, 'stepOverheadMs', [ms]);
  const lost = (steps: number): ReturnType<typeof sampleOf> => sampleOf('mound', whole, 'lostUpdates', [steps]);
  expect(judge([at('mound', 0.5), at('mound-slow', 2.4), lost(0)], 2).isRight).toBe(true);
  expect(judge([at('mound', 0.5), at('mound-slow', 0.9), lost(0)], 2).isRight).toBe(false);
  expect(judge([at('mound', 0.5), at('mound-slow', 2.4), lost(3)], 2).isRight).toBe(false);
  expect(judge([at('mound', 0.5), lost(0)], 2).isRight).toBe(false);
  const small = judge([at('mound', 0.5), at('mound-slow', 2.4), lost(0)], 6);
  expect(small.isRight).toBe(false);
  expect(small.notes).toContain('control: 6 ms more a step DO NOT SHOW (1.90 ms); trust nothing here');
});
