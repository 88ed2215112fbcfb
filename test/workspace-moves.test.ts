import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { absent, addWorkspace, version, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const ada = agent('ada');
const commit = { author: ada, message: 'work' };
const text = (first: string, last = '9'): string => `${first}\n2\n3\n4\n5\n6\n7\n8\n${last}\n`;

async function filled(): Promise<Repo> {
  const repo = await tempRepo(tempDir());
  const put = (path: string) => ({ kind: 'put', path, content: text('1'), expect: absent }) as const;
  await repo.land({ author: setup, message: 'base', changes: ['dir/a', 'dir/b', 'top'].map(put) });
  return repo;
}

/** Somebody else moves the whole directory. */
async function moveDirectory(repo: Repo, names: readonly string[] = ['a', 'b']): Promise<void> {
  const { seq } = repo.snapshot();
  const changes = names.map(
    (name) => ({ kind: 'move', path: `dir/${name}`, to: `new/${name}`, expect: version(seq) }) as const,
  );
  expect((await repo.land({ author: setup, message: 'move', changes })).kind).toBe('landed');
}

const paths = (repo: Repo): string[] => repo.snapshot().list().map(({ path }) => path); // prettier-ignore

test('what is added to a directory that moved meanwhile, and what is edited there, lands where it is by now', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await moveDirectory(repo);
  await workspace.write('dir/c', 'c\n');
  await workspace.write('dir/sub/d', 'd\n');
  await workspace.write('dir/a', text('one'));
  expect((await workspace.commit(commit)).kind).toBe('merged');
  expect(paths(repo)).toEqual(['new/a', 'new/b', 'new/c', 'new/sub/d', 'top']);
  expect(repo.snapshot().readText('new/a')).toBe(text('one'));
  // The workspace has them there, too, though it does not have the rest of the directory before it is synced.
  expect(workspace.status().changes).toEqual([]);
  expect(workspace.list()).toEqual(['dir/b', 'new/a', 'new/c', 'new/sub/d', 'top']);
  expect(workspace.readText('new/a')).toBe(text('one'));
  await workspace.sync();
  expect(workspace.list()).toEqual(paths(repo));
});

test('nothing goes along with a move that the workspace has made, and seen, itself', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  for (const name of ['a', 'b']) await workspace.move(`dir/${name}`, `new/${name}`);
  await workspace.commit(commit);
  await workspace.write('dir/c', 'c\n');
  await workspace.commit(commit);
  expect(paths(repo)).toEqual(['dir/c', 'new/a', 'new/b', 'top']);
  // And what it committed to a directory stays there when it moves the rest away.
  const other = await repo.workspace('other');
  await other.write('new/keep', 'keep\n');
  await other.commit(commit);
  for (const name of ['a', 'b']) await other.move(`new/${name}`, `far/${name}`);
  await other.commit(commit);
  expect(paths(repo)).toEqual(['dir/c', 'far/a', 'far/b', 'new/keep', 'top']);
});

test('a file where a directory came meanwhile is a conflict that keeps both', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await repo.put('x/y', 'y\n', { author: setup, message: 'x/y' });
  await workspace.write('x', 'x\n');
  expect(await workspace.commit(commit)).toMatchObject({ kind: 'conflicted', paths: ['x'] });
  expect(repo.conflicts()).toHaveLength(1);
});

test('a sync takes edits along to where their files moved', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('dir/a', text('one'));
  await workspace.delete('dir/b');
  await workspace.write('dir/c', 'c\n');
  await moveDirectory(repo);
  await repo.put('new/a', text('1', 'nine'), { author: setup, message: 'edit', expect: version(repo.snapshot().seq) });
  expect(await workspace.sync()).toMatchObject({ merged: ['new/a'], conflicts: [], heldBack: [] });
  expect(workspace.status().changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'modified new/a',
    'deleted new/b',
    'added new/c',
  ]);
  expect(workspace.readText('new/a')).toBe(text('one', 'nine'));
  expect(workspace.list()).toEqual(['new/a', 'new/c', 'top']);
  expect((await workspace.commit(commit)).kind).toBe('landed');
  expect(paths(repo)).toEqual(['new/a', 'new/c', 'top']);
});

test('an edit that does not merge where its file moved, and a deletion of what was edited there, are local conflicts', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('dir/a', text('one'));
  await workspace.delete('dir/b');
  await moveDirectory(repo);
  for (const name of ['a', 'b']) {
    const seen = version(repo.snapshot().seq);
    await repo.put(`new/${name}`, text('uno'), { author: setup, message: 'edit', expect: seen });
  }
  expect(await workspace.sync()).toMatchObject({ conflicts: ['new/a', 'new/b'] });
  const sides = (path: string): (string | undefined)[] => {
    const { base, current, incoming } = workspace.conflict(path);
    return [base, current, incoming].map((side) => side?.content.toString());
  };
  expect(sides('new/a')).toEqual([text('1'), text('uno'), text('one')]);
  expect(sides('new/b')).toEqual([text('1'), text('uno'), undefined]);
  expect(workspace.conflict('new/b').reason).toBe('rename-delete');
  await workspace.resolve('new/a', text('one, uno'));
  await workspace.resolve('new/b', null);
  expect((await workspace.commit(commit)).kind).toBe('landed');
  expect(paths(repo)).toEqual(['new/a', 'top']);
});

test('a name that is taken where a file moved keeps the edit where it is', async () => {
  const repo = await filled();
  const workspace = await repo.workspace('w');
  await workspace.write('dir/a', text('one'));
  await workspace.write('new/a', 'mine\n');
  await moveDirectory(repo);
  const { conflicts } = await workspace.sync();
  expect(conflicts).toContain('dir/a');
  expect(workspace.readText('dir/a')).toBe(text('one'));
  expect(workspace.conflict('new/a').incoming?.content.toString()).toBe('mine\n');
});

test('files on disk go along, at a commit and at a sync', async () => {
  const repo = await filled();
  const dir = join(tempDir(), 'w');
  const { directory } = await addWorkspace(repo, dir);
  writeFileSync(join(dir, 'dir/c'), 'c\n');
  writeFileSync(join(dir, 'dir/a'), text('one'));
  await moveDirectory(repo);
  expect((await directory.commit(commit)).kind).toBe('merged');
  const there = (path: string): string | undefined =>
    existsSync(join(dir, path)) ? readFileSync(join(dir, path), 'utf8') : undefined;
  expect(['dir/a', 'dir/c', 'new/a', 'new/c'].map(there)).toEqual([undefined, undefined, text('one'), 'c\n']);
  expect((await directory.status()).changes).toEqual([]);
  await directory.sync();
  expect(['dir/b', 'new/b'].map(there)).toEqual([undefined, text('1')]);

  writeFileSync(join(dir, 'new/b'), text('bee'));
  writeFileSync(join(dir, 'new/d'), 'd\n');
  const { seq } = repo.snapshot();
  const changes = ['a', 'b', 'c'].map(
    (name) => ({ kind: 'move', path: `new/${name}`, to: `far/${name}`, expect: version(seq) }) as const,
  );
  await repo.land({ author: setup, message: 'move', changes });
  await directory.sync();
  expect(['new/b', 'new/d', 'far/a', 'far/b', 'far/d'].map(there)).toEqual([
    undefined,
    undefined,
    text('one'),
    text('bee'),
    'd\n',
  ]);
  expect((await directory.status()).changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'modified far/b',
    'added far/d',
  ]);
  expect((await directory.commit(commit)).kind).toBe('landed');
  expect(paths(repo)).toEqual(['far/a', 'far/b', 'far/c', 'far/d', 'top']);
});
