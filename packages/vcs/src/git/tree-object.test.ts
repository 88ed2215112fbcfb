import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { casesDir, git, readJson, removeTemporaries, scriptedRepo } from './git-fixtures.test.kit.ts';
import { gitBlobId, gitObjectId } from './object-id.ts';
import { ObjectReader } from './object-reader.ts';
import { isDirectory, modeOfNumber, parseTree, writeTree, type TreeEntry } from './tree-object.ts';

afterAll(removeTemporaries);

const id = gitBlobId(Buffer.from('x'));
const file = (name: string, mode = 0o100644): TreeEntry => ({ mode, name, id });
const rawOf = (...entries: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(
    entries.flatMap(([mode, name]) => [Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]),
  );

test('order is that of git for any names', () => {
  const repo = scriptedRepo('commit one');
  git(repo, ['hash-object', '-w', '--stdin'], 'x');
  const name = fc
    .array(fc.constantFrom('a', 'b', '-', '.', '0', 'A', '\u00e4', '\u00ff', ' '), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(''))
    .filter((text) => !/^\.{1,2}$/.test(text));
  const tree = fc.uniqueArray(fc.tuple(name, fc.constantFrom(0o100644, 0o100755, 0o120000, 0o40000)), {
    selector: ([text]) => text,
    minLength: 1,
  });
  const subtree = git(repo, ['mktree'], `100644 blob ${id}\tf\n`);
  fc.assert(
    fc.property(tree, (pairs) => {
      const entries = pairs.map(([text, mode]) => ({ mode, name: text, id: isDirectory(mode) ? subtree : id }));
      const listing = entries.map((entry) => {
        const [type, mode] = isDirectory(entry.mode) ? ['tree', '040000'] : ['blob', entry.mode.toString(8)];
        return `${mode} ${type} ${entry.id}\t${entry.name}\0`;
      });
      const raw = writeTree(entries);
      expect(gitObjectId('tree', raw)).toBe(git(repo, ['mktree', '-z'], Buffer.from(listing.join(''), 'latin1')));
      expect(parseTree(raw).isCanonical).toBe(true);
      expect(new Set(parseTree(raw).entries.map((entry) => entry.name))).toEqual(new Set(entries.map((e) => e.name)));
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['an odd mode', rawOf(['100664', 'f'])],
  ['a padded mode', rawOf(['040000', 'd'])],
  ['wrong order', rawOf(['100644', 'b'], ['100644', 'a'])],
  ['plain order of a directory', rawOf(['40000', 'a'], ['100644', 'a.b'])],
  ['the same name twice', rawOf(['100644', 'a'], ['100755', 'a'])],
  ['a file and a directory of one name', rawOf(['100644', 'a'], ['100644', 'a.b'], ['40000', 'a'])],
  ['a slash in a name', rawOf(['100644', 'a/b'])],
  ['an empty name', rawOf(['100644', ''])],
])('%s is noticed', (_, raw) => {
  expect(parseTree(raw).isCanonical).toBe(false);
});

test.each([rawOf(['100644', 'a']).subarray(0, -1), Buffer.from('100644 a'), Buffer.from('9 a\0'), Buffer.from('1006')])(
  'a damaged tree is a typed error',
  (raw) => {
    expect(() => parseTree(raw)).toThrow(expect.objectContaining({ code: 'object-damaged' }));
  },
);

test('odd modes are given the mode that git makes of them', () => {
  expect([0o100664, 0o100600, 0o100775, 0o100700, 0o120000, 0o160000].map(modeOfNumber)).toEqual([
    'file',
    'file',
    'executable',
    'executable',
    'symlink',
    'gitlink',
  ]);
});

describe.skipIf(casesDir() === undefined)('case 13', () => {
  test('the order and the id of the tree are those of git', async () => {
    const expected = readJson('13-tree-order/expected.json') as {
      rootTree: string;
      order: string[];
      entries: string[];
    };
    const entries = expected.entries.map((line): TreeEntry => {
      const [mode = '', , blob = '', name = ''] = line.split(/[ \t]/);
      return { mode: Number.parseInt(mode, 8), name, id: blob };
    });
    const raw = writeTree(entries.toReversed());
    expect(parseTree(raw).entries.map(({ name }) => name)).toEqual(expected.order);
    expect(gitObjectId('tree', raw)).toBe(expected.rootTree);
    const repo = scriptedRepo('commit one');
    git(repo, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], raw);
    const reader = new ObjectReader(join(repo, '.git'));
    expect(await reader.content(expected.rootTree, 'tree')).toEqual(raw);
    await reader.close();
  });
});

test('a file without a mode of its own keeps its name bytes', () => {
  expect(parseTree(writeTree([file('\u00e4\u00ff')])).entries[0]?.name).toBe('\u00e4\u00ff');
});
