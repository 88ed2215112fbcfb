import { expect, test } from 'vitest';
import { HeadCell } from './heads.ts';
import type { LogReader } from './log-reader.ts';
import { firstLink, Version } from './version.ts';

const versionAt = (seq: number): Version =>
  new Version({ seq, index: 0 }, undefined, firstLink, { chain: 0, size: 100 });

/** Of a reader only what a cell asks of it. */
function readerOf(versions: readonly Version[]): { reader: LogReader; letGo: number[] } {
  const letGo: number[] = [];
  const reader = {
    superseded: ({ place }: Version) => letGo.push(place.seq),
    version: ({ seq }: { seq: number }) => versions.find((version) => version.place.seq === seq),
  } as unknown as LogReader;
  return { reader, letGo };
}

test('of many versions of a path in one transaction all but the newest are let go', () => {
  const [first, second, third, fourth] = [1, 2, 3, 4].map(versionAt) as [Version, Version, Version, Version];
  const { reader, letGo } = readerOf([]);
  const cell = new HeadCell(reader, 0, 7, first);
  for (const version of [second, third, fourth]) cell.stage(version);
  expect(letGo).toEqual([2, 3]);
  cell.settle();
  expect(letGo).toEqual([2, 3, 1]);
  expect(cell.version).toBe(fourth);
  expect([first, second, third, fourth].map(({ headOf }) => headOf)).toEqual([0, 0, 0, 1]);
});

test('what another process landed takes the place of what was known', () => {
  const [first, second] = [versionAt(1), versionAt(5)];
  const { reader, letGo } = readerOf([second]);
  const cell = new HeadCell(reader, 0, 7, first);
  cell.supersedeBy(second.place);
  expect(cell.version).toBe(second);
  expect([letGo, first.headOf, second.headOf]).toEqual([[1], 0, 1]);
});

test('a version that is the head of two branches is let go with the second', () => {
  const shared = versionAt(1);
  const { reader, letGo } = readerOf([]);
  const [main, fork] = [new HeadCell(reader, 0, 7, shared), new HeadCell(reader, 1, 7, shared)];
  main.stage(versionAt(2));
  main.settle();
  expect(letGo).toEqual([]);
  fork.drop();
  expect([letGo, fork.isCurrent]).toEqual([[1], false]);
});
