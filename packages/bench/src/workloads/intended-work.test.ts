import { expect, test } from 'vitest';

import { corePath, extended, following, IntendedWork, parametersOf, stands, withEdit } from './intended-work.ts';

const work = new IntendedWork({ files: 200, subtrees: 4, tasksPerSubtree: 500, seed: 2 });

test('its files are touched as the published swarm’s were', () => {
  const touched = work.tasks.flatMap(({ edits }) => edits.map(({ path }) => work.paths.indexOf(path)));
  const share = (rank: number): number => touched.filter((one) => one < rank).length / touched.length;
  expect(share(10)).toBeGreaterThan(0.2);
  expect(share(10)).toBeLessThan(0.3);
  expect(share(50)).toBeGreaterThan(0.5);
  expect(share(50)).toBeLessThan(0.65);
  const counts = work.tasks.map(({ edits }) => edits.length).toSorted((a, b) => a - b);
  expect([counts[Math.floor(counts.length / 2)], counts[Math.floor(counts.length * 0.9)]]).toEqual([
    1,
    expect.any(Number),
  ]);
  expect(counts[Math.floor(counts.length * 0.9)]).toBeLessThanOrEqual(5);
});

test('it follows from the seed; no token stands in two edits', () => {
  expect(new IntendedWork(work.parameters).tasks).toEqual(work.tasks);
  expect(new Set(work.tokens).size).toBe(work.tokens.length);
});

test('every edit can be made after every other, in any order, and stands from then on', () => {
  const files = work.initialFiles();
  const edits = work.tasks.slice(0, 200).flatMap((task) => task.edits);
  for (const edit of edits.toReversed()) {
    const before = files.get(edit.path) ?? '';
    expect(stands(edit, before)).toBe(false);
    files.set(edit.path, withEdit(edit, before, 1));
  }
  for (const edit of edits) expect([edit.token, stands(edit, files.get(edit.path) ?? '')]).toEqual([edit.token, true]);
});

test('a change of the core function is followed in every call', () => {
  const core = extended(extended(work.initialFiles().get(corePath) ?? ''));
  expect(parametersOf(core)).toBe(3);
  expect(following('export const a = core(1);\nexport const b = core(1, 2);\n', 3)).toBe(
    'export const a = core(1, 2, 3);\nexport const b = core(1, 2, 3);\n',
  );
});
