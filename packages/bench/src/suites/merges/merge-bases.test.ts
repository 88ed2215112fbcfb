import { expect, test } from 'vitest';

import { graphOf, mergeBases } from './merge-bases.ts';

/** `child parent…` a row, children first. */
const bases = (rows: readonly string[], one: string, other: string): string[] => {
  const graph = graphOf(rows.map((row) => row.replace(' ', ' t ')).join('\n'));
  const place = (id: string): number => graph.findIndex((commit) => commit.id === id);
  return mergeBases(graph, place(one), place(other)).map((found) => graph[found]?.id ?? '');
};

test('the best common ancestors, and only those', () => {
  const fork = ['m c i', 'c b', 'i b', 'b a', 'a '];
  expect(bases(fork, 'c', 'i')).toEqual(['b']);
  expect(bases(fork, 'c', 'b')).toEqual(['b']);
  expect(bases(fork, 'c', 'c')).toEqual(['c']);
});

test('a criss-cross has two', () => {
  expect(bases(['x p q', 'y q p', 'p a', 'q a', 'a '], 'x', 'y').toSorted()).toEqual(['p', 'q']);
});

test('roots of their own have none', () => {
  expect(bases(['x ', 'y '], 'x', 'y')).toEqual([]);
});

test('an older common ancestor that a longer way leads to is none', () => {
  // From c one way leads past b to a, the other straight to a.
  expect(bases(['c d a', 'i b', 'd b', 'b a', 'a '], 'c', 'i')).toEqual(['b']);
});
