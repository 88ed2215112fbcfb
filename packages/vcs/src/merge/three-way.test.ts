import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../core/ports.ts';
import { sideOf } from './combine.ts';
import { mergeLines } from './three-way.ts';

type Lines = readonly string[];
type Triple = readonly [base: Lines, current: Lines, incoming: Lines];

/** The merged text; undefined for a conflict. */
function mergedText([base, current, incoming]: Triple): string | undefined {
  const sides = { current, incoming };
  const regions = mergeLines(base, current, incoming);
  if (regions.some((region) => region.kind === 'conflict')) return undefined;
  return regions
    .flatMap((region) => {
      const side = sideOf(region);
      return sides[side].slice(region[side].start, region[side].start + region[side].count);
    })
    .join('');
}

const lines = (text: string): string[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => `${word}\n`);
const merged = (base: string, current: string, incoming: string): string | undefined =>
  mergedText([lines(base), lines(current), lines(incoming)])
    ?.replaceAll('\n', ' ')
    .trim();

describe('mergeLines', () => {
  it('takes what one side changed, and once what both changed alike', () => {
    expect(merged('a b c d e', 'A b c d e', 'a b c d E')).toBe('A b c d E');
    expect(merged('a b c', 'a X c', 'a X c')).toBe('a X c');
    expect(merged('a b c', 'a c', 'a c')).toBe('a c');
    expect(merged('', 'a b', 'a b')).toBe('a b');
  });

  it('calls changes without a common line between them a conflict', () => {
    expect(merged('a b c', 'X b c', 'a Y c')).toBeUndefined();
    expect(merged('a b c', 'a b X c', 'a b Y c')).toBeUndefined();
    expect(merged('a b c', 'a c', 'a b X c')).toBeUndefined();
    expect(merged('a b c', 'X b c', 'a b Y')).toBe('X b Y');
  });

  it('does not merge `a a`, `a`, `i a`, which git and GNU diff3 do not (case 34)', () => {
    expect(merged('a a', 'a', 'i a')).toBeUndefined();
    expect(merged('a a', 'i a', 'a')).toBeUndefined();
  });

  it('puts a repeated line where git does, so that it knows what touches', () => {
    expect(merged('a a b', 'a b b', 'b a b b')).toBe('b a b b');
    expect(merged('a a b', 'b a b', 'b a b b')).toBeUndefined();
    expect(merged('b a b', 'b b a b a b b', 'b b a b')).toBeUndefined();
  });

  it('gives regions that cover the three inputs without a gap', () => {
    const regions = mergeLines(lines('a b c d e f'), lines('a X c d e f g'), lines('a Y c e f'));
    expect(regions.map(({ kind, base }) => [kind, base.start, base.count])).toEqual([
      ['stable', 0, 1],
      ['conflict', 1, 1],
      ['stable', 2, 1],
      ['incoming', 3, 1],
      ['stable', 4, 2],
      ['current', 6, 0],
    ]);
    expect(regions[1]).toEqual({
      kind: 'conflict',
      base: { start: 1, count: 1 },
      current: { start: 1, count: 1 },
      incoming: { start: 1, count: 1 },
    });
  });
});

const made = (count: number, line: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => line(i));

