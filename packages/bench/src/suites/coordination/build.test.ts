import { expect, test } from 'vitest';

import {
  corePath,
  following,
  parametersOf,
  settingsPath,
  settingsText,
  withParameters,
} from '../../workloads/intended-text.ts';
import { IntendedWork } from '../../workloads/intended-work.ts';
import { Build } from './build.ts';

test('a tree builds or it does not, and the compiler says why', async () => {
  const build = await Build.load();
  if (build === undefined) throw new Error('the compiler is a development dependency');
  const files = new IntendedWork({ files: 20, subtrees: 2, tasksPerSubtree: 4, seed: 1 }).initialFiles();
  expect(build.faults(files)).toEqual([]);
  const before = files.get(corePath) ?? '';
  const core = withParameters(before, [...parametersOf(before), 'second']);
  const broken = new Map(files).set(corePath, core);
  expect(build.faults(broken).length).toBeGreaterThan(20);
  expect(build.faults(broken)[0]).toMatch(/src\/part\d\/file\d+\.ts: Expected 2 arguments, but got 1/);
  const followed = new Map([...broken].map(([path, text]) => [path, path === corePath ? text : following(text, 2)]));
  expect(build.faults(followed)).toEqual([]);
  const styled = new Map(followed)
    .set(settingsPath, settingsText('short'))
    .set('src/a.ts', "import { style } from './settings.ts';\nexport const mine: 'long' = style;\n");
  expect(build.faults(styled)).toEqual([expect.stringMatching(/^src\/a\.ts: Type '"short"' is not assignable/)]);
});
