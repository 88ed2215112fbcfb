import { describe, expect, test } from 'vitest';

import { HotEdits, markOf } from './hot-edits.ts';
import { holdsEdit, Lineage } from './lineage.ts';

const parameters = { files: 200, agents: 16, seed: 5 };
const load = new HotEdits(parameters);

describe('HotEdits', () => {
  test('follows from its seed; rounds differ', () => {
    const same = new HotEdits(parameters);
    expect(same.files).toEqual(load.files);
    expect(same.round(1, 50)).toEqual(load.round(1, 50));
    expect(load.round(2, 50).map(({ path }) => path)).not.toEqual(load.round(1, 50).map(({ path }) => path));
    expect(new HotEdits({ ...parameters, seed: 6 }).files).not.toEqual(load.files);
  });

  test('a few files are hot, and so are a few lines', () => {
    const edits = load.round(0, 20_000);
    const counts = new Map<string, number>();
    for (const { path } of edits) counts.set(path, (counts.get(path) ?? 0) + 1);
    const sorted = [...counts.values()].toSorted((left, right) => right - left);
    expect(counts.size).toBe(200);
    const topTen = sorted.slice(0, 10).reduce((sum, count) => sum + count, 0);
    expect(topTen / edits.length).toBeCloseTo(0.43, 1);
    const early = edits.filter(({ line }) => line < 5).length;
    expect(early / edits.length).toBeGreaterThan(0.2);
    expect(early / edits.length).toBeLessThan(0.4);
  });

  test('every line of every edit has a mark of its own, and lies in its file', () => {
    const edits = [-1, 0, 1].flatMap((round) => load.round(round, 500));
    const marks = edits.flatMap(({ texts }) => texts.map(markOf));
    expect(marks).not.toContain(undefined);
    expect(new Set(marks).size).toBe(marks.length);
    for (const { line, texts } of edits) expect(line + texts.length).toBeLessThanOrEqual(load.linesPerFile);
    for (const content of load.files.values()) {
      expect(
        content
          .toString('utf8')
          .split('\n')
          .flatMap((line) => markOf(line) ?? []),
      ).toEqual([]);
    }
  });
});

describe('Lineage', () => {
  const path = [...load.files.keys()][0] ?? '';
  const initial = load.files.get(path) ?? Buffer.of();
  const edit = (name: number, line: number, ...numbers: number[]) => ({
    id: `e9-9-${name}`,
    agent: 0,
    round: 0,
    path,
    line,
    texts: numbers.map((number, at) => `  trace('e9-9-${name}.${at}', ${number});`),
  });
  const [first, second, third] = [edit(1, 10, 1, 2), edit(2, 11, 3), edit(3, 10, 4)];

  test('a line that was replaced by one who had seen it is accounted for', () => {
    const lineage = new Lineage();
    const afterFirst = lineage.rewrite(first, initial);
    const afterSecond = lineage.rewrite(second, afterFirst);
    const afterThird = lineage.rewrite(third, afterSecond);
    expect(holdsEdit(afterFirst, first)).toBe(true);
    expect(holdsEdit(afterSecond, first)).toBe(false);
    const read = lineage.read(afterThird);
    expect([first, second, third].map((one) => read.accountsFor(one))).toEqual([true, true, true]);
    expect([first, second, third].map((one) => read.shows(one))).toEqual([false, true, true]);
  });

  test('a line that was overwritten unseen is not', () => {
    const lineage = new Lineage();
    const afterFirst = lineage.rewrite(first, initial);
    const unseen = lineage.rewrite(second, initial);
    expect(lineage.read(afterFirst).accountsFor(second)).toBe(false);
    expect(lineage.read(unseen).accountsFor(first)).toBe(false);
    expect(lineage.read(unseen).accountsFor(second)).toBe(true);
  });

  test('a line that is there twice is named', () => {
    const lineage = new Lineage();
    const content = lineage.rewrite(second, initial);
    const doubled = Buffer.concat([content, Buffer.from(`${second.texts[0] ?? ''}\n`)]);
    expect(lineage.read(content).doubled).toEqual([]);
    expect(lineage.read(doubled).doubled).toEqual(['e9-9-2.0']);
  });
});
