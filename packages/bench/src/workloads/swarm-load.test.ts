import { describe, expect, test } from 'vitest';

import { flipped, isSetting, markOfLine, rewritten, SwarmLoad } from './swarm-load.ts';

const load = new SwarmLoad({ files: 896, agents: 100, megafileLines: 5000, seed: 3 });
const steps = Array.from({ length: 20_000 }, (_, at) => load.step(at % 100, Math.floor(at / 100)));
const edits = steps.filter((step) => step.kind === 'edit');

const files = load.initialFiles();
const rankOf = new Map(load.paths.map((path, rank) => [path, rank]));
const touched = edits.flatMap((step) => step.edits.map(({ path }) => rankOf.get(path) ?? Number.NaN));
const share = (rank: number): number => touched.filter((one) => one < rank).length / touched.length;

describe('the shape of a real swarm’s load, as it was published', () => {
  test('hot files: the 10 hottest take 23.6 % of the touches, the 50 hottest 57.5 %', () => {
    expect(share(10)).toBeGreaterThan(0.2);
    expect(share(10)).toBeLessThan(0.26);
    expect(share(50)).toBeGreaterThan(0.53);
    expect(share(50)).toBeLessThan(0.6);
  });

  test('files a commit: median 1, p90 4, p99 15, at most 200', () => {
    const counts = edits.map((step) => step.edits.length).toSorted((a, b) => a - b);
    const at = (part: number): number => counts[Math.floor(part * counts.length)] ?? 0;
    expect(at(0.5)).toBe(1);
    expect(at(0.9)).toBeGreaterThanOrEqual(3);
    expect(at(0.9)).toBeLessThanOrEqual(5);
    expect(at(0.99)).toBeGreaterThanOrEqual(13);
    expect(at(0.99)).toBeLessThanOrEqual(20);
    expect(counts.at(-1)).toBeLessThanOrEqual(200);
    expect(counts.at(-1)).toBeGreaterThan(50);
  });

  test('41 % of the commits touch one of the 10 hottest files', () => {
    const hot = edits.filter((step) => step.edits.some(({ path }) => (rankOf.get(path) ?? 99) < 10)).length;
    expect(hot / steps.length).toBeGreaterThan(0.35);
    expect(hot / steps.length).toBeLessThan(0.47);
  });

  test('2.1 % of the updates set a file back to an earlier content', () => {
    const flips = steps.length - edits.length;
    expect(flips / (touched.length + flips)).toBeGreaterThan(0.015);
    expect(flips / (touched.length + flips)).toBeLessThan(0.027);
  });

  test('now and then several agents make the same edit in the same step, and nobody else', () => {
    const owners = new Map<number, Set<number>>();
    for (const [at, step] of steps.entries()) {
      if (step.kind !== 'edit') continue;
      const [mark = -1] = step.edits[0]?.marks ?? [];
      owners.set(mark, (owners.get(mark) ?? new Set()).add(at % 100));
      if (step.isPileOn) expect(step.edits.length).toBe(1);
    }
    const sizes = [...owners.values()].map(({ size }) => size).filter((size) => size > 1);
    expect(sizes.length).toBeGreaterThan(1);
    expect(new Set(sizes)).toEqual(new Set([5]));
  });
});

test('it follows from the seed, and another seed gives another', () => {
  const { parameters } = load;
  expect(new SwarmLoad(parameters).step(17, 4)).toEqual(load.step(17, 4));
  const other = new SwarmLoad({ ...parameters, seed: 4 });
  const same = Array.from({ length: 50 }, (_, at) => at).filter(
    (at) => JSON.stringify(other.step(at, 0)) === JSON.stringify(load.step(at, 0)),
  );
  expect(same.length).toBeLessThan(10);
});

test('an edit replaces its lines and tells whose they were; every line of the initial files can be edited', () => {
  for (const step of edits.slice(0, 300)) {
    for (const edit of step.edits) {
      const seen = files.get(edit.path) ?? Buffer.of();
      const { content, replaced } = rewritten(edit, seen);
      expect(replaced).toEqual(edit.texts.map(() => undefined));
      const lines = content.toString('utf8').split('\n');
      expect(lines.length).toBe(seen.toString('utf8').split('\n').length);
      expect(lines.slice(edit.line, edit.line + edit.texts.length).map(markOfLine)).toEqual(edit.marks);
      expect(rewritten(edit, content).replaced).toEqual(edit.marks);
      expect(rewritten(edit, content).content.equals(content)).toBe(true);
    }
  }
});

test('a setting goes back and forth between two contents', () => {
  for (const path of load.settings) {
    const content = files.get(path) ?? Buffer.of();
    expect(isSetting(content)).toBe(true);
    expect(isSetting(flipped(content))).toBe(true);
    expect(flipped(content).equals(content)).toBe(false);
    expect(flipped(flipped(content)).equals(content)).toBe(true);
    expect(isSetting(Buffer.concat([content, content]))).toBe(false);
  }
});
