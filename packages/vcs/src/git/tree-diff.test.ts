import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  casesDir,
  git,
  readJson,
  removeTemporaries,
  run,
  scriptedRepo,
  temporaryDir,
} from './git-fixtures.test.kit.ts';
import { ObjectReader } from './object-reader.ts';
import { contentOf, diffCommit, readTreeFlat, type TreeChange } from './tree-diff.ts';

afterAll(removeTemporaries);

const letters = { file: 'f', executable: 'x', symlink: 'l', gitlink: 'g' } as const;
const show = ({ path, mode }: TreeChange): string => `${mode ? letters[mode] : '-'} ${path.toString('latin1')}`;

async function stepsOf(repo: string): Promise<string[][]> {
  const reader = new ObjectReader(join(repo, '.git'));
  const trees = git(repo, ['log', '--reverse', '--format=%T']).split('\n');
  const steps: string[][] = [];
  for (const [index, tree] of trees.entries()) {
    steps.push((await diffCommit(reader, trees[index - 1], tree)).map(show));
  }
  await reader.close();
  return steps;
}

test('files, links, modes, gitlinks and directories in every direction; deletes come first', async () => {
  const repo = scriptedRepo(`
    echo a > a; mkdir -p d/e; echo b > d/e/b; echo c > d/c; ln -s a l; commit 1
    chmod +x a; commit 2
    rm -r d; echo d > d; commit 3
    rm d l; mkdir d l; echo b > d/b; echo x > l/x; commit 4
    git update-index --add --cacheinfo 160000,${'1'.repeat(40)},sub; tick; git commit -qm 5
    git rm -q --cached sub; mkdir -p sub/in; echo s > sub/in/s; commit 6
    commit 7
  `);
  expect(await stepsOf(repo)).toEqual([
    ['f a', 'f d/c', 'f d/e/b', 'l l'],
    ['x a'],
    ['- d/c', '- d/e/b', 'f d'],
    ['- d', '- l', 'f d/b', 'f l/x'],
    ['g sub'],
    ['- sub', 'f sub/in/s'],
    [],
  ]);
});

test('a change between two spellings of one mode is none', async () => {
  const repo = scriptedRepo('echo a > a; commit 1');
  const blob = Buffer.from(git(repo, ['rev-parse', 'HEAD:a']), 'hex');
  const raw = Buffer.concat([Buffer.from('100664 a\0'), blob]);
  const odd = git(repo, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], raw);
  const reader = new ObjectReader(join(repo, '.git'));
  expect(await diffCommit(reader, git(repo, ['rev-parse', 'HEAD^{tree}']), odd)).toEqual([]);
  await reader.close();
});

test('a flat tree has every file, and its contents are read on demand', async () => {
  const repo = scriptedRepo(`
    mkdir -p a/b; printf 'one' > a/b/c; printf 'two' > a.b; ln -s target link; git add -A
    git update-index --add --cacheinfo 160000,${'2'.repeat(40)},sub; tick; git commit -qm 1
  `);
  const reader = new ObjectReader(join(repo, '.git'));
  const files = await readTreeFlat(reader, git(repo, ['rev-parse', 'HEAD^{tree}']));
  const contents: string[] = [];
  for (const [path, { mode, id }] of files)
    contents.push(`${path} ${mode} ${(await contentOf(reader, mode, id)).toString()}`);
  expect(contents.toSorted()).toEqual([
    'a.b file two',
    'a/b/c file one',
    'link symlink target',
    `sub gitlink ${'2'.repeat(40)}`,
  ]);
  await reader.close();
});

describe.skipIf(casesDir() === undefined)('case 26', () => {
  test('a file becomes a directory and the other way round, deletes first', async () => {
    const dir = join(temporaryDir(), 'repo');
    run('sh', [join(casesDir() ?? '', '26-file-becomes-directory/make-repo.sh'), dir]);
    const expected = readJson('26-file-becomes-directory/expected.json') as { readonly tree: string }[];
    expect(git(dir, ['log', '--reverse', '--format=%T']).split('\n')).toEqual(expected.map(({ tree }) => tree));
    expect(await stepsOf(dir)).toEqual([
      ['f lib', 'l link', 'f real/r'],
      ['- lib', '- link', 'f lib/index', 'f link/x'],
      ['- lib/index', '- link/x', 'f lib', 'l link'],
      ['x lib'],
      ['f link'],
    ]);
  });
});
