import { expect, test } from 'vitest';
import type { RepoPath } from '../core/ids.ts';
import { attributeFilesOf, attributesOf, lineEndsOf, readAttributeFile } from './index.ts';

const read = (path: string, text: string | Uint8Array): ReturnType<typeof readAttributeFile> =>
  readAttributeFile(path as RepoPath, Buffer.from(text));

const attributes = (text: string, path: string): unknown =>
  Object.fromEntries(attributesOf([read('.gitattributes', text)], path as RepoPath));

test('the files that bear on a path stand from the root to the nearest', () => {
  expect(attributeFilesOf('a/b/c.txt' as RepoPath)).toEqual([
    '.gitattributes',
    'a/.gitattributes',
    'a/b/.gitattributes',
  ]);
  expect(attributeFilesOf('c.txt' as RepoPath)).toEqual(['.gitattributes']);
});

test('the nearer file wins, in a file the later line, and ! takes back', () => {
  const files = [
    read('.gitattributes', '* merge=union text\n*.txt -text\n'),
    read('a/.gitattributes', '*.txt merge=ours\nb/*.txt !merge\n'),
  ];
  const of = (path: string): unknown => Object.fromEntries(attributesOf(files, path as RepoPath));
  expect(of('x.txt')).toEqual({ merge: 'union', text: false });
  expect(of('a/x.txt')).toEqual({ merge: 'ours', text: false });
  expect(of('a/b/x.txt')).toEqual({ text: false });
  expect(of('ab/x.md')).toEqual({ merge: 'union', text: true });
});

test('macros set what they stand for; only the root defines them', () => {
  expect(attributes('*.png binary\n', 'a/b.png')).toEqual({ binary: true, diff: false, merge: false, text: false });
  expect(attributes('[attr]list merge=union -diff\nCHANGES list\n', 'CHANGES')).toEqual({
    list: true,
    merge: 'union',
    diff: false,
  });
  expect(read('a/.gitattributes', '[attr]list merge=union\n').ignored).toEqual([
    { line: 1, reason: 'a macro is defined below the root' },
  ]);
});

test('lines that git ignores are named with the reason', () => {
  const { ignored, rules } = read(
    '.gitattributes',
    `# fine\n!a merge\ndir/ merge\na =x\n${'b'.repeat(2050)} x\nok merge\n`,
  );
  expect(rules).toHaveLength(1);
  expect(ignored.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
});

test('a path whose bytes are not UTF-8 is matched by its bytes', () => {
  const path = '//hex:612fff2e62' as RepoPath;
  expect(Object.fromEntries(attributesOf([read('.gitattributes', 'a/?.b merge=union')], path))).toEqual({
    merge: 'union',
  });
  expect(attributes('?.b merge', 'é.b')).toEqual({});
  expect(attributes('??.b merge=é', 'é.b')).toEqual({ merge: 'é' });
});

test('a pattern of many stars takes no exponential time', () => {
  expect(attributes(`${'*a'.repeat(60)}b merge`, 'a'.repeat(3000))).toEqual({});
  expect(attributes(`${'**/'.repeat(60)}b merge`, 'a/'.repeat(1000) + 'c')).toEqual({});
});

test.each([
  ['', { kind: 'unspecified', eol: undefined }],
  ['text', { kind: 'text', eol: undefined }],
  ['-text eol=crlf', { kind: 'binary', eol: undefined }],
  ['text=auto', { kind: 'auto', eol: undefined }],
  ['text=auto eol=crlf', { kind: 'auto', eol: 'crlf' }],
  ['eol=lf', { kind: 'text', eol: 'lf' }],
  ['text eol=nonsense', { kind: 'text', eol: undefined }],
  ['crlf', { kind: 'text', eol: undefined }],
  ['-crlf', { kind: 'binary', eol: undefined }],
  ['crlf=input', { kind: 'text', eol: 'lf' }],
  ['text=unknown -crlf', { kind: 'binary', eol: undefined }],
  ['text -crlf', { kind: 'text', eol: undefined }],
  ['binary', { kind: 'binary', eol: undefined }],
])('line ends of "%s"', (states, expected) => {
  const found = attributesOf([read('.gitattributes', `a ${states}`)], 'a' as RepoPath);
  expect(lineEndsOf(found)).toEqual(expected);
});
