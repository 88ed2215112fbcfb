import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { absent, addWorkspace, openRepo, removeWorkspace, version, type Change } from '@mound/vcs';
import { expect, test } from 'vitest';
import { mound, run, start, type Finished } from './kit/process.ts';
import { setup, tempDir, tempRepo } from './kit/temp.ts';

const json = ({ stdout }: Finished): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;
const script = (name: string): string => join(import.meta.dirname, 'kit', name);

async function made(count = 3): Promise<string> {
  const dir = join(tempDir(), 'repo');
  const repo = await tempRepo(dir);
  const changes = Array.from({ length: count }, (_, i): Change => ({
    kind: 'put',
    path: `src/${i}.txt`,
    content: `file ${i}\n`,
    expect: absent,
  }));
  await repo.land({ author: setup, message: 'base', changes });
  await repo.close();
  return dir;
}

test('add, status, diff, commit, sync, shelve, remove from the shell', async () => {
  const repo = await made();
  const dir = join(repo, '../w');
  const there = (...args: string[]): Promise<Finished> => mound([...args, '--json'], { cwd: join(dir, 'src') });
  const added = await mound(['--repo', repo, 'workspace', 'add', dir, '--json']);
  expect(json(added)).toMatchObject({ workspace: 'w', seq: 1, files: 3, skipped: [], collisions: [] });
  expect(json(await there('status'))).toEqual({ workspace: 'w', seq: 1, changes: [], refused: [] });
  writeFileSync(join(dir, 'src/0.txt'), 'edited\n');
  writeFileSync(join(dir, 'src/new.txt'), 'new\n');
  writeFileSync(join(dir, 'top.txt'), 'top\n');
  expect(json(await there('status'))['changes']).toMatchObject([
    { path: 'src/0.txt', kind: 'modified', base: 1 },
    { path: 'src/new.txt', kind: 'added', base: 0 },
    { path: 'top.txt', kind: 'added' },
  ]);
  const patch = await mound(['diff', '--path', '.'], { cwd: join(dir, 'src') });
  expect(patch.stdout).toContain('-file 0\n+edited\n');
  expect(patch.stdout).not.toContain('top.txt');
  const committed = await there('commit', '-m', 'work', '.');
  expect(json(committed)).toMatchObject({ outcome: 'landed', seq: 2 });
  expect(json(await there('status'))['changes']).toMatchObject([{ path: 'top.txt' }]);
  // Other commands find the repository of the workspace that they run in.
  const entries = json(await there('log'))['entries'] as { changes: { path: string }[] }[];
  expect(entries[0]?.changes.map(({ path }) => path)).toEqual(['src/0.txt', 'src/new.txt']);

  const put = (text: string, seen: string): Promise<Finished> =>
    mound(['--repo', repo, 'put', 'src/0.txt', '-m', 'm', '--expect', seen, '--json'], { input: text });
  await put('theirs\n', '2');
  writeFileSync(join(dir, 'src/0.txt'), 'mine\n');
  const stale = await there('commit', '-m', 'stale', '0.txt', '--on-stale', 'reject');
  expect([stale.code, json(stale)]).toMatchObject([4, { outcome: 'rejected', code: 'stale' }]);
  const synced = await there('sync');
  expect([synced.code, json(synced)]).toMatchObject([
    3,
    { from: 1, seq: 3, changes: [{ path: 'src/0.txt', kind: 'conflict' }] },
  ]);
  const blocked = await there('commit', '-m', 'blocked');
  expect([blocked.code, json(blocked)]).toMatchObject([4, { code: 'workspace-conflict' }]);
  expect((await there('workspace', 'resolve', '0.txt')).code).toBe(2);
  writeFileSync(join(dir, 'src/0.txt'), 'theirs and mine\n');
  expect((await there('workspace', 'resolve', '0.txt')).code).toBe(0);
  writeFileSync(join(dir, 'src/1.txt'), 'taken back\n');
  expect(json(await there('workspace', 'discard', '1.txt'))).toMatchObject({ discarded: ['src/1.txt'] });
  expect(readFileSync(join(dir, 'src/1.txt'), 'utf8')).toBe('file 1\n');
  expect(json(await there('shelve'))['changes']).toHaveLength(2);
  const list = json(await mound(['--repo', repo, 'workspace', 'list', '--json']));
  expect(list['workspaces']).toMatchObject([{ workspace: 'w', seq: 3, dir, edits: 2, conflicts: 0 }]);
  const kept = await mound(['--repo', repo, 'workspace', 'remove', 'w', '--json']);
  expect([kept.code, json(kept)]).toMatchObject([1, { error: 'workspace-has-work' }]);
  expect((await there('commit', '-m', 'the rest')).code).toBe(0);
  expect((await mound(['--repo', repo, 'workspace', 'remove', dir])).code).toBe(0);
  expect(existsSync(dir)).toBe(false);

  const outside = await mound(['status', '--json'], { cwd: repo });
  expect([outside.code, json(outside)]).toMatchObject([42, { error: 'not-a-workspace' }]);
  const nowhere = await mound(['--repo', repo, 'commit', '-m', 'm', '../x'], { cwd: repo });
  expect(nowhere.code).toBe(42);
});

