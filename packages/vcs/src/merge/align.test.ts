import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { align } from './align.ts';
import { anchorPlaces, anchorsOf } from './anchors.ts';
import { settleGroups } from './settle.ts';
import { shortestEdit } from './shortest-edit.ts';

const lines = (text: string): Int32Array => Int32Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
const changes = (base: string, side: string): number[][] =>
  align(lines(base), lines(side), 128).map((change) => [
    change.baseStart,
    change.baseCount,
    change.sideStart,
    change.sideCount,
  ]);

/** Length of the longest common subsequence, by the textbook table. */
function commonLength(one: Int32Array, other: Int32Array): number {
  let row = Array.from({ length: other.length + 1 }, () => 0);
  for (const line of one) {
    const next = [0];
    other.forEach((otherLine, index) => {
      const longer = Math.max(next[index] ?? 0, row[index + 1] ?? 0);
      next.push(line === otherLine ? (row[index] ?? 0) + 1 : longer);
    });
    row = next;
  }
  return row.at(-1) ?? 0;
}

const sequence = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 24 }).map((all) => Int32Array.from(all));
const keptOf = (all: Int32Array, marks: Uint8Array): Int32Array => all.filter((_, index) => marks[index] === 0);

const unrelated = (seed: number): Int32Array =>
  Int32Array.from({ length: 60_000 }, (_, index) => Math.imul(index + seed, 2_654_435_761) >>> 20);

describe('shortestEdit', () => {
  it('keeps a longest common subsequence', () => {
    fc.assert(
      fc.property(sequence, sequence, (a, b) => {
        const marks = shortestEdit(a, b, 4096);
        expect(keptOf(a, marks.a)).toEqual(keptOf(b, marks.b));
        expect(keptOf(a, marks.a)).toHaveLength(commonLength(a, b));
      }),
      { numRuns: 1000 },
    );
  });

  it('takes a good edit where the shortest would take minutes', () => {
    const [a, b] = [unrelated(1), unrelated(77_777)];
    const marks = shortestEdit(a, b, 4096);
    // A search to the end takes thousands of millions.
    expect(marks.steps).toBeLessThan(200_000_000);
    expect(keptOf(a, marks.a)).toEqual(keptOf(b, marks.b));
  });
});

describe('settleGroups', () => {
  it('slides a group down as far as it goes, joining those that it meets', () => {
    const marks = Uint8Array.from([1, 0, 0, 1, 0]);
    settleGroups(lines('aaabc'), marks, new Uint8Array(3));
    expect([...marks]).toEqual([0, 0, 1, 1, 0]);
  });

  it('stops where the other file changed too', () => {
    const marks = Uint8Array.from([0, 0, 1, 0]);
    settleGroups(lines('aaaa'), marks, Uint8Array.from([0, 1, 0, 0]));
    expect([...marks]).toEqual([0, 1, 0, 0]);
  });
});

describe('anchorsOf', () => {
  it('cuts at the longest run of unique lines that keeps its order', () => {
    const [base, side] = [lines('xaybzczd'), lines('daxbycz')];
    const whole = { baseStart: 0, baseEnd: base.length, sideStart: 0, sideEnd: side.length };
    // a, b and c keep their order; so would a, y, c; z repeats and d moved.
    expect(anchorsOf(base, side, whole, anchorPlaces(128)).map((gap) => Object.values(gap))).toEqual([
      [0, 1, 0, 1],
      [2, 3, 2, 3],
      [4, 5, 4, 5],
      [6, 8, 6, 7],
    ]);
  });
});

/** The side, made from the base and what changed. */
function rebuilt(base: Int32Array, side: Int32Array): Int32Array {
  const all: number[] = [];
  let at = 0;
  for (const change of align(base, side, 5001)) {
    all.push(...base.subarray(at, change.baseStart));
    all.push(...side.subarray(change.sideStart, change.sideStart + change.sideCount));
    at = change.baseStart + change.baseCount;
  }
  return Int32Array.from([...all, ...base.subarray(at)]);
}

describe('align', () => {
  it('names what a side changed, in order', () => {
    expect(changes('abcdef', 'abXdeYf')).toEqual([
      [2, 1, 2, 1],
      [5, 0, 5, 1],
    ]);
    expect(changes('', 'ab')).toEqual([[0, 0, 0, 2]]);
    expect(changes('ab', '')).toEqual([[0, 2, 0, 0]]);
    expect(changes('ab', 'ab')).toEqual([]);
  });

  it('settles the groups of both files', () => {
    expect(changes('aa', 'a')).toEqual([[1, 1, 1, 0]]);
    expect(changes('a', 'aa')).toEqual([[1, 0, 1, 1]]);
    // The deletion of one of two a is put to the b that came before it.
    expect(changes('aab', 'bab')).toEqual([[0, 1, 0, 1]]);
    expect(changes('aab', 'abb')).toEqual([[1, 1, 1, 1]]);
  });

  it('gives changes that turn the base into the side, also through anchors', () => {
    const wide = fc
      .array(fc.integer({ min: 0, max: 5000 }), { minLength: 4500, maxLength: 5000 })
      .map((all) => Int32Array.from(all));
    fc.assert(
      fc.property(sequence, sequence, (base, side) => {
        expect(rebuilt(base, side)).toEqual(side);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(wide, wide, (base, side) => {
        expect(rebuilt(base, side)).toEqual(side);
      }),
      { numRuns: 10 },
    );
  });
});
