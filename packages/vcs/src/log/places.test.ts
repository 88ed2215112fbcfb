import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nowhere, type Link, type Place } from '../format/entry.ts';
import { linkAfter, placeAsOf } from './places.ts';

/** A chain of versions at the given seqs, and how many links a search reads. */
function chainOf(seqs: readonly number[]): { head: Place; read: (place: Place) => Link; steps: () => number } {
  const links = new Map<number, Link>();
  let steps = 0;
  const read = (place: Place): Link => {
    steps++;
    const link = links.get(place.seq);
    if (link === undefined) throw new Error(`no version at ${place.seq}`);
    return link;
  };
  let head: Place = nowhere;
  for (const seq of seqs) {
    links.set(seq, linkAfter(head, read));
    head = { seq, index: 0 };
  }
  steps = 0;
  return { head, read, steps: () => steps };
}

test('the newest version at or before any seq is found', () => {
  const ascending = fc
    .uniqueArray(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 300 })
    .map((seqs) => seqs.toSorted((a, b) => a - b));
  fc.assert(
    fc.property(ascending, fc.integer({ min: 0, max: 2100 }), (seqs, at) => {
      const { head, read } = chainOf(seqs);
      expect(placeAsOf(head, at, read).seq).toBe(seqs.findLast((seq) => seq <= at) ?? 0);
    }),
  );
});

test('a search reads a logarithmic number of links', () => {
  const { head, read, steps } = chainOf(Array.from({ length: 100_000 }, (_, i) => i + 1));
  for (const at of [0, 1, 77, 50_000, 99_999]) {
    const before = steps();
    expect(placeAsOf(head, at, read).seq).toBe(at);
    expect(steps() - before).toBeLessThan(60);
  }
});
