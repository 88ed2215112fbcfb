import {
  appendFileSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { noSteps } from '../core/steps.ts';
import { blobIdOf } from '../format/hash.ts';
import { FileCache } from './file-cache.ts';
import { cloneBytesMin, FileCloner, type CloneFile, type ClonerOptions } from './file-cloner.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

interface Place {
  readonly dir: string;
  readonly cache: FileCache;
  readonly cloner: (options?: Partial<ClonerOptions>) => FileCloner;
}

/** As a system does that can clone: it fails where something is, and makes no directory. */
const copying: CloneFile = (from, to) => copyFileSync(from, to, constants.COPYFILE_EXCL);

function place(): Place {
  const dir = mkdtempSync(join(tmpdir(), 'mound-cloner-'));
  dirs.push(dir);
  mkdirSync(join(dir, 'w/.mound'), { recursive: true });
  mkdirSync(join(dir, '.mound'));
  const cache = new FileCache(dir);
  const standard = { root: join(dir, 'w'), owner: 'id', steps: noSteps, isAlone: () => false, cloneFile: copying };
  return { dir, cache, cloner: (options = {}) => new FileCloner(cache, { ...standard, ...options }) };
}

const contentOf = (text: string): Buffer => Buffer.alloc(cloneBytesMin, text);
const content = contentOf('large\n');
const blob = blobIdOf(content);
const file = { blob, isExecutable: false };

/** Puts a file in place as a workspace does. */
function put(cloner: FileCloner, at: string, bytes = content, isExecutable = false): 'cloned' | 'written' {
  const own = blobIdOf(bytes);
  if (cloner.clone({ blob: own, isExecutable }, bytes.length, at) !== undefined) return 'cloned';
  writeFileSync(at, bytes, { flag: 'wx' });
  cloner.keep(own, bytes.length, at);
  return 'written';
}

test.each(['EOPNOTSUPP', 'ENOTSUP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM', 'EACCES', 'EROFS', 'EAGAIN'])(
  '%s: all is written, after one try, and nothing is left',
  (code) => {
    const { dir, cache, cloner } = place();
    let tries = 0;
    const failing: CloneFile = (from) => {
      if (existsSync(from)) tries++;
      throw Object.assign(new Error(code), { code: existsSync(from) ? code : 'ENOENT' });
    };
    const one = cloner({ cloneFile: failing });
    for (const name of ['a', 'b', 'c']) expect(put(one, join(dir, 'w', name))).toBe('written');
    expect([tries, existsSync(cache.dir)]).toEqual([1, false]);
  },
);

test('small files, and those of a workspace that is alone, are not even tried', () => {
  const { dir, cloner } = place();
  const never: CloneFile = () => {
    throw new Error('tried');
  };
  expect(put(cloner({ cloneFile: never }), join(dir, 'w/small'), content.subarray(1))).toBe('written');
  const alone = cloner({ cloneFile: never, isAlone: () => true });
  expect([put(alone, join(dir, 'w/a')), put(alone, join(dir, 'w/b'))]).toEqual(['written', 'written']);
});

test('what is there already is told, and no bug is taken for a system that cannot clone', () => {
  const { dir, cache, cloner } = place();
  put(cloner(), join(dir, 'w/a'));
  expect(() => put(cloner(), join(dir, 'w/a'))).toThrow('EEXIST');
  const broken: CloneFile = () => {
    throw new TypeError('broken');
  };
  expect(() => put(cloner({ cloneFile: broken }), join(dir, 'w/b'))).toThrow('broken');
  rmSync(cache.dir, { recursive: true });
  writeFileSync(join(dir, 'w/b'), content);
  expect(() => cloner({ cloneFile: broken }).keep(blob, content.length, join(dir, 'w/b'))).toThrow('broken');
});

test('where there is no room for what is kept, that is done without', () => {
  const { dir, cache, cloner } = place();
  const full: CloneFile = (from, to) => {
    if (String(to).startsWith(cache.dir)) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    copying(from, to);
  };
  expect(put(cloner({ cloneFile: full }), join(dir, 'w/b'))).toBe('written');
  expect(existsSync(cache.dir)).toBe(false);
});

test('a cache that is in the way, or is deleted meanwhile, is no reason to fail', () => {
  const { dir, cache, cloner } = place();
  writeFileSync(cache.dir, 'no directory');
  expect([put(cloner(), join(dir, 'w/a')), put(cloner(), join(dir, 'w/b'))]).toEqual(['written', 'written']);
  rmSync(cache.dir);
  const deleting: CloneFile = (from, to) => {
    rmSync(cache.dir, { recursive: true, force: true });
    copying(from, to);
  };
  expect(put(cloner({ cloneFile: deleting }), join(dir, 'w/c'))).toBe('written');
  const late: CloneFile = (from, to) => {
    copying(from, to);
    rmSync(cache.dir, { recursive: true, force: true });
  };
  expect(put(cloner({ cloneFile: late }), join(dir, 'w/d'))).toBe('written');
  put(cloner(), join(dir, 'w/e'));
  // Whether what was cloned was sound is not to be known any more.
  expect(put(cloner({ cloneFile: late }), join(dir, 'w/f'))).toBe('written');
  expect(existsSync(cache.dir)).toBe(false);
});

test('a clone is as if it had been written: mode, time, bytes', () => {
  const { dir, cache, cloner } = place();
  put(cloner(), join(dir, 'w/a'));
  const source = lstatSync(cache.sourceOf(blob));
  expect([source.mode & 0o777, source.nlink]).toEqual([0o444, 1]);
  const before = process.umask(0o027);
  try {
    expect(put(cloner(), join(dir, 'w/b'))).toBe('cloned');
    expect(put(cloner(), join(dir, 'w/x'), content, true)).toBe('cloned');
  } finally {
    process.umask(before);
  }
  expect(['b', 'x'].map((name) => lstatSync(join(dir, 'w', name)).mode & 0o777)).toEqual([0o640, 0o750]);
  expect(lstatSync(join(dir, 'w/b')).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
  expect(readdirSync(join(dir, 'w/.mound'))).toEqual([]);
  // Where a clone has the time of its source.
  const keeping: CloneFile = (from, to) => {
    copying(from, to);
    const { atime, mtime } = lstatSync(from);
    utimesSync(to, atime, mtime);
  };
  expect(put(cloner({ cloneFile: keeping }), join(dir, 'w/c'))).toBe('cloned');
  expect(lstatSync(join(dir, 'w/c')).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
});

const damages: Record<string, (at: string) => void> = {
  'written to': (at) => appendFileSync(at, 'x'),
  'written over': (at) => writeFileSync(at, contentOf('other\n')),
  'cut off': (at) => writeFileSync(at, ''),
  'let be written': (at) => chmodSync(at, 0o644),
  'given a time': (at) => utimesSync(at, 1, 1),
  'a symlink': (at) => {
    writeFileSync(`${at}-other`, contentOf('other\n'));
    rmSync(at);
    symlinkSync(`${at}-other`, at);
  },
};

test.each(Object.keys(damages))('a source that is %s is not cloned, but made again', (name) => {
  const { dir, cache, cloner } = place();
  put(cloner(), join(dir, 'w/a'));
  chmodSync(cache.sourceOf(blob), 0o644);
  chmodSync(cache.sourceOf(blob), 0o444);
  damages[name]?.(cache.sourceOf(blob));
  expect([put(cloner(), join(dir, 'w/b')), put(cloner(), join(dir, 'w/c'))]).toEqual(['written', 'cloned']);
  for (const path of ['a', 'b', 'c']) expect(readFileSync(join(dir, 'w', path)).equals(content)).toBe(true);
});

test('a source whose time was set back is not cloned: it changed its state long after it was born', async ({
  skip,
}) => {
  const { dir, cache, cloner } = place();
  put(cloner(), join(dir, 'w/a'));
  const source = cache.sourceOf(blob);
  if (lstatSync(source).birthtimeMs <= 0) return skip('this file system does not tell when a file was born');
  expect(put(cloner(), join(dir, 'w/b'))).toBe('cloned');
  await new Promise((wake) => setTimeout(wake, 50));
  const { atime, mtime } = lstatSync(source);
  chmodSync(source, 0o644);
  writeFileSync(source, contentOf('other\n'));
  chmodSync(source, 0o444);
  utimesSync(source, atime, mtime);
  expect(put(cloner({ makingMs: 25 }), join(dir, 'w/c'))).toBe('written');
  expect(readFileSync(join(dir, 'w/c')).equals(content)).toBe(true);
});

test('it holds so much and no more: the oldest go, and one operation fills it once', () => {
  const { dir, cache, cloner } = place();
  const bytesMax = 4 * cloneBytesMin;
  const kept = (): string[] => readdirSync(cache.dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.c')); // prettier-ignore
  const many = cloner({ bytesMax });
  for (let at = 0; at < 6; at++) put(many, join(dir, `w/${at}`), contentOf(`content ${at}\n`));
  expect(kept()).toHaveLength(4);
  expect(put(cloner({ bytesMax }), join(dir, 'w/late'), contentOf('late\n'))).toBe('written');
  expect(kept()).toHaveLength(3);
  expect(put(cloner({ bytesMax }), join(dir, 'w/again'), contentOf('late\n'))).toBe('cloned');
  // Links do not count, and a source is none.
  expect(cache.byInode().size).toBe(0);
  expect(cache.placed(file.blob, lstatSync(join(dir, 'w/late')))).toBe(undefined);
});