describe('a large merge is bounded', () => {
  const random = seededRandom(11);
  const edited = (base: Lines, times: number): string[] => {
    const copy = [...base];
    for (let time = 0; time < times; time++)
      copy.splice(random.below(copy.length), random.below(3), `v${random.below(4)}\n`);
    return copy;
  };
  const few = (count: number): string[] => made(count, () => `v${random.below(4)}\n`);
  const rewritten = (base: Lines, mark: string): string[] =>
    base.map((line, index) => (random.below(20) === 0 ? line : random.below(4) === 0 ? '}\n' : `${mark}${index}\n`));

  const base3k = few(3000);
  const base6k = few(6000);
  const base50k = made(50_000, (i) => `b${i}\n`);
  const inputs: [name: string, triple: Triple, isConflict: boolean | undefined][] = [
    [
      '20,000 lines, all different',
      [made(20_000, (i) => `b${i}\n`), made(20_000, (i) => `c${i}\n`), made(20_000, (i) => `i${i}\n`)],
      true,
    ],
    ['3,000 lines of 4 kinds, edited (case 35)', [base3k, edited(base3k, 40), edited(base3k, 40)], undefined],
    ['6,000 lines of 4 kinds, edited (case 35)', [base6k, edited(base6k, 40), edited(base6k, 40)], undefined],
    ['6,000 lines of 4 kinds, unrelated', [few(6000), few(6000), few(6000)], true],
    ['50,000 lines, nearly rewritten (case 36)', [base50k, rewritten(base50k, 'c'), rewritten(base50k, 'i')], true],
    [
      '50,000 lines, turned over',
      [base50k, base50k.toReversed(), base50k.map((_, i) => `b${(i * 7919) % 50_000}\n`)],
      true,
    ],
  ];

  it.each(inputs)('%s: in a bounded time, all lines accounted for', (_name, [base, current, incoming], isConflict) => {
    const start = performance.now();
    const regions = mergeLines(base, current, incoming);
    const hasConflict = regions.some((region) => region.kind === 'conflict');
    // 20 to 450 ms on a quiet machine; a merge without bounds takes 20 to 60 seconds there.
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(isConflict ?? hasConflict).toBe(hasConflict);
    for (const [side, all] of [
      ['base', base],
      ['current', current],
      ['incoming', incoming],
    ] as const) {
      let end = 0;
      for (const region of regions) {
        expect(region[side].start).toBe(end);
        end += region[side].count;
      }
      expect(end).toBe(all.length);
    }
  });
});

const hasGit = spawnSync('git', ['--version']).status === 0;

describe.skipIf(!hasGit)('against git merge-file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mound-merge-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The merged text of git; undefined for a conflict. */
  function gitText(triple: Triple): string | undefined {
    const names = ['base', 'current', 'incoming'];
    names.forEach((name, index) => writeFileSync(join(folder, name), (triple[index] as Lines).join('')));
    const run = spawnSync('git', ['merge-file', '-p', 'current', 'base', 'incoming'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return run.status === 0 ? run.stdout : undefined;
  }

  it('never merges what git does not, and gives its bytes, on 150 generated merges', () => {
    const random = seededRandom(34);
    const verdicts = { clean: 0, conflict: 0 };
    let doubted = 0;
    for (let round = 0; round < 150; round++) {
      const triple = tripleOf(random, round);
      const expected = gitText(triple);
      verdicts[expected === undefined ? 'conflict' : 'clean']++;
      const actual = mergedText(triple);
      // The one known difference: a place that git guesses, see `second-opinion.ts`.
      const isDoubted = actual === undefined && expected !== undefined;
      if (isDoubted) doubted++;
      expect({ triple, text: isDoubted ? expected : actual }).toEqual({ triple, text: expected });
    }
    expect(doubted).toBeLessThanOrEqual(2);
    expect(verdicts.clean).toBeGreaterThan(30);
    expect(verdicts.conflict).toBeGreaterThan(30);
  });
});

/** Repetitive, empty, CRLF and unended texts, and ordinary ones. */
function tripleOf(random: ReturnType<typeof seededRandom>, round: number): Triple {
  const below = (bound: number): number => random.below(bound);
  const kinds = 2 + (round % 4) * 2;
  const isCrlf = round % 5 === 1;
  const line = (): string => `${String.fromCodePoint(97 + below(kinds))}${isCrlf && below(8) > 0 ? '\r\n' : '\n'}`;
  const make = (count: number): string[] => Array.from({ length: count }, line);
  const base = make(round % 7 === 0 ? below(4) : 4 + below(14));
  const edit = (): string[] => {
    if (below(20) === 0) return [];
    const copy = [...base];
    for (let times = 1 + below(2); times > 0; times--) copy.splice(below(copy.length + 1), below(3), ...make(below(3)));
    return copy;
  };
  const unended = (text: string[]): string[] =>
    text.length > 0 && below(4) === 0 ? [...text.slice(0, -1), (text.at(-1) as string).trimEnd()] : text;
  return [unended(base), unended(edit()), unended(edit())];
}
