import { setTimeout as sleep } from 'node:timers/promises';
import { absent, openRepo, version, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { indexFaults } from './kit/indexes.ts';
import { agent, onCleanup, setup, tempDir, tempRepo } from './kit/temp.ts';

const lines = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i}\n`);

async function filled(dir = tempDir()): Promise<Repo> {
  const repo = await tempRepo(dir);
  const put = (path: string, content: string) => ({ kind: 'put', path, content, expect: absent }) as const;
  const changes = [
    put('a.txt', lines(20).join('')),
    put('b.txt', 'b\n'),
    put('src/c.txt', 'c\n'),
    put('run.sh', '#!\n'),
  ];
  await repo.land({ author: setup, message: 'base', changes });
  return repo;
}

const ada = agent('ada');
const commit = { author: ada, message: 'work' };

test('a workspace reads as its snapshot with its edits, and lands them as one intent', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('a.txt', lines(20).with(3, 'three\n').join(''));
  await workspace.write('new/d.txt', 'd\n', { mode: 'executable' });
  await workspace.delete('b.txt');
  await workspace.move('src/c.txt', 'lib/c.txt');
  await workspace.chmod('run.sh', 'executable');
  expect(workspace.list()).toEqual(['a.txt', 'lib/c.txt', 'new/d.txt', 'run.sh']);
  expect(workspace.readText('lib/c.txt')).toBe('c\n');
  expect(workspace.read('b.txt')).toBeUndefined();
  expect(repo.snapshot().readText('b.txt')).toBe('b\n');
  expect(workspace.status().changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'modified a.txt',
    'deleted b.txt',
    'moved lib/c.txt',
    'added new/d.txt',
    'modified run.sh',
    'deleted src/c.txt',
  ]);
  const outcome = await workspace.commit(commit);
  expect(outcome.kind).toBe('landed');
  expect(workspace.status().changes).toEqual([]);
  expect(repo.snapshot().head('new/d.txt')?.mode).toBe('executable');
  expect(repo.snapshot().head('run.sh')?.mode).toBe('executable');
  const [view] = [...repo.log({ limit: 1 })];
  expect(view?.changes.find(({ path }) => path === 'lib/c.txt')).toMatchObject({ movedFrom: 'src/c.txt' });
  expect(workspace.list()).toEqual(repo.snapshot().list().map(({ path }) => path)); // prettier-ignore
  expect(await workspace.commit(commit)).toMatchObject({ kind: 'unchanged' });
});

test('what comes to the same as its base is no edit', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('b.txt', 'x\n');
  await workspace.write('b.txt', 'b\n');
  await workspace.write('n.txt', 'n\n');
  await workspace.delete('n.txt');
  await workspace.move('b.txt', 'bb.txt');
  await workspace.move('bb.txt', 'b.txt');
  expect(workspace.status().changes).toEqual([]);
  // Beside what was committed, too.
  await workspace.delete('b.txt');
  expect((await workspace.commit(commit)).kind).toBe('landed');
  await workspace.write('b.txt', 'again\n');
  await workspace.delete('b.txt');
  expect(workspace.status().changes).toEqual([]);
  expect(workspace.read('b.txt')).toBeUndefined();
});

test('a commit changes no other file under its workspace, and a sync brings what came since', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await repo.put('b.txt', 'theirs\n', { author: setup, expect: version(1) });
  await workspace.write('src/c.txt', 'mine\n');
  expect((await workspace.commit(commit)).kind).toBe('landed');
  expect(workspace.readText('src/c.txt')).toBe('mine\n');
  expect(workspace.readText('b.txt')).toBe('b\n');
  await workspace.write('src/c.txt', 'mine 2\n');
  expect(await workspace.sync()).toMatchObject({ seq: 3, updated: ['b.txt'], merged: [], conflicts: [] });
  expect(workspace.readText('b.txt')).toBe('theirs\n');
  expect(workspace.readText('src/c.txt')).toBe('mine 2\n');
  expect((await workspace.commit(commit)).kind).toBe('landed');
});

test('07 a sync merges edits, and one that will not merge is a local conflict that blocks its path until resolved', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('a.txt', lines(20).with(3, 'mine\n').join(''));
  await workspace.write('b.txt', 'mine\n');
  await workspace.delete('src/c.txt');
  const land = (path: string, content: string) => repo.put(path, content, { author: setup, expect: version(1) });
  await land('a.txt', lines(20).with(15, 'theirs\n').join(''));
  await land('b.txt', 'theirs\n');
  await land('src/c.txt', 'theirs\n');
  expect(await workspace.sync()).toMatchObject({ merged: ['a.txt'], conflicts: ['b.txt', 'src/c.txt'] });
  expect(workspace.readText('a.txt')).toBe(lines(20).with(3, 'mine\n').with(15, 'theirs\n').join(''));
  expect(workspace.readText('b.txt')).toBe('<<<<<<< current at 3\ntheirs\n=======\nmine\n>>>>>>> workspace w\n');
  expect(workspace.read('src/c.txt')).toBeUndefined();
  const sides = workspace.conflict('b.txt');
  expect([sides.base, sides.current, sides.incoming].map((side) => side?.content.toString())).toEqual([
    'b\n',
    'theirs\n',
    'mine\n',
  ]);
  expect(await workspace.commit(commit)).toMatchObject({
    kind: 'rejected',
    code: 'workspace-conflict',
    paths: ['b.txt', 'src/c.txt'],
  });
  expect((await workspace.commit({ ...commit, paths: ['a.txt'] })).kind).toBe('landed');
  // Another sync leaves it as it is.
  expect((await workspace.sync()).conflicts).toEqual(['b.txt', 'src/c.txt']);
  await expect(workspace.resolve('b.txt')).rejects.toMatchObject({ code: 'invalid-argument' });
  await workspace.resolve('b.txt', 'theirs and mine\n');
  await workspace.resolve('src/c.txt');
  expect((await workspace.commit(commit)).kind).toBe('landed');
  expect(repo.snapshot().readText('b.txt')).toBe('theirs and mine\n');
  expect(repo.snapshot().head('src/c.txt')).toBeUndefined();
});

test('a sync merges by the driver that .gitattributes chooses', async () => {
  const repo = await filled();
  await repo.put('.gitattributes', '*.txt merge=union\n', { author: setup });
  const workspace = await repo.workspace('w');
  await workspace.write('b.txt', 'b\nmine\n');
  await repo.put('b.txt', 'b\ntheirs\n', { author: setup, expect: version(1) });
  expect(await workspace.sync()).toMatchObject({ merged: ['b.txt'], conflicts: [] });
  expect(workspace.readText('b.txt')).toBe('b\ntheirs\nmine\n');
});

test('a moved file takes in what came at its old place', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.move('a.txt', 'z.txt');
  await repo.put('a.txt', lines(20).with(2, 'two\n').join(''), { author: setup, expect: version(1) });
  expect(await workspace.sync()).toMatchObject({ merged: ['z.txt'], conflicts: [] });
  expect(workspace.readText('z.txt')).toBe(lines(20).with(2, 'two\n').join(''));
  expect((await workspace.commit(commit)).kind).toBe('landed');
  expect(repo.snapshot().head('a.txt')).toBeUndefined();
  expect(repo.snapshot().readText('z.txt')).toContain('two\n');
});

test('a path that an edit leaves no room for is held back until there is room', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('dir/file', 'mine\n');
  await repo.put('dir', 'theirs\n', { author: setup });
  expect(await workspace.sync()).toMatchObject({ conflicts: ['dir/file'], heldBack: ['dir'] });
  expect(workspace.status().changes).toMatchObject([{ path: 'dir/file', conflict: 'path-clash' }]);
  expect(workspace.read('dir')).toBeUndefined();
  await workspace.move('dir/file', 'other');
  expect(await workspace.sync()).toMatchObject({ updated: ['dir'], heldBack: [] });
  expect(workspace.readText('dir')).toBe('theirs\n');
  expect(workspace.readText('other')).toBe('mine\n');
});

test('an edit that conflicted at landing is kept, not committed again, and what closes the conflict takes its place', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('b.txt', 'mine\n');
  await repo.put('b.txt', 'theirs\n', { author: setup, expect: version(1) });
  const outcome = await workspace.commit(commit);
  expect(outcome).toMatchObject({ kind: 'conflicted', conflict: 'c3' });
  expect(workspace.status().changes).toMatchObject([{ path: 'b.txt', kept: 'c3' }]);
  expect(await workspace.commit(commit)).toMatchObject({ kind: 'unchanged' });
  await repo.resolve('c3', {
    author: agent('m'),
    results: [{ path: 'b.txt', content: 'both\n' }],
    otherwise: { fate: 'transformed' },
  });
  expect(await workspace.sync()).toMatchObject({ updated: ['b.txt'], conflicts: [] });
  expect(workspace.readText('b.txt')).toBe('both\n');
  expect(workspace.status().changes).toEqual([]);
});

test('an edit that merged at landing leaves the merge in the workspace', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('a.txt', lines(20).with(3, 'mine\n').join(''));
  await repo.put('a.txt', lines(20).with(15, 'theirs\n').join(''), { author: setup, expect: version(1) });
  expect((await workspace.commit(commit)).kind).toBe('merged');
  expect(workspace.readText('a.txt')).toBe(lines(20).with(3, 'mine\n').with(15, 'theirs\n').join(''));
  expect(workspace.status().changes).toEqual([]);
});

test('04 05 06 workspaces never cross: shelved edits, commits, interleaved calls', async () => {
  const dir = tempDir();
  const repo = await filled(dir);
  const [one, two] = [await repo.workspace('one'), await repo.workspace('two')];
  for (let i = 0; i < 10; i++) {
    await Promise.all([one.write(`one/${i}`, `one ${i}\n`), two.write(`two/${i}`, `two ${i}\n`)]);
  }
  await Promise.all([one.write('b.txt', 'one\n'), two.write('b.txt', 'two\n')]);
  const again = await openRepo(dir);
  onCleanup(() => again.close());
  const reopened = await again.workspace('one', { create: false });
  expect(reopened.readText('b.txt')).toBe('one\n');
  expect(reopened.list('one')).toHaveLength(10);
  expect(reopened.list('two')).toEqual([]);
  const landed = await two.commit({ ...commit, paths: ['two'] });
  const [view] = [...again.log({ limit: 1 })];
  expect(view?.seq).toBe('seq' in landed ? landed.seq : 0);
  expect(view?.changes.map(({ path }) => path)).toEqual(Array.from({ length: 10 }, (_, i) => `two/${i}`));
  expect(one.status().changes).toHaveLength(11);
  expect(two.status().changes).toMatchObject([{ path: 'b.txt' }]);
});

test('a workspace is made once, refused where it is or is not, and removed only without unpublished work', async () => {
  const repo = await filled();
  await expect(repo.workspace('w', { create: false })).rejects.toMatchObject({ code: 'no-such-workspace' });
  const workspace = await repo.workspace('w', { at: 0, create: 'new' });
  await expect(repo.workspace('w', { create: 'new' })).rejects.toMatchObject({ code: 'workspace-exists' });
  await expect(repo.workspace('x', { at: 99 })).rejects.toMatchObject({ code: 'no-such-seq' });
  await expect(repo.workspace('x', { branch: 'no' })).rejects.toMatchObject({ code: 'no-such-branch' });
  await expect(repo.workspace('../x')).rejects.toMatchObject({ code: 'invalid-argument' });
  expect(workspace.list()).toEqual([]);
  await workspace.write('n.txt', 'n\n');
  await expect(repo.workspaces.remove('w')).rejects.toMatchObject({ code: 'workspace-has-work' });
  await expect(repo.workspaces.remove('w', { discard: 'v' })).rejects.toMatchObject({ code: 'workspace-has-work' });
  expect(repo.workspaces.list()).toMatchObject([{ name: 'w', seq: 0, edits: 1, conflicts: 0 }]);
  await repo.workspaces.remove('w', { discard: 'w' });
  expect(repo.workspaces.list()).toEqual([]);
  await expect(workspace.write('n.txt', 'n\n')).rejects.toMatchObject({ code: 'no-such-workspace' });
  // One of the same name starts empty.
  expect((await repo.workspace('w')).status().changes).toEqual([]);
});

test('edits of what cannot be are refused and leave nothing', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  for (const path of ['.git/config', '.GIT/x', 'git~1/x', '.git /x', 'a/../b', '/etc/x', 'a//b', 'x\0y', '']) {
    await expect(workspace.write(path, 'x')).rejects.toMatchObject({ code: 'path-refused' });
    await expect(workspace.move('b.txt', path)).rejects.toMatchObject({ code: 'path-refused' });
  }
  await expect(workspace.write('b.txt/below', 'x')).rejects.toMatchObject({ code: 'path-clash' });
  await expect(workspace.write('src', 'x')).rejects.toMatchObject({ code: 'path-clash' });
  await expect(workspace.move('b.txt', 'a.txt')).rejects.toMatchObject({ code: 'path-clash' });
  await expect(workspace.delete('none')).rejects.toMatchObject({ code: 'no-such-path' });
  expect(workspace.status().changes).toEqual([]);
});

test('40 a file becomes a directory and the other way round, in one commit', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.delete('b.txt');
  await workspace.write('b.txt/inner', 'i\n');
  await workspace.delete('src/c.txt');
  await workspace.write('src', 's\n');
  expect((await workspace.commit(commit)).kind).toBe('landed');
  expect(repo.snapshot().list().map(({ path }) => path)).toEqual(['a.txt', 'b.txt/inner', 'run.sh', 'src']); // prettier-ignore
});

test('collections, checks, backups and purges know what workspaces hold', async () => {
  const dir = tempDir();
  const repo = await filled(dir);
  const workspace = await repo.workspace('w');
  await workspace.write('secret.txt', 'a secret that nobody may read\n');
  await workspace.write('b.txt', 'mine\n');
  await repo.put('b.txt', 'theirs\n', { author: setup, expect: version(1) });
  await workspace.sync();
  // What was staged in this very millisecond is young without any grace, too.
  await sleep(2);
  expect(await repo.gc({ graceMs: 0 })).toMatchObject({ objects: 0, kept: { workspace: 3 } });
  expect(workspace.conflict('b.txt').incoming?.content.toString()).toBe('mine\n');
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  const copyDir = tempDir();
  await repo.backup(copyDir);
  const copy = await tempRepo(copyDir);
  expect((await copy.workspace('w', { create: false })).readText('secret.txt')).toContain('secret');
  await copy.close();
  const report = await repo.purge({ author: setup, reason: 'leak', containing: Buffer.from('nobody may read') });
  expect(report.mentions).toEqual([{ seq: 0, where: 'edit of secret.txt in workspace w' }]);
  expect(() => workspace.read('secret.txt')).toThrow(/purged/);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  expect(await workspace.discard(['secret.txt'])).toEqual(['secret.txt']);
  await repo.close();
  expect(await indexFaults(dir)).toEqual([]);
});
