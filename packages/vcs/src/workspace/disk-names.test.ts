import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { RepoPath } from '../core/ids.ts';
import { DiskNames } from './disk-names.ts';
import { lstatOf } from './disk-path.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function place(): string {
  const dir = mkdtempSync(join(tmpdir(), 'mound-names-'));
  dirs.push(dir);
  for (const below of ['.mound', 'Dir']) mkdirSync(join(dir, below));
  for (const path of ['A', 'Dir/x']) writeFileSync(join(dir, path), '');
  return dir;
}

/** As a file system answers for which case does not count. */
function folded(at: string): string {
  if (lstatOf(at) !== undefined) return at;
  const above = dirname(at) === tmpdir() ? tmpdir() : folded(dirname(at));
  const names = lstatOf(above)?.isDirectory() === true ? readdirSync(above) : [];
  const name = names.find((other) => other.toLowerCase() === basename(at).toLowerCase());
  return join(above, name ?? basename(at));
}

const refusals = (names: DiskNames, paths: readonly string[]): (string | undefined)[] =>
  paths.map((path) => names.refusalOfNew(path as RepoPath));

const paths = ['A', 'a', 'b', 'Dir/x', 'Dir/X', 'Dir/y', 'dir/y', 'dir', 'new/DIR/y', '.git/x'];

test('where case does not count, what is there under another name is in the way, directories too', () => {
  const names = new DiskNames(place(), (at) => lstatOf(folded(String(at))));
  const clash = 'collides with another path on this file system';
  expect(refusals(names, paths)).toEqual([
    undefined,
    clash,
    undefined,
    undefined,
    clash,
    undefined,
    clash,
    clash,
    undefined,
    "names git's own directory ('.git')",
  ]);
});

test('what answers to a name that none there is like is gone, or a short name of another', () => {
  const root = place();
  const names = new DiskNames(root, () => lstatOf(join(root, 'A')));
  expect(refusals(names, ['gone', 'A~1'])).toEqual([undefined, 'collides with another path on this file system']);
});

test('where it counts nothing is in the way, and no directory is read for it', () => {
  let looks = 0;
  const names = new DiskNames(place(), (at) => {
    looks++;
    return lstatOf(at);
  });
  expect(refusals(names, paths).filter((reason) => reason !== undefined)).toHaveLength(1);
  expect(looks).toBe(1);
});

test('a name that this file system holds is found so, and nothing is left of the try', () => {
  const root = place();
  expect(refusals(new DiskNames(root), ['a:b', 'dot.', 'aux.txt', 'a?', 'sub /x'])).toEqual(Array(5).fill(undefined));
  expect(readdirSync(join(root, '.mound'))).toEqual([]);
  rmSync(join(root, '.mound'), { recursive: true });
  expect(refusals(new DiskNames(root), ['a:b'])).toEqual([undefined]);
  expect(readdirSync(root).toSorted()).toEqual(['A', 'Dir']);
});
