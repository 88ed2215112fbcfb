import { expect, test } from 'vitest';

import { IntendedWork } from '../../workloads/intended-work.ts';
import { Build } from './build.ts';
import { controlFaults } from './control.ts';

const work = new IntendedWork({ files: 30, subtrees: 2, tasksPerSubtree: 4, skew: 1, seed: 1 });

test('an edit that is taken out shows, and a tree with a fault', async () => {
  const build = await Build.load();
  expect(build).toBeDefined();
  expect(controlFaults(work, build)).toEqual([]);
  const blind = Object.assign(Object.create(Build.prototype) as Build, { faults: () => [] });
  expect(controlFaults(work, blind)).toEqual(['a tree with a fault builds']);
});
