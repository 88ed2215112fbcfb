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

// Few names, so that most patterns match something.
const segment = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', 'ab', 'a.b', 'aab') },
  fc.constantFrom('.a', 'é', 'a b', '[', 'A', '*', '!a', '\\', '"', '#', 'a]', '^', '-', 'a-b', '1'),
);
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));

const patternPiece = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', '.', '*', '?', '**') },
  { weight: 3, arbitrary: fc.constantFrom('[ab]', '[a-b]', '[!b]', '[^/]', '[[:alpha:]]', '[[:alpha:].]', '\\a') },
  fc.constantFrom('é', '!', '\\', '\\*', '[', ']', '[]a]', '[[:space:]]', '***', '[[:nope:]]', '[[:', '[a', '[a-'),
  fc.constantFrom('[\\]]', '[]-a]', '[!]a]', '[--0]', '[b-a]', '[a\\-c]', '#', '[[:a]', '[[:]', '[[:punct:]]', '[^a]'),
);
const segmentPattern = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('*', '**', '***') },
  { weight: 3, arbitrary: segment },
  { weight: 4, arbitrary: fc.array(patternPiece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')) },
);
const pattern = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        fc.constantFrom('', '', '', '/', '**/'),
        fc.array(segmentPattern, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '', '', '', '/', '/**', '/*'),
      )
      .map(([start, segments, end]) => start + segments.join('/') + end),
  },
  fc.constantFrom(
    '"a b"',
    '"a\\142"',
    '"\\a"',
    '"a\\x"',
    '"',
    '"\\303\\251"',
    '"*"x',
    '"a"',
    '"[attr]m"',
    '"[attr] t u"',
  ),
  fc.constantFrom('""', '"!a"', '[attr]', '!a', '"a\\000b"', '[attr]!', '"a\\"'),
);
const name = fc.constantFrom('merge', 'text', 'binary', 'm', 'n');
const state = fc.oneof(
  { weight: 8, arbitrary: name },
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('-', '!'), name).map((parts) => parts.join('')) },
  { weight: 5, arbitrary: fc.tuple(name, fc.constantFrom('union', '', 'a=b', 'é')).map((parts) => parts.join('=')) },
  fc.constantFrom('-merge=x', '=', '--a', '!-a', 'a,b', '-', 'é', '"q"', '#', 'x.y-z_0', 'diff'),
);
const states = fc
  .array(state, { minLength: 1, maxLength: 4 })
  .chain((parts) => fc.constantFrom(' ', '\t', '  ').map((blank) => parts.join(blank)));
const line = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(pattern, states).map(([start, rest]) => `${start} ${rest}`) },
  { weight: 3, arbitrary: fc.tuple(name, states).map(([macro, rest]) => `[attr]${macro} ${rest}`) },
  fc.constantFrom(
    '# a merge',
    '',
    '  ',
    ' a merge',
    'a\tmerge\r',
    '* m=' + 'x'.repeat(2042),
    '* m=' + 'x'.repeat(2043),
  ),
);
const attributeText = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('', '', '\uFEFF'), fc.constantFrom('', '\n'))
  .map(([lines, start, end]) => start + lines.join('\n') + end);
const directory = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 4, arbitrary: fc.constantFrom('a/', 'b/', 'ab/', 'a/a/', 'a/b/') },
  fc.constantFrom('é/', '[/'),
);

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
