import { linkSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { noSteps, type Steps } from '../core/steps.ts';
import { blobIdOf } from '../format/hash.ts';
import { FileCache } from './file-cache.ts';
import { FileLinker } from './file-linker.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function place(): { readonly dir: string; readonly cache: FileCache } {
  const dir = mkdtempSync(join(tmpdir(), 'mound-linker-'));
  dirs.push(dir);
  return { dir, cache: new FileCache(dir) };
}

const content = Buffer.from('content\n');
const file = { blob: blobIdOf(content), isExecutable: false };

const failing =
  (code: string, isOf: (at: string) => boolean = () => true): typeof linkSync =>
  (from, to) => {
    if (isOf(String(to))) throw Object.assign(new Error(code), { code });
    linkSync(from, to);
  };

/** What came to be at each of the paths: linked or not. */
function linkAll(linker: FileLinker, dir: string, names: readonly string[]): boolean[] {
  return names.map((name) => linker.link(file, content.length, join(dir, name), () => content) !== undefined);
}

test.each(['EXDEV', 'EPERM', 'ENOTSUP', 'EROFS'])('%s: nothing is linked, and nobody tries again', (code) => {
  const { dir, cache } = place();
  let tries = 0;
  const isOf = (): boolean => ++tries > 0;
  expect(linkAll(new FileLinker(cache, 'id', noSteps, failing(code, isOf)), dir, ['a', 'b'])).toEqual([false, false]);
  expect([tries, readdirSync(dir)]).toEqual([1, []]);
});

test('a file with as many links as it may have: that one is not linked, others are', () => {
  const { dir, cache } = place();
  const linker = new FileLinker(
    cache,
    'id',
    noSteps,
    failing('EMLINK', (at) => at.endsWith('full')),
  );
  expect(linkAll(linker, dir, ['a', 'full', 'b'])).toEqual([true, false, true]);
});

test('what the system says otherwise is told', () => {
  const { dir, cache } = place();
  const linker = new FileLinker(cache, 'id', noSteps, failing('ENOSPC'));
  expect(() => linkAll(linker, dir, ['a'])).toThrow('ENOSPC');
  expect(() => linkAll(new FileLinker(cache, 'id', noSteps), dir, ['a', 'a'])).toThrow('EEXIST');
});

test('of two that make an entry at once the first stays, and no draft is left', () => {
  const { dir, cache } = place();
  let isOther = false;
  const other: Steps = {
    reach: () => {
      if (isOther) return;
      isOther = true;
      rmSync(cache.pathOf(file));
      linkAll(new FileLinker(cache, 'other', noSteps), dir, ['other']);
    },
  };
  expect(linkAll(new FileLinker(cache, 'id', other), dir, ['mine'])).toEqual([true]);
  expect(lstatSync(join(dir, 'mine')).ino).toBe(lstatSync(join(dir, 'other')).ino);
  expect(readFileSync(join(dir, 'mine'))).toEqual(content);
  expect(readdirSync(cache.dir)).toEqual([file.blob.slice(0, 2)]);
});
