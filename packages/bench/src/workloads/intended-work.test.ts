import { expect, test } from 'vitest';

import { following, parametersOf, tokensIn, withParameters, wrongCalls, coreText } from './intended-text.ts';
import { IntendedWork, standing, withEdit } from './intended-work.ts';

const work = new IntendedWork({ files: 200, subtrees: 4, tasksPerSubtree: 500, seed: 2 });
const ofParts = (one: IntendedWork): string[][] =>
  one.tasks.map(({ edits }) =>
    edits.flatMap(({ kind, path }) => (kind === 'entry' || kind === 'parameter' ? [] : [path])),
  );
const shareOf = (one: IntendedWork, rank: number): number => {
  const touched = ofParts(one).flat().map((path) => one.paths.indexOf(path)); // prettier-ignore
  return touched.filter((at) => at < rank).length / touched.length;
};

test('its files are touched as the published swarm’s were', () => {
  expect(shareOf(work, 10)).toBeGreaterThan(0.2);
  expect(shareOf(work, 10)).toBeLessThan(0.3);
  expect(shareOf(work, 50)).toBeGreaterThan(0.5);
  expect(shareOf(work, 50)).toBeLessThan(0.65);
  const counts = ofParts(work).map(({ length }) => length).toSorted((a, b) => a - b); // prettier-ignore
  expect(counts[Math.floor(counts.length / 2)]).toBe(1);
  expect(counts[Math.floor(counts.length * 0.9)]).toBeLessThanOrEqual(5);
});

test('how hot hot files are can be assumed otherwise', () => {
  const at = (skew: number): number => shareOf(new IntendedWork({ ...work.parameters, skew }), 10);
  expect(at(0)).toBeLessThan(0.1);
  expect(at(2)).toBeGreaterThan(0.4);
});

test('it follows from the seed; no token stands in two edits', () => {
  expect(new IntendedWork(work.parameters).tasks).toEqual(work.tasks);
  expect(new Set(work.tokens).size).toBe(work.tokens.length);
  expect(new Set(work.tasks.flatMap(({ edits }) => edits.map(({ kind }) => kind))).size).toBe(5);
  expect(work.tasks.filter(({ stalls }) => stalls).length).toBeGreaterThan(10);
});

test('every edit can be made after every other, in any order, and stands from then on', () => {
  const files = work.initialFiles();
  const edits = work.tasks.slice(0, 200).flatMap((task) => task.edits);
  for (const edit of edits.toReversed()) {
    const before = files.get(edit.path) ?? '';
    expect(standing(files).has(edit.token)).toBe(false);
    files.set(edit.path, withEdit(edit, before, 1) ?? '');
  }
  const found = standing(files);
  for (const { token } of edits) expect([token, found.has(token)]).toEqual([token, true]);
}, 20_000);

test('a change of the core function is followed in every call; what stands beside it stays', () => {
  const core = withParameters(`// why\n${coreText()}`, ['first', 'p1', 'p2']);
  expect(core).toBe(
    '// why\nexport const core = (first: number, p1: number, p2: number): number => first + p1 + p2;\n',
  );
  expect(parametersOf(core)).toEqual(['first', 'p1', 'p2']);
  expect(tokensIn(core)).toContain('p2');
  const calls = 'export const a = core(1);\nexport const b = core(1, 2, 3);\n';
  expect(wrongCalls(calls, 3)).toEqual([{ line: 1, text: 'export const a = core(1);' }]);
  expect(following(calls, 3)).toBe('export const a = core(1, 2, 3);\nexport const b = core(1, 2, 3);\n');
});
