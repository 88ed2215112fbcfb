import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRepo, type Repo } from '@mound/vcs';
import { expect, test, vi } from 'vitest';
import { run, start } from './kit/process.ts';
import { agent, onCleanup, tempDir, tempRepo } from './kit/temp.ts';

const author = agent('a');
const filling = fileURLToPath(new URL('./kit/filling-writer.js', import.meta.url));
const lmdb = createRequire(import.meta.url).resolve('lmdb');
const isLinux = process.platform === 'linux';

interface Filled {
  readonly landed: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly lost: readonly string[];
  readonly ok: boolean;
}

function expectFull(stdout: string): void {
  const filled = JSON.parse(stdout) as Filled;
  expect(filled.landed).toBeGreaterThan(0);
  expect(filled).toMatchObject({ lost: [], ok: true });
  expect(Object.keys(filled.codes)).toEqual(['disk-full']);
}

test.runIf(isLinux)('a file that may not grow any more is disk-full; what was acknowledged stays', async () => {
  const script = 'ulimit -f 2000; exec "$0" "$@"';
  const { stdout, stderr } = await run('bash', ['-c', script, process.execPath, filling, tempDir(), '200000', '20']);
  expect(stderr).toBe('');
  expectFull(stdout);
});

test.runIf(isLinux)('a full disk is disk-full; with room again landing goes on', async (context) => {
  const dir = tempDir();
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', dir]).catch(() => undefined);
  if (mounted?.code !== 0) {
    console.warn('skipped: this user cannot mount a small disk');
    return context.skip();
  }
  onCleanup(() => run('umount', [dir]).then(() => undefined));
  expectFull((await run(process.execPath, [filling, dir, '200000', '20'])).stdout);
  await run('mount', ['-o', 'remount,size=30m', dir]);
  const repo = await openRepo(dir);
  expect((await repo.put('after', randomBytes(200_000), { author })).kind).toBe('landed');
  expect(repo.fsck().ok).toBe(true);
  await repo.close();
});

test('a repository opened for reading reads, and refuses to be written to', async () => {
  const dir = tempDir();
  const writing = await tempRepo(dir);
  await writing.put('a', 'one\n', { author });
  const reading = await openRepo(dir, { readOnly: true });
  onCleanup(() => reading.close());
  expect(reading.snapshot().readText('a')).toBe('one\n');
  await expect(reading.put('b', 'x\n', { author })).rejects.toMatchObject({ code: 'permission-denied' });
  await writing.put('b', 'two\n', { author });
  expect(reading.snapshot().readText('b')).toBe('two\n');
});

test.runIf(isLinux)('a process for which the reader table has no slot is told so', async () => {
  const dir = tempDir();
  await (await openRepo(dir, { create: true })).close();
  const store = join(dir, '.mound', 'store');
  rmSync(join(store, 'lock.mdb'));
  // It makes the lock file anew, with room for one reader, and reads.
  const script = `const root = require(process.argv[1]).open({ path: process.argv[2], noSubdir: false, maxReaders: 1, overlappingSync: false });
    root.get('x'); console.log('reading'); setInterval(() => root.get('x'), 5);`;
  const { child } = start(process.execPath, ['-e', script, lmdb, store]);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  await expect(openRepo(dir)).rejects.toMatchObject({ code: 'too-many-readers' });
});

const grow = async (repo: Repo, name: string): Promise<void> => {
  for (let i = 0; i < 6; i++) await repo.put(`${name}/${i}`, randomBytes(2_000_000), { author });
};

test('the map grows by itself, in the process that writes and in those that read', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  expect(repo.snapshot().list()).toEqual([]);
  const { stdout } = await run(process.execPath, [filling, dir, '2000000', '6']);
  expect(JSON.parse(stdout)).toEqual({ landed: 6, codes: {}, lost: [], ok: true });
  await grow(repo, 'own');
  const sizes = repo
    .snapshot()
    .list()
    .map(({ path }) => repo.snapshot().read(path)?.length);
  expect(sizes).toEqual(Array.from({ length: 12 }, () => 2_000_000));
});

test.runIf(isLinux)('what a killed reader read is used again', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await repo.put('a', 'x\n', { author });
  const script = `const root = require(process.argv[1]).open({ path: process.argv[2], noSubdir: false, overlappingSync: false });
    root.useReadTransaction(); root.get('x'); console.log('reading'); setInterval(() => undefined, 1000);`;
  const { child, finished } = start(process.execPath, ['-e', script, lmdb, join(dir, '.mound', 'store')]);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  child.kill('SIGKILL');
  await finished;
  const { root } = (repo as unknown as { store: { environment: { root: { readerList(): string } } } }).store
    .environment;
  const isListed = (): boolean => root.readerList().split(/\s+/).includes(String(child.pid));
  expect(isListed()).toBe(true);
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000);
  await repo.put('a', 'y\n', { author, expect: { kind: 'any' } });
  clock.mockRestore();
  expect(isListed()).toBe(false);
});

test.runIf(isLinux)('a process of another pid namespace is refused while the store is open here', async (context) => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await repo.put('a', 'x\n', { author });
  const inside = (): ReturnType<typeof run> =>
    run('unshare', ['-p', '-f', '--mount-proc', process.execPath, filling, dir, '10', '1']);
  const probe = await run('unshare', ['-p', '-f', '--mount-proc', 'true']).catch(() => undefined);
  if (probe?.code !== 0) {
    console.warn('skipped: this user cannot make a pid namespace');
    return context.skip();
  }
  const refused = await inside();
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('other-namespace');
  await repo.close();
  expect(JSON.parse((await inside()).stdout)).toMatchObject({ landed: 1 });
});

test.runIf(process.getuid?.() === 0)(
  'commands that read run where the repository cannot be written to',
  async (context) => {
    const dir = tempDir();
    chmodSync(dir, 0o755);
    const inside = join(dir, 'inside');
    mkdirSync(inside);
    const repo = await openRepo(inside, { create: true });
    await repo.put('a', 'x\n', { author });
    await repo.close();
    expect(statSync(inside).mode & 0o004).toBe(0o004);
    const mound = fileURLToPath(new URL('../packages/vcs/bin/mound.js', import.meta.url));
    const as = (args: readonly string[]): ReturnType<typeof run> =>
      run(process.execPath, [mound, '--repo', inside, ...args], { uid: 65_534, cwd: dir, input: 'y\n' });
    if ((await as(['--version'])).code !== 0) {
      console.warn('skipped: this user cannot run a child as another one');
      return context.skip();
    }
    expect(await as(['cat', 'a'])).toMatchObject({ code: 0, stdout: 'x\n' });
    expect((await as(['log'])).code).toBe(0);
    const put = await as(['put', 'b', '-m', 'm']);
    expect(put.code).toBe(1);
    expect(put.stderr).toContain('cannot be written');
  },
);
