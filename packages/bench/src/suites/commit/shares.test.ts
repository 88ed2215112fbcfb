import type { Profiler } from 'node:inspector';

import { expect, test } from 'vitest';

import { profileCpu } from '../../harness/cpu-profile.ts';
import { sharesOf } from './shares.ts';

const frame = (functionName: string, url = ''): Profiler.ProfileNode['callFrame'] => ({
  functionName,
  url,
  scriptId: '1',
  lineNumber: 0,
  columnNumber: 0,
});

const vcs = 'file:///x/packages/vcs/dist';
const nodes: Profiler.ProfileNode[] = [
  { id: 1, callFrame: frame('(root)'), children: [2, 3, 4, 5, 10] },
  { id: 2, callFrame: frame('(idle)') },
  { id: 3, callFrame: frame('(garbage collector)') },
  { id: 4, callFrame: frame('toString', 'node:internal/x'), children: [] },
  { id: 5, callFrame: frame('prepare', `${vcs}/land/prepare.js`), children: [6, 8] },
  { id: 6, callFrame: frame('encodeDelta', `${vcs}/format/delta.js`), children: [7] },
  { id: 7, callFrame: frame('copy', 'node:buffer') },
  { id: 8, callFrame: frame('put', 'file:///x/node_modules/lmdb/write.js'), children: [9] },
  { id: 9, callFrame: frame('') },
  { id: 10, callFrame: frame('dispatch') },
];
const profileOf = (samples: number[]): Profiler.Profile => ({
  nodes,
  startTime: 0,
  endTime: 1,
  samples,
  timeDeltas: samples.map(() => 1000),
});

const told = (shares: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries(
    [...shares].filter(([, share]) => share > 0).map(([phase, share]) => [phase, Number(share.toFixed(3))]),
  );

test('a sample counts for the code it was in, or for who called it; the profiler itself does not count', () => {
  const profile = profileOf([2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 10]);
  expect(told(sharesOf({ profile, wallMs: 10, thread: undefined }))).toEqual({
    waiting: 0.1,
    gc: 0.1,
    runtime: 0.1,
    landing: 0.1,
    encoding: 0.2,
    lmdb: 0.4,
  });
});

test('the kernel tells the flush from the work in LMDB, and what other programs took', () => {
  const profile = profileOf([5, 5, 9, 9, 9, 9, 9, 9, 9, 9]);
  const share = (onCpuMs: number, runnableMs: number) =>
    told(sharesOf({ profile, wallMs: 10, thread: { onCpuMs, runnableMs } }));
  expect(share(10, 0)).toEqual({ landing: 0.2, lmdb: 0.8 });
  expect(share(4, 0)).toEqual({ landing: 0.2, lmdb: 0.2, flush: 0.6 });
  expect(share(3, 5)).toEqual({ landing: 0.2, lmdb: 0.1, flush: 0.2, ready: 0.5 });
  expect(share(1, 9)).toEqual({ landing: 0.1, ready: 0.9 });
});

test('a real run is profiled', async () => {
  const found = await profileCpu(async () => {
    const until = performance.now() + 60;
    while (performance.now() < until);
    await Promise.resolve();
  });
  expect(found.wallMs).toBeGreaterThanOrEqual(60);
  const sum = [...sharesOf(found).values()].reduce((total, share) => total + share, 0);
  expect(sum).toBeCloseTo(1, 6);
});
