import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesOfPath, foldPath, isPathFault, parentsOfPath, parsePath, pathOfBytes } from './path.ts';
import type { RepoPath } from './ids.ts';

describe('refused', () => {
  test.each([
    '', '.', '..', '/etc/x', 'a//b', 'a/', '/', 'a/../b', './a', 'a/.', 'a\0b', '//hex:ff', 'C:/..', '..\\..\\x',
    '.git/config', '.GIT/x', 'git~1/x', 'GIT~1', 'git~2/x', '.git /x', '.git./x', '.git. . /x', '.git::$INDEX_ALLOCATION/x',
    '.g\u200cit/x', '.git\u200d/config', 'a/.git/hooks/x', 'a\\.git\\x', 'sub/.Git', '\ud800',
  ])('%j', (path) => expect(isPathFault(parsePath(path))).toBe(true)); // prettier-ignore

  test.each([undefined, null, 7, {}])('%j, which is no string', (path) =>
    expect(isPathFault(parsePath(path))).toBe(true),
  );

  test('over-long', () => expect(isPathFault(parsePath('a/'.repeat(3000) + 'a'))).toBe(true));
});

test.each([
  'a',
  'a/b',
  '.gitignore',
  '.github/x',
  'git/x',
  'a b',
  'straße',
  '日本.txt',
  '...',
  'a..b',
  '.gitmodules',
  'mygit~1x',
])('%j is taken', (path) => expect(parsePath(path)).toBe(path));

test('bytes and their string form are each other’s inverse, valid UTF-8 or not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 30 }), (bytes) => {
      expect(bytesOfPath(pathOfBytes(bytes))).toEqual(Buffer.from(bytes));
    }),
  );
  expect(pathOfBytes(Buffer.from([0xe4, 0x2d]))).toBe('//hex:e42d');
});

test('names that collide on some file system have one fold', () => {
  expect(foldPath('straße' as RepoPath)).toBe(foldPath('STRASSE' as RepoPath));
  expect(foldPath('é' as RepoPath)).toBe(foldPath('é' as RepoPath));
  expect(foldPath('a' as RepoPath)).not.toBe(foldPath('b' as RepoPath));
});

test('parents, nearest first', () => {
  expect(parentsOfPath('a/b/c' as RepoPath)).toEqual(['a/b', 'a']);
  expect(parentsOfPath('a' as RepoPath)).toEqual([]);
});
