import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Mode } from '../core/mode.ts';
import { seededRandom } from '../core/ports.ts';
import { detectRenames, type RenameFile } from './renames.ts';
import { similarityOf, similarityProfile } from './similarity.ts';

function file(path: string, content: string, mode: Mode = 'file'): RenameFile {
  const bytes = Buffer.from(content);
  const blob = createHash('sha256').update(bytes).digest('hex');
  return { path, mode, blob, size: bytes.length, read: () => bytes };
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => `line number ${from + at} of a text\n`).join('');

const names = (removed: RenameFile[], added: RenameFile[], options = {}): string[] =>
  detectRenames(removed, added, options).map(({ from, to, similarity }) => `${from} ${to} ${similarity}`);

describe('what is found', () => {
  test('equal contents, whatever their names', () => {
    expect(names([file('a', lines(0, 9)), file('b', 'b\n')], [file('c', 'b\n'), file('d', lines(0, 9))])).toEqual([
      'b c 100',
      'a d 100',
    ]);
  });

  test('similar contents at 50 % or more of the larger one', () => {
    const half = [file('old', lines(10, 20))];
    expect(names(half, [file('new', lines(10, 20) + lines(50, 60))])).toEqual(['old new 50']);
    expect(names(half, [file('new', lines(10, 20) + lines(50, 61))])).toEqual([]);
    expect(names(half, [file('new', lines(10, 20) + lines(50, 61))], { similarityMin: 40 })).toHaveLength(1);
  });

  test('another line ending is no other content', () => {
    expect(names([file('a', lines(0, 9))], [file('b', lines(0, 9).replaceAll('\n', '\r\n'))])).toEqual(['a b 96']);
  });

  test('not empty files, and links only where they are equal', () => {
    expect(names([file('a', '')], [file('b', '')])).toEqual([]);
    const target = 'some/long/target/of/a/link';
    expect(names([file('a', target, 'symlink')], [file('b', target, 'symlink')])).toEqual(['a b 100']);
    expect(names([file('a', target, 'symlink')], [file('b', target)])).toEqual([]);
    expect(names([file('a', target, 'symlink')], [file('b', `${target}!`, 'symlink')])).toEqual([]);
    expect(names([file('a', target)], [file('b', target, 'executable')])).toEqual(['a b 100']);
  });
});

describe('which of several', () => {
  test('equal files go by the names of their directories', () => {
    const licence = lines(0, 5);
    expect(
      names([file('a/L', licence), file('b/L', licence)], [file('x/b/L', licence), file('x/a/L', licence)]),
    ).toEqual(['a/L x/a/L 100', 'b/L x/b/L 100']);
  });

  test('two sources that come as close leave it open: no rename is invented', () => {
    const [a, b] = [file('a', `${lines(0, 20)}a\n`), file('b', `${lines(0, 20)}b\n`)];
    expect(names([a, b], [file('c', `${lines(0, 20)}c\n`)])).toEqual([]);
    expect(names([a, b], [file('c', `${lines(0, 20)}c\n`)], { clearBy: 0 })).toHaveLength(1);
    expect(names([a, b], [file('dir/b', `${lines(0, 20)}c\n`)])).toEqual(['b dir/b 99']);
  });

  test('the order of the lists does not matter', () => {
    const text = fc.integer({ min: 0, max: 5 }).map((at) => lines(at, at + 6));
    const named = fc.record({ path: fc.constantFrom('a', 'b', 'x/a', 'x/b', 'y/c', 'd'), text });
    const files = fc.uniqueArray(named, { selector: ({ path }) => path, maxLength: 6 });
    fc.assert(
      fc.property(files, files, fc.boolean(), (removed, added, isFirst) => {
        const [from, to] = [removed, added].map((list) => list.map(({ path, text: t }) => file(path, t)));
        const found = detectRenames(from ?? [], to ?? []);
        const turned = isFirst ? [from?.toReversed(), to] : [from, to?.toReversed()];
        expect(detectRenames(turned[0] ?? [], turned[1] ?? [])).toEqual(found);
        expect(new Set(found.map((rename) => rename.from)).size).toBe(found.length);
        expect(new Set(found.map((rename) => rename.to)).size).toBe(found.length);
      }),
      { numRuns: 200, seed: 1 },
    );
  });
});

test('comparisons are bounded, and no content is read twice', () => {
  let reads = 0;
  const counted = (path: string, content: string): RenameFile => {
    const plain = file(path, content);
    return { ...plain, read: () => (reads++, plain.read()) };
  };
  const all = (prefix: string, shift: number): RenameFile[] =>
    Array.from({ length: 300 }, (_, at) => counted(`${prefix}/${at}.${prefix}`, lines(at * 50 + shift, at * 50 + 40)));
  expect(detectRenames(all('a', 0), all('b', 4))).toHaveLength(300);
  expect(reads).toBeLessThanOrEqual(600);
  // Too few comparisons for all: what is found is still right.
  const some = detectRenames(all('a', 0), all('b', 4), { comparisonsMax: 600 });
  for (const { from, to } of some) expect(to.slice(2, -2)).toBe(from.slice(2, -2));
});

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test('similarity is what git says it is, and the renames are those that git finds', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mound-renames-'));
  dirs.push(dir);
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'core.autocrlf=false', ...args], {
      cwd: dir,
      encoding: 'utf8',
    });
  git('init', '-q');
  const random = seededRandom(5);
  const removed: RenameFile[] = [];
  const added: RenameFile[] = [];
  const write = ({ path, read }: RenameFile): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), read());
  };
  for (let at = 0; at < 60; at++) {
    const text = Array.from({ length: 20 + random.below(60) }, (_, line) => `${at} ${line} ${random.below(1e6)}\n`);
    removed.push(file(`old/f${at}.txt`, text.join('')));
    for (let edit = random.below(40); edit > 0; edit--) text[random.below(text.length)] = `${random.below(1e9)}\n`;
    if (random.below(3) === 0) text.push('a last line that is rather long '.repeat(random.below(12)));
    added.push(file(`new/g${at}.txt`, text.join('')));
  }
  for (const each of removed) write(each);
  git('add', '.');
  git('commit', '-q', '-m', 'one');
  rmSync(join(dir, 'old'), { recursive: true });
  for (const each of added) write(each);
  git('add', '.');
  const told = git('diff', '--cached', '-M', '--name-status')
    .split('\n')
    .flatMap((line) => {
      const [status = '', from, to] = line.split('\t');
      return status.startsWith('R') ? [{ from, to, similarity: Number(status.slice(1)) }] : [];
    });
  expect(told.length).toBeGreaterThan(20);
  const found = detectRenames(removed, added);
  expect(found.map(({ from, to }) => [from, to])).toEqual(told.map(({ from, to }) => [from, to]));
  for (const [at, { similarity }] of found.entries()) {
    // git counts pieces in fewer buckets.
    expect(Math.abs(similarity - (told[at]?.similarity ?? 0))).toBeLessThanOrEqual(1);
  }
});

test('similarity is symmetrical', () => {
  const profile = (text: string) => similarityProfile(Buffer.from(text));
  expect(similarityOf(profile(lines(0, 10)), profile(lines(5, 12)))).toBe(
    similarityOf(profile(lines(5, 12)), profile(lines(0, 10))),
  );
  expect(similarityOf(profile('x'.repeat(6400)), profile('x'.repeat(3200)))).toBe(50);
});
