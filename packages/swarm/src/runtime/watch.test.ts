import { expect, test } from 'vitest';
import { ManualTime } from '../core/manual-time.test.kit.ts';
import { defaultLimits } from './run-options.ts';
import { newRepo } from './swarm.test.kit.ts';
import { Watch } from './watch.ts';

test('when its time is used up a run ends its turns, and a minute later whatever goes on', async () => {
  const time = new ManualTime();
  const repo = await newRepo();
  const watch = new Watch({ ...defaultLimits, wallClockMs: 10_000 }, repo, time, undefined);
  const said: string[] = [];
  const cancel = watch.startClock((how) => said.push(how));
  await time.advance(9_999);
  expect(said).toEqual([]);
  await time.advance(1);
  expect(said).toEqual(['turns']);
  await time.advance(60_000);
  expect(said).toEqual(['turns', 'now']);
  cancel();
  watch.startClock((how) => said.push(how))();
  expect(time.pending).toBe(0);
});
