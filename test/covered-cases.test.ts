import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '@mound/vcs';
import { expect, test } from 'vitest';
import { caseText, hasCases } from './kit/cases.ts';
import { put } from './kit/land.ts';
import { projectDir } from './kit/process.ts';
import { agent, setup, tempRepo } from './kit/temp.ts';

const vcs = 'packages/vcs/src';
const moves = 'test/moves.test.ts';
const kept = 'test/conflict-cases.test.ts';
const oneFile = `${vcs}/merge/merge-file.test.ts`;
const lines = `${vcs}/merge/three-way.test.ts`;
const several = 'test/concurrency-cases.test.ts';
const here = 'test/covered-cases.test.ts';

/** Recorded merge and path cases, and the test that each is: file and what stands in its title. */
const covered: readonly (readonly [number: number, what: string, file: string, title: string])[] = [
  [18, 'branches that were forked before a landing undo nothing', several, '18 two branches forked before'],
  [19, 'no rename is invented', moves, '19 one edits b, the other deletes a and b'],
  [20, 'a move beside an identical add', moves, '20 one moves f to g'],
  [21, 'the same bytes added twice', moves, '21 both add the same bytes'],
  [22, 'the same delete twice', moves, '22 both delete a file, or empty a directory'],
  [23, 'an edit against a delete', kept, 'case 23: one edits, the other deletes'],
  [24, 'moves that cross', moves, '24 one moves A/f to B/f'],
  [25, 'a directory against a link', moves, '25 one moves a directory'],
  [26, 'an import deleted and extended', oneFile, 'a deleted and an extended import a conflict (case 26)'],
  [27, 'two JSON files at one path', oneFile, 'two JSON files into a broken one (case 27)'],
  [28, 'a constant beside imports', oneFile, 'keeps a constant that one side added'],
  [29, 'no newline at the end', kept, 'case 29: texts that end without a line end'],
  [30, 'CRLF', kept, 'case 30: a file with CRLF'],
  [31, 'the executable bit beside a conflict', kept, 'case 31: both sides make a file executable'],
  [32, 'an image beside a conflict', kept, 'case 32: an image'],
  [33, 'conflicts past line 10', kept, 'case 33: conflicts at lines 2, 4, 6'],
  [34, 'a repeated line', lines, 'which git and GNU diff3 do not (case 34)'],
  [35, 'few distinct lines', lines, '6,000 lines of 4 kinds, edited (case 35)'],
  [36, 'a near-total rewrite', lines, '50,000 lines, nearly rewritten (case 36)'],
  [37, 'paths that no change may name', `${vcs}/core/path.test.ts`, "'git~1/x'"],
  [38, 'names that differ in case only', several, '38 a name that differs by case'],
  [39, 'a link where there are none', 'test/workspace-directories.test.ts', '38 39 what a workspace cannot hold'],
  [40, 'a file becomes a directory', several, '40 a file becomes a directory and back'],
  [49, 'a file of 18,591 lines', here, '49 a file of 18,591 lines'],
];

test.each(covered)('case %i, %s, is a test', (_number, _what, file, title) => {
  expect(readFileSync(join(projectDir, file), 'utf8')).toContain(title);
});

test.skipIf(!hasCases)('no recorded merge or path case is without one', () => {
  const text = caseText('vcs.md');
  const sections = text.split(/^## /m).filter((section) => /^(Merge|Paths)\b/.test(section));
  const numbers = sections.flatMap((section) =>
    [...section.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number)),
  );
  expect(numbers.length).toBeGreaterThan(20);
  const known = new Set(covered.map(([number]) => number));
  expect([...numbers, 49].filter((number) => !known.has(number))).toEqual([]);
});

test('49 a file of 18,591 lines and 1 MB is flagged, and merges and compares as any other', async () => {
  const repo = await tempRepo();
  const text = Array.from({ length: 18_591 }, (_, at) => `${String(at).padStart(8)} ${'x'.repeat(46)}\n`);
  const edited = (at: number, line: string): string => text.with(at, `${line}\n`).join('');
  expect(Buffer.byteLength(text.join(''))).toBeGreaterThan(1_000_000);
  const base = await put(repo, 'big.txt', text.join(''));
  const flags = [...repo.events()].filter(({ kind }) => kind === 'file.flagged');
  expect(flags).toMatchObject([{ path: 'big.txt', signal: { measure: 'bytes', bound: 256 * 1024 } }]);
  const edit = (name: string, at: number, line: string): Promise<object> =>
    repo.put('big.txt', edited(at, line), { author: agent(name), expect: version(base) });
  expect(await edit('a', 10, 'ten')).toMatchObject({ kind: 'landed' });
  expect(await edit('b', 18_000, 'late')).toMatchObject({
    kind: 'merged',
    merged: [{ path: 'big.txt', lines: 'clean' }],
  });
  expect(await edit('c', 10, 'zehn')).toMatchObject({ kind: 'conflicted' });
  const both = text.with(10, 'ten\n').with(18_000, 'late\n').join('');
  expect(repo.snapshot().readText('big.txt')).toBe(both);
  expect(repo.conflicts()[0]?.paths[0]?.hunks).toMatchObject([{ base: { start: 11, count: 1 } }]);
  expect(repo.diff(base, repo.snapshot().seq)).toMatchObject([{ path: 'big.txt' }]);
  const written = repo.blame('big.txt').filter(({ author }) => author.name !== setup.name);
  expect(written.map(({ line, author }) => [line, author.name])).toEqual([
    [11, 'a'],
    [18_001, 'b'],
  ]);
});