test('01 a workspace that edits what a peer has changed meanwhile loses neither', async () => {
  const repo = await made();
  const [one, two] = [join(repo, '../one'), join(repo, '../two')];
  for (const dir of [one, two]) expect((await mound(['--repo', repo, 'workspace', 'add', dir])).code).toBe(0);
  writeFileSync(join(one, 'src/0.txt'), 'one\nfile 0\n');
  writeFileSync(join(two, 'src/0.txt'), 'two\nfile 0\n');
  expect((await mound(['commit', '-m', 'one'], { cwd: one })).code).toBe(0);
  const clash = await mound(['commit', '-m', 'two', '--json'], { cwd: two });
  expect([clash.code, json(clash)]).toMatchObject([3, { outcome: 'conflicted', conflict: 'c3' }]);
  expect((await mound(['--repo', repo, 'cat', 'src/0.txt'])).stdout).toBe('one\nfile 0\n');
  expect(json(await mound(['status', '--json'], { cwd: two }))['changes']).toMatchObject([{ kept: 'c3' }]);
});

test('02 workspaces added at once from several processes are all whole, and nothing is left over', async () => {
  const repoDir = await made();
  const parent = join(repoDir, '..');
  const runs = await Promise.all(
    [0, 1, 2, 3, 4].map((n) => run(process.execPath, [script('workspace-adder.js'), repoDir, parent, `p${n}`, '10'])),
  );
  expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, '']));
  const names = readdirSync(parent).filter((name) => name !== 'repo');
  expect(names).toHaveLength(50);
  const repo = await tempRepo(repoDir);
  expect(repo.workspaces.list().filter(({ state }) => state !== 'ready')).toEqual([]);
  expect(repo.workspaces.list().map(({ name }) => name)).toEqual(names.toSorted());
  for (const name of names) expect(readdirSync(join(parent, name, 'src'))).toHaveLength(3);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('an addition that is killed is whole or gone at the next, and its name and place are free', async () => {
  const repoDir = await made(400);
  const parent = join(repoDir, '..');
  for (const waitMs of [0, 15, 60]) {
    const { child, finished } = start(process.execPath, [script('workspace-adder.js'), repoDir, parent, 'k', '30']);
    // As soon as the first files are there, and a little later each time.
    while (child.exitCode === null && !readdirSync(parent).some((name) => name.startsWith('k-'))) await sleep(2);
    await sleep(waitMs);
    child.kill('SIGKILL');
    await finished;
    const repo = await openRepo(repoDir);
    const { directory } = await addWorkspace(repo, join(parent, 'next'));
    const views = repo.workspaces.list();
    expect(views.filter(({ state }) => state !== 'ready')).toEqual([]);
    expect(readdirSync(parent).toSorted()).toEqual(['repo', ...views.map(({ name }) => name)].toSorted());
    expect((await directory.status()).changes).toEqual([]);
    for (const { name } of views) {
      expect(readdirSync(join(parent, name, 'src'))).toHaveLength(400);
      await removeWorkspace(repo, name);
    }
    await repo.close();
  }
});

test('an edit that was acknowledged is there after kill -9, and what other programs wrote is found', async () => {
  const repoDir = await made();
  const { child, finished } = start(process.execPath, [script('workspace-editor.js'), repoDir, 'w']);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  child.kill('SIGKILL');
  await finished;
  const repo = await tempRepo(repoDir);
  const workspace = await repo.workspace('w', { create: false });
  expect(workspace.readText('edit.txt')).toBe('durable\n');
  const outcome = await workspace.commit({ author: setup, message: 'resumed' });
  expect(outcome.kind).toBe('landed');
});

test('a workspace in a repository, and one beneath a link, are found for what they are', async () => {
  const repo = await made();
  const inner = join(repo, 'trees/w');
  expect((await mound(['--repo', repo, 'workspace', 'add', inner])).code).toBe(0);
  expect(json(await mound(['status', '--json'], { cwd: join(inner, 'src') }))).toMatchObject({ workspace: 'w' });
  expect(json(await mound(['stats', '--json'], { cwd: join(inner, 'src') }))).toMatchObject({ seq: 1 });
  const link = join(tempDir(), 'link');
  symlinkSync(inner, link);
  writeFileSync(join(link, 'src/0.txt'), 'x\n');
  expect(json(await mound(['commit', '-m', 'm', 'src/0.txt', '--json'], { cwd: link }))).toMatchObject({
    outcome: 'landed',
  });
  rmSync(join(inner, '.mound/workspace.json'));
  mkdirSync(join(inner, '.mound'), { recursive: true });
  expect((await mound(['status'], { cwd: inner })).code).toBe(42);
});

test('versions of one path from two workspaces of one process never cross', async () => {
  const repo = await tempRepo(await made());
  const base = await repo.workspace('a', { at: 1 });
  await repo.put('src/0.txt', 'two\n', { author: setup, expect: version(1) });
  const later = await repo.workspace('b');
  expect([base.readText('src/0.txt'), later.readText('src/0.txt')]).toEqual(['file 0\n', 'two\n']);
});
