import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { RepoPath } from '../core/ids.ts';
import { attributeFilesOf, attributesOf, readAttributeFile } from './index.ts';

/** The oracle: git itself, told about these files and no others. */
const home = mkdtempSync(join(tmpdir(), 'mound-attributes-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const work = join(home, 'work');
const env = { PATH: process.env['PATH'], HOME: home, GIT_ATTR_NOSYSTEM: '1', GIT_CONFIG_NOSYSTEM: '1' };
execFileSync('git', ['init', '-q', '--separate-git-dir', join(home, 'git'), work], { env });

type Attributes = Readonly<Record<string, string | boolean>>;

function askGit(files: ReadonlyMap<string, string>, paths: readonly string[]): Attributes[] {
  for (const [path, content] of files) {
    const file = join(work, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, content);
  }
  const input = paths.map((path) => `${path}\0`).join('');
  const args = [`--git-dir=${join(home, 'git')}`, `--work-tree=${work}`, 'check-attr', '-a', '-z', '--stdin'];
  const answer = execFileSync('git', args, {
    cwd: work,
    env,
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const fields = answer.split('\0');
  const found = new Map<string, Record<string, string | boolean>>(paths.map((path) => [path, {}]));
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', name = '', value = ''] = fields.slice(at, at + 3);
    (found.get(path) as Record<string, string | boolean>)[name] =
      value === 'set' || (value === 'unset' ? false : value);
  }
  for (const name of readdirSync(work)) rmSync(join(work, name), { recursive: true });
  return paths.map((path) => found.get(path) as Attributes);
}

function askMound(files: ReadonlyMap<string, string>, paths: readonly string[]): Attributes[] {
  return paths.map((path) => {
    const read = attributeFilesOf(path as RepoPath).flatMap((file) => {
      const content = files.get(file);
      return content === undefined ? [] : [readAttributeFile(file, Buffer.from(content))];
    });
    return Object.fromEntries(attributesOf(read, path as RepoPath));
  });
}

const segment = fc.constantFrom(
  'a',
  'b',
  'ab',
  'a.c',
  '.x',
  'é',
  'a b',
  '[',
  'A',
  '*',
  '!a',
  '\\',
  '"',
  '#',
  'a]',
  '^',
);
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
const patternPiece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'c', '.', '/', '*', '**', '?', '/**/', '**/', '/**', 'ab') },
  fc.constantFrom('é', '!', '\\', '\\*', '[', ']', '[a-b]', '[!a]', '[^/]', '[]a]', '[[:alpha:]]', '[[:space:]]'),
  fc.constantFrom('***', '[[:nope:]]', '[[:', '[a', '[a-', '[\\]]', '[]-a]', '[!]a]', '[--0]', '[b-a]', '[a\\-c]', '#'),
);
const pattern = fc.oneof(
  { weight: 8, arbitrary: fc.array(patternPiece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join('')) },
  { weight: 2, arbitrary: path },
  fc.constantFrom(
    '"a b"',
    '"a\\142"',
    '"a\\x"',
    '"',
    '"\\303\\251"',
    '"*"',
    '"a"',
    '"[attr]m"',
    '""',
    '"!a"',
    '[attr]',
    '!a',
  ),
);
const name = fc.constantFrom('merge', 'text', 'diff', 'binary', 'm', 'n', 'eol', 'crlf', 'x.y-z_0');
const state = fc.oneof(
  { weight: 5, arbitrary: name },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('-', '!'), name).map((parts) => parts.join('')) },
  { weight: 3, arbitrary: fc.tuple(name, fc.constantFrom('union', 'auto', '', 'a=b', 'é')).map((p) => p.join('=')) },
  fc.constantFrom('-merge=x', '=', '--a', '!-a', 'a,b', '-', 'é', '"q"', '#'),
);
const states = fc
  .array(state, { minLength: 0, maxLength: 4 })
  .chain((parts) => fc.constantFrom(' ', '\t', '  ').map((blank) => parts.join(blank)));
const line = fc.oneof(
  { weight: 10, arbitrary: fc.tuple(pattern, states).map(([start, rest]) => `${start} ${rest}`) },
  { weight: 3, arbitrary: fc.tuple(name, states).map(([macro, rest]) => `[attr]${macro} ${rest}`) },
  fc.constantFrom(
    '# a merge',
    '',
    '  ',
    ' a merge',
    'a\tmerge\r',
    `a m ${'x'.repeat(2043)}`,
    `a m ${'x'.repeat(2044)}`,
  ),
);
const attributeText = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('', '\uFEFF'), fc.constantFrom('', '\n'))
  .map(([lines, start, end]) => start + lines.join('\n') + end);
const directory = fc.constantFrom('', 'a/', 'b/', 'ab/', 'a/a/', 'a/b/', 'é/', '[/');

test('the attributes of a path are those that git finds in the same files', () => {
  const tree = fc.record({
    files: fc.array(fc.tuple(directory, attributeText), { minLength: 1, maxLength: 4 }),
    paths: fc.uniqueArray(path, { minLength: 10, maxLength: 30 }),
  });
  fc.assert(
    fc.property(tree, ({ files, paths }) => {
      const texts = new Map(files.map(([at, text]) => [`${at}.gitattributes`, text]));
      expect(askMound(texts, paths)).toEqual(askGit(texts, paths));
    }),
    {
      numRuns: Number(process.env['MOUND_RUNS'] ?? 60),
      seed: Number(process.env['MOUND_SEED'] ?? 4),
    },
  );
});
