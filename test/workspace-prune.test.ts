import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  absent,
  addWorkspace,
  openRepo,
  openWorkspace,
  pruneWorkspaces,
  type PruneReport,
  type Repo,
} from '@mound/vcs';
import { expect, test } from 'vitest';
import { mound, start } from './kit/process.ts';
import { setup, tempDir, tempRepo } from './kit/temp.ts';

const hour = 3_600_000;
const nameOf = (at: number): string => `w${String(at).padStart(3, '0')}`;
const namesOf = (list: readonly { readonly workspace: string }[]): string[] =>
  list.map(({ workspace }) => workspace).toSorted();
const whyOf = ({ kept }: PruneReport): Record<string, string> =>
  Object.fromEntries(kept.map(({ workspace, why }) => [workspace, why]));
const listed = (repo: Repo): string[] => namesOf(repo.workspaces.list().map(({ name }) => ({ workspace: name })));

/** As if nobody had used it since. */
function leave(dir: string, atMs: number): void {
  for (const place of [join(dir, '.mound', 'index'), join(dir, '.mound'), dir])
    utimesSync(place, atMs / 1000, atMs / 1000);
}

test('13 of 200 workspaces of which 10 are live a dry run names what would go, and only that goes', async () => {
  const root = tempDir();
  const repo = await tempRepo(join(root, 'repo'));
  await repo.land({
    author: setup,
    message: 'base',
    changes: [{ kind: 'put', path: 'a.txt', content: 'a\n', expect: absent }],
  });
  const now = Date.now() + 100 * hour;
  const dirOf = (at: number): string => join(root, nameOf(at));
  for (let at = 0; at < 200; at++) await addWorkspace(repo, dirOf(at));
  // Edited on disk and never looked at; edited and shelved; its directory gone, its edit shelved.
  writeFileSync(join(dirOf(0), 'a.txt'), 'edited\n');
  writeFileSync(join(dirOf(1), 'new.txt'), 'new\n');
  writeFileSync(join(dirOf(2), 'a.txt'), 'edited\n');
  for (const at of [1, 2]) {
    await (await openWorkspace(repo, dirOf(at))).shelve();
  }
  rmSync(dirOf(2), { recursive: true });
  for (let at = 0; at < 200; at++) if (at !== 2) leave(dirOf(at), now - (50 + 0.1 * (200 - at)) * hour);
  // Used an hour ago.
  for (const at of [3, 4, 5, 6, 7]) leave(dirOf(at), now - hour);
  // A process stands in them.
  for (const at of [8, 9]) {
    mkdirSync(join(dirOf(at), 'deep'));
    leave(dirOf(at), now - 60 * hour);
    const { child } = start('sleep', ['60'], { cwd: join(dirOf(at), at === 8 ? '' : 'deep') });
    await new Promise((resolve) => child.once('spawn', resolve));
  }
  const live = {
    ...Object.fromEntries([0, 1, 2].map((at) => [nameOf(at), 'has-work'])),
    ...Object.fromEntries([3, 4, 5, 6, 7].map((at) => [nameOf(at), 'recent'])),
    ...(process.platform === 'linux' && { [nameOf(8)]: 'in-use', [nameOf(9)]: 'in-use' }),
  };

  const before = listed(repo);
  const dry = await pruneWorkspaces(repo, { dryRun: true, now });
  expect(whyOf(dry)).toEqual(live);
  expect([dry.removed.length, listed(repo)]).toEqual([200 - Object.keys(live).length, before]);
  expect(namesOf(dry.removed).every((name) => existsSync(join(root, name)))).toBe(true);

  // A quota: those idle for longest go first, and no more than needed. (A look has used them since.)
  for (let at = 10; at < 200; at++) leave(dirOf(at), now - (50 + 0.1 * (200 - at)) * hour);
  leave(dirOf(0), now - 70 * hour);
  const quota = await pruneWorkspaces(repo, { keep: 150, now });
  expect(namesOf(quota.removed)).toEqual(Array.from({ length: 50 }, (_, at) => nameOf(10 + at)));
  expect(listed(repo)).toHaveLength(150);

  const all = await pruneWorkspaces(repo, { now, idleMs: 24 * hour });
  expect(whyOf(all)).toEqual(live);
  expect(listed(repo)).toEqual(Object.keys(live).toSorted());
  expect(existsSync(join(root, nameOf(60)))).toBe(false);
  expect(existsSync(join(dirOf(0), 'a.txt'))).toBe(true);
  expect((await repo.workspace(nameOf(2), { create: false })).readText('a.txt')).toBe('edited\n');
  expect(repo.fsck()).toMatchObject({ ok: true });
});

test('a workspace without files stays while the process that made it runs; the command says what goes', async () => {
  const root = tempDir();
  const repo = await tempRepo(join(root, 'repo'));
  await repo.workspace('mine');
  expect(whyOf(await pruneWorkspaces(repo, { idleMs: 0 }))).toEqual({ mine: 'in-use' });
  await repo.close();
  await mound(['--repo', join(root, 'repo'), 'workspace', 'add', join(root, 'idle')]);
  const prune = (...more: string[]): ReturnType<typeof mound> =>
    mound(['--repo', join(root, 'repo'), 'workspace', 'prune', ...more]);
  expect((await prune()).stdout).toBe('0 gone, 2 stay (1 in-use, 1 recent)\n');
  const dry = await prune('--idle', '0', '--dry-run');
  expect([dry.code, dry.stdout]).toEqual([
    0,
    expect.stringMatching(/^would remove idle .*\n1 would go, 1 stay \(1 in-use\)\n$/),
  ]);
  expect(JSON.parse((await prune('--idle', '0', '--json')).stdout)).toMatchObject({
    dryRun: false,
    removed: [{ workspace: 'idle' }],
    kept: [{ workspace: 'mine', why: 'in-use' }],
  });
  expect(existsSync(join(root, 'idle'))).toBe(false);
  expect(await prune('--idle', 'soon')).toMatchObject({ code: 2 });
  await (await openRepo(join(root, 'repo'))).close();
});
