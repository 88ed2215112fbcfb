import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { seededRandom } from '../core/ports.ts';
import { nameOfShared, systemPlace, type Place } from './place.ts';
import { Store } from './store.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function setup(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'mound-place-'));
  cleanups.push(() => rmSync(dir, { recursive: true }));
  await (await Store.create(dir, seededRandom(1))).close();
  return dir;
}

async function open(dir: string, place: Place): Promise<Store> {
  const store = await Store.open(dir, { place });
  cleanups.push(() => store.close());
  return store;
}

const placeIn = (pidNamespace: string, bootId = 'boot'): Place => ({
  pidNamespace: () => pidNamespace,
  bootId: () => bootId,
  sharedFileSystem: () => undefined,
});

test('a store that is open in another pid namespace is refused, until that is closed', async () => {
  const dir = await setup();
  const first = await open(dir, placeIn('1'));
  await open(dir, placeIn('1'));
  await expect(open(dir, placeIn('2'))).rejects.toMatchObject({
    code: 'other-namespace',
    fields: { theirs: '1', namespace: '2' },
    message: expect.stringContaining('mound serve') as string,
  });
  expect(readdirSync(join(dir, '.mound', 'open'))).toHaveLength(2);
  await first.close();
  await cleanups.pop()?.();
  await open(dir, placeIn('2'));
});

test('what a namespace left behind that is gone keeps nobody out', async () => {
  const dir = await setup();
  const path = join(dir, '.mound', 'open', '7-7-0-1');
  writeFileSync(path, 'boot 1\n');
  await expect(open(dir, placeIn('2'))).rejects.toMatchObject({ code: 'other-namespace' });
  const minutesAgo = new Date(Date.now() - 10 * 60_000);
  utimesSync(path, minutesAgo, minutesAgo);
  await (await open(dir, placeIn('2'))).close();
  writeFileSync(path, 'an-earlier-boot 1\n');
  await open(dir, placeIn('2'));
});

test('a file system that several machines share is refused by name', async () => {
  const dir = await setup();
  const place = { ...placeIn('1'), sharedFileSystem: () => 'NFS' };
  await expect(open(dir, place)).rejects.toMatchObject({ code: 'shared-file-system', fields: { fileSystem: 'NFS' } });
});

test.each([
  [0x6969, undefined, 'NFS'],
  [0xff534d42 | 0, undefined, 'CIFS'],
  [0x01021997, undefined, '9p'],
  [0x65735546, 'fuse.sshfs', 'fuse.sshfs'],
  [0x65735546, 'virtiofs', 'virtiofs'],
  [0x65735546, undefined, 'FUSE'],
  [0x65735546, 'fuse.fuse-overlayfs', undefined],
  [0x65735546, 'fuseblk', undefined],
  [0xef53, undefined, undefined],
  [0x01021994, undefined, undefined],
  [0x794c7630, undefined, undefined],
  [0x9123683e, undefined, undefined],
])('file system 0x%s mounted as %s is %s', (type, mounted, name) => {
  expect(nameOfShared(type, () => mounted)).toBe(name);
});

test('this machine tells its place', () => {
  expect(systemPlace.sharedFileSystem(tmpdir())).toBeUndefined();
  if (process.platform !== 'linux') return;
  expect(systemPlace.pidNamespace()).toMatch(/^\d+$/);
  expect(systemPlace.bootId()).toMatch(/^[0-9a-f-]{36}$/);
});
