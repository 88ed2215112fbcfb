import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { addWorkspace, openWorkspace, removeWorkspace, version, type Change, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { agent, newFile, setup, tempDir, tempRepo } from './kit/temp.ts';

const lines = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i}\n`);

const tree = [
  newFile('a.txt', lines(20).join('')),
  newFile('b.txt', 'b\n'),
  newFile('src/c.txt', 'c\n'),
  newFile('src/deep/d.txt', 'd\n'),
  newFile('run.sh', '#!/bin/sh\n', { mode: 'executable' }),
  newFile('link', 'src/c.txt', { mode: 'symlink' }),
  newFile('empty', ''),
];

async function filled(changes: readonly Change[] = tree): Promise<{ repo: Repo; dir: string }> {
  const base = tempDir();
  const repo = await tempRepo(join(base, 'repo'));
  await repo.land({ author: setup, message: 'base', changes });
  return { repo, dir: join(base, 'w') };
}

const commit = { author: agent('ada'), message: 'work' };
const kinds = (changes: readonly { kind: string; path: string }[]): string[] =>
  changes.map(({ kind, path }) => `${kind} ${path}`);

/** Every file below a directory but Mound's own, with mode and content. */
function filesIn(dir: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory() || path.startsWith(join(dir, '.mound'))) continue;
    const name = path.slice(dir.length + 1);
    files[name] = entry.isSymbolicLink()
      ? `-> ${readlinkSync(path)}`
      : `${(lstatSync(path).mode & 0o100) === 0 ? '' : 'x '}${readFileSync(path, 'utf8')}`;
  }
  return files;
}

test('a workspace is put in place, edited by whatever program, and commits what changed', async () => {
  const { repo, dir } = await filled();
  const { directory, ...added } = await addWorkspace(repo, dir);
  expect(added).toMatchObject({ name: 'w', seq: 1, files: 7, skipped: [], collisions: [] });
  expect(filesIn(dir)).toMatchObject({
    'src/c.txt': 'c\n',
    'run.sh': 'x #!/bin/sh\n',
    link: '-> src/c.txt',
    empty: '',
  });
  expect(await directory.status()).toMatchObject({ workspace: 'w', seq: 1, changes: [], refused: [] });

  writeFileSync(join(dir, 'b.txt'), 'B\n');
  writeFileSync(join(dir, 'new.txt'), 'n\n');
  chmodSync(join(dir, 'src/c.txt'), 0o755);
  rmSync(join(dir, 'link'));
  symlinkSync('b.txt', join(dir, 'link'));
  rmSync(join(dir, 'run.sh'));
  renameSync(join(dir, 'a.txt'), join(dir, 'moved.txt'));
  expect(kinds((await directory.status()).changes)).toEqual([
    'deleted a.txt',
    'modified b.txt',
    'modified link',
    'added moved.txt',
    'added new.txt',
    'deleted run.sh',
    'modified src/c.txt',
  ]);
  const changes = await directory.changes();
  expect(changes.find(({ path }) => path === 'b.txt')).toMatchObject({ before: { mode: 'file' } });
  const outcome = await directory.commit(commit);
  expect(outcome.kind).toBe('landed');
  const snapshot = repo.snapshot();
  expect(snapshot.readText('b.txt')).toBe('B\n');
  expect(snapshot.head('src/c.txt')?.mode).toBe('executable');
  expect(snapshot.head('link')?.mode).toBe('symlink');
  expect(snapshot.readText('link')).toBe('b.txt');
  const [view] = [...repo.log({ limit: 1 })];
  expect(view?.changes.find(({ path }) => path === 'moved.txt')).toMatchObject({ movedFrom: 'a.txt' });
  expect((await directory.status()).changes).toEqual([]);
  expect(await directory.commit(commit)).toMatchObject({ kind: 'unchanged' });
});

test('03 reopened without an edit, a landed commit and an untracked file are both still there', async () => {
  const { repo, dir } = await filled();
  const { directory } = await addWorkspace(repo, dir);
  writeFileSync(join(dir, 'landed.txt'), 'l\n');
  expect((await directory.commit(commit)).kind).toBe('landed');
  writeFileSync(join(dir, 'untracked.txt'), 'u\n');
  for (let i = 0; i < 2; i++) {
    const again = await openWorkspace(repo, dir);
    await again.close();
    expect(filesIn(dir)).toMatchObject({ 'landed.txt': 'l\n', 'untracked.txt': 'u\n' });
    expect(kinds((await again.status()).changes)).toEqual(['added untracked.txt']);
  }
  expect(repo.snapshot().readText('landed.txt')).toBe('l\n');
  // Closed: the edit is a row.
  expect((await repo.workspace('w', { create: false })).readText('untracked.txt')).toBe('u\n');
});

test('a commit takes only what is named; a sync brings what came, merges edits and marks what will not merge', async () => {
  const { repo, dir } = await filled();
  const { directory } = await addWorkspace(repo, dir);
  writeFileSync(join(dir, 'a.txt'), lines(20).with(3, 'mine\n').join(''));
  writeFileSync(join(dir, 'b.txt'), 'mine\n');
  writeFileSync(join(dir, 'src/c.txt'), 'mine\n');
  rmSync(join(dir, 'empty'));
  writeFileSync(join(dir, 'both.txt'), 'same\n');
  const other = await repo.workspace('other');
  await other.write('a.txt', lines(20).with(15, 'theirs\n').join(''));
  await other.write('b.txt', 'theirs\n');
  await other.delete('src/deep/d.txt');
  await other.write('src/new/e.txt', 'e\n', { mode: 'executable' });
  await other.write('both.txt', 'same\n');
  await other.write('empty', 'not any more\n');
  expect((await other.commit(commit)).kind).toBe('landed');
  expect((await directory.commit({ ...commit, paths: ['src'] })).kind).toBe('landed');
  const [view] = [...repo.log({ limit: 1 })];
  expect(view?.changes.map(({ path }) => path)).toEqual(['src/c.txt']);
  expect(existsSync(join(dir, 'src/deep/d.txt'))).toBe(true);

  const report = await directory.sync();
  expect(report).toMatchObject({ seq: 3, merged: ['a.txt', 'both.txt'], conflicts: ['b.txt', 'empty'], heldBack: [] });
  expect(report.updated).toEqual(['src/deep/d.txt', 'src/new/e.txt']);
  expect(filesIn(dir)).toEqual({
    'a.txt': lines(20).with(3, 'mine\n').with(15, 'theirs\n').join(''),
    'b.txt': '<<<<<<< current at 2\ntheirs\n=======\nmine\n>>>>>>> workspace w\n',
    'both.txt': 'same\n',
    link: '-> src/c.txt',
    'run.sh': 'x #!/bin/sh\n',
    'src/c.txt': 'mine\n',
    'src/new/e.txt': 'x e\n',
  });
  expect(existsSync(join(dir, 'src/deep'))).toBe(false);
  expect((await directory.status()).changes).toMatchObject([
    { path: 'a.txt', kind: 'modified' },
    { path: 'b.txt', conflict: 'content' },
    { path: 'empty', kind: 'deleted', conflict: 'modify/delete' },
  ]);
  expect(await directory.commit(commit)).toMatchObject({ kind: 'rejected', code: 'workspace-conflict' });
  await expect(directory.resolve('b.txt')).rejects.toMatchObject({ code: 'invalid-argument' });
  writeFileSync(join(dir, 'b.txt'), 'theirs and mine\n');
  await directory.resolve('b.txt');
  await directory.resolve('empty');
  expect((await directory.commit(commit)).kind).toBe('landed');
  expect((await directory.status()).changes).toEqual([]);
  expect(repo.snapshot().head('empty')).toBeUndefined();
});

test('a merge at landing comes into the file', async () => {
  const { repo, dir } = await filled();
  const { directory } = await addWorkspace(repo, dir);
  writeFileSync(join(dir, 'a.txt'), lines(20).with(3, 'mine\n').join(''));
  await repo.put('a.txt', lines(20).with(15, 'theirs\n').join(''), { author: setup, expect: version(1) });
  expect((await directory.commit(commit)).kind).toBe('merged');
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe(lines(20).with(3, 'mine\n').with(15, 'theirs\n').join(''));
  expect((await directory.status()).changes).toEqual([]);
});

test('an edit of the same size at the same time is found: nothing is taken for clean that is not', async () => {
  const { repo, dir } = await filled();
  const { directory } = await addWorkspace(repo, dir);
  const path = join(dir, 'b.txt');
  const { mtime } = lstatSync(path);
  writeFileSync(path, 'x\n');
  utimesSync(path, mtime, mtime);
  expect(kinds((await directory.status()).changes)).toEqual(['modified b.txt']);
  for (let i = 0; i < 20; i++) {
    writeFileSync(path, `${i % 10}\n`);
    await directory.shelve();
    writeFileSync(path, `${(i + 1) % 10}\n`);
    await directory.shelve();
    expect((await repo.workspace('w')).readText('b.txt')).toBe(`${(i + 1) % 10}\n`);
  }
});

test('40 files become directories and the other way round, here and there', async () => {
  const { repo, dir } = await filled();
  const { directory } = await addWorkspace(repo, dir);
  const theirs = (await addWorkspace(repo, `${dir}2`)).directory;
  rmSync(join(dir, 'b.txt'));
  mkdirSync(join(dir, 'b.txt'));
  writeFileSync(join(dir, 'b.txt/inner'), 'i\n');
  rmSync(join(dir, 'src'), { recursive: true });
  symlinkSync('b.txt', join(dir, 'src'));
  rmSync(join(dir, 'link'));
  mkdirSync(join(dir, 'link'));
  writeFileSync(join(dir, 'link/x'), 'x\n');
  expect((await directory.commit(commit)).kind).toBe('landed');
  expect(await theirs.sync()).toMatchObject({ conflicts: [], heldBack: [] });
  expect(filesIn(`${dir}2`)).toEqual(filesIn(dir));
  expect((await theirs.status()).changes).toEqual([]);
  rmSync(join(`${dir}2`, 'b.txt'), { recursive: true });
  writeFileSync(join(`${dir}2`, 'b.txt'), 'file again\n');
  expect((await theirs.commit(commit)).kind).toBe('landed');
  expect(await directory.sync()).toMatchObject({ conflicts: [], heldBack: [] });
  expect(filesIn(dir)).toEqual(filesIn(`${dir}2`));
});

test('a symlink is never followed out: neither read as a directory, nor written through', async () => {
  const { repo, dir } = await filled();
  const { directory } = await addWorkspace(repo, dir);
  const outside = join(dir, '../outside');
  mkdirSync(join(outside, 'deep'), { recursive: true });
  writeFileSync(join(outside, 'c.txt'), 'outside\n');
  rmSync(join(dir, 'src'), { recursive: true });
  symlinkSync('../outside', join(dir, 'src'));
  await repo.put('src/c.txt', 'theirs\n', { author: setup, expect: version(1) });
  await repo.put('src/new.txt', 'theirs\n', { author: setup });
  const report = await directory.sync();
  expect(readFileSync(join(outside, 'c.txt'), 'utf8')).toBe('outside\n');
  expect(readdirSync(outside)).toEqual(['c.txt', 'deep']);
  expect(report.heldBack).toEqual(['src/new.txt']);
  expect(lstatSync(join(dir, 'src')).isSymbolicLink()).toBe(true);
  expect((await directory.status()).changes.map(({ path, conflict }) => [path, conflict])).toEqual([
    ['src', 'path-clash'],
    ['src/c.txt', 'modify/delete'],
    ['src/deep/d.txt', undefined],
  ]);
});

test('.gitignore hides what is new, never what is tracked; other workspaces and repositories are left alone', async () => {
  const { repo, dir } = await filled([
    ...tree,
    newFile('.gitignore', '*.log\n/build/\n!keep.log\n'),
    newFile('build/kept.txt', 'k\n'),
  ]);
  const { directory } = await addWorkspace(repo, dir);
  mkdirSync(join(dir, 'node'));
  writeFileSync(join(dir, 'node/.gitignore'), '*\n');
  for (const name of ['x.log', 'keep.log', 'build/kept.txt', 'build/out.o', 'node/x', 'src/y.log']) {
    writeFileSync(join(dir, name), 'changed\n');
  }
  await addWorkspace(repo, join(dir, 'inner'));
  await tempRepo(join(dir, 'other-repo'));
  mkdirSync(join(dir, '.git'));
  writeFileSync(join(dir, '.git/config'), '');
  expect(kinds((await directory.status()).changes)).toEqual(['modified build/kept.txt', 'added keep.log']);
});

test('38 39 what a workspace cannot hold is told: disguises of .git, collisions, links where there are none', async () => {
  const { repo, dir } = await filled();
  const odd = (path: string, mode: 'file' | 'symlink' = 'file') => ({
    path: Buffer.from(path),
    content: Buffer.from('odd\n'),
    mode,
  });
  const names = [
    '.git/config',
    '.GIT/x',
    'git~1',
    '.git /x',
    '.git./y',
    '.git::$INDEX_ALLOCATION/x',
    '.g\u200cit/z',
    'a/../../escape',
    '/abs',
    '.mound/store/data.mdb',
    '.MOUND/x',
    'straße',
    'STRASSE',
    'ok/\u00e9',
  ];
  const common = { branch: 'main', author: setup, message: 'odd', time: 1_700_000_000_000 };
  const changes = [
    ...names.map((name) => odd(name)),
    { path: Buffer.from([0x66, 0xff]), content: Buffer.from('bytes\n'), mode: 'file' as const },
  ].map((change, at) => ({ ...change, id: String(at).padStart(40, '0'), oldId: undefined }));
  const base = 'ab'.repeat(20);
  await repo.gitMarks.add([{ seq: repo.branch('main').seq, gitId: base }]);
  const intake = repo.gitIntake();
  intake.add({ ...common, base, parents: [base], changes, raw: Buffer.from('tree\n'), gitId: '12'.repeat(20) });
  await intake.land();
  const added = await addWorkspace(repo, dir, { symlinks: false });
  expect(added.skipped.map(({ path }) => path).toSorted()).toEqual(names.slice(0, 11).toSorted());
  expect(added.collisions).toEqual([['STRASSE', 'straße']]);
  expect(readdirSync(join(dir, '..')).toSorted()).toEqual(['repo', 'w']);
  expect(readFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0x66, 0xff])]), 'utf8')).toBe('bytes\n');
  expect(readFileSync(join(dir, 'link'), 'utf8')).toBe('src/c.txt');
  expect((await added.directory.status()).changes).toEqual([]);
  // Found by reading each file, too.
  rmSync(join(dir, '.mound/index'));
  expect((await added.directory.status()).changes).toEqual([]);
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0x66, 0xff])]), 'edited\n');
  writeFileSync(join(dir, 'link'), 'b.txt');
  mkdirSync(join(dir, 'git~1'));
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0x67, 0xfe])]), 'new\n');
  const { changes: found, refused } = await added.directory.status();
  expect(kinds(found)).toEqual(['modified //hex:66ff', 'modified link']);
  expect(found[1]?.mode).toBe('symlink');
  expect(refused.map(({ path }) => path)).toEqual(['//hex:67fe']);
});

test('line ends follow .gitattributes out and in', async () => {
  const attributes = '* text=auto\n*.bat eol=crlf\n*.bin -text\n';
  const { repo, dir } = await filled([
    newFile('.gitattributes', attributes),
    newFile('a.bat', 'one\ntwo\n'),
    newFile('b.bin', 'x\r\ny\n'),
    newFile('c.txt', 'x\ny\n'),
    newFile('d.txt', 'kept\r\n'),
  ]);
  const { directory } = await addWorkspace(repo, dir);
  expect(filesIn(dir)).toMatchObject({
    'a.bat': 'one\r\ntwo\r\n',
    'b.bin': 'x\r\ny\n',
    'c.txt': 'x\ny\n',
    'd.txt': 'kept\r\n',
  });
  rmSync(join(dir, '.mound/index'));
  expect((await directory.status()).changes).toEqual([]);
  writeFileSync(join(dir, 'a.bat'), 'one\r\ntwo\r\nthree\r\n');
  writeFileSync(join(dir, 'new.txt'), 'n\r\n');
  writeFileSync(join(dir, 'd.txt'), 'kept\r\nmore\r\n');
  expect((await directory.commit(commit)).kind).toBe('landed');
  const snapshot = repo.snapshot();
  expect(snapshot.readText('a.bat')).toBe('one\ntwo\nthree\n');
  expect(snapshot.readText('new.txt')).toBe('n\n');
  expect(snapshot.readText('d.txt')).toBe('kept\r\nmore\r\n');
  await repo.put('a.bat', 'zero\none\ntwo\nthree\n', { author: setup, expect: version(2) });
  await directory.sync();
  expect(readFileSync(join(dir, 'a.bat'), 'utf8')).toBe('zero\r\none\r\ntwo\r\nthree\r\n');
  expect((await directory.status()).changes).toEqual([]);
});

test('sparse: only what the globs choose is in place, and what is not is not deleted', async () => {
  const { repo, dir } = await filled();
  const { directory, files } = await addWorkspace(repo, dir, { sparse: ['src', '*.sh'] });
  expect(files).toBe(3);
  expect(Object.keys(filesIn(dir)).toSorted()).toEqual(['run.sh', 'src/c.txt', 'src/deep/d.txt']);
  rmSync(join(dir, '.mound/index'));
  expect((await directory.status()).changes).toEqual([]);
  writeFileSync(join(dir, 'b.txt'), 'outside the globs\n');
  expect(await directory.commit(commit)).toMatchObject({ kind: 'landed' });
  expect(repo.snapshot().list()).toHaveLength(7);
  await repo.put('a.txt', 'x\n', { author: setup, expect: version(1) });
  await repo.put('src/n.txt', 'n\n', { author: setup });
  await directory.sync();
  expect(Object.keys(filesIn(dir)).toSorted()).toEqual(['b.txt', 'run.sh', 'src/c.txt', 'src/deep/d.txt', 'src/n.txt']);
});

test('a workspace goes only with its unpublished work named, and what is no workspace is told', async () => {
  const { repo, dir } = await filled();
  const { directory } = await addWorkspace(repo, dir);
  await expect(addWorkspace(repo, dir)).rejects.toMatchObject({ code: 'invalid-argument' });
  await expect(addWorkspace(repo, `${dir}3`, { name: 'w' })).rejects.toMatchObject({ code: 'workspace-exists' });
  expect(existsSync(`${dir}3`)).toBe(false);
  await expect(repo.workspaces.remove('w')).rejects.toMatchObject({ code: 'workspace-has-files' });
  await expect((await repo.workspace('w')).write('x', 'x')).rejects.toMatchObject({ code: 'workspace-has-files' });
  await expect(openWorkspace(repo, tempDir())).rejects.toMatchObject({ code: 'not-a-workspace' });
  writeFileSync(join(dir, 'work.txt'), 'w\n');
  await expect(removeWorkspace(repo, 'w')).rejects.toMatchObject({
    code: 'workspace-has-work',
    fields: { changes: 1 },
  });
  expect(existsSync(join(dir, 'work.txt'))).toBe(true);
  expect(await directory.discard(['work.txt'])).toEqual(['work.txt']);
  expect(existsSync(join(dir, 'work.txt'))).toBe(false);
  await removeWorkspace(repo, 'w');
  expect(existsSync(dir)).toBe(false);
  expect(repo.workspaces.list()).toEqual([]);
  const again = await addWorkspace(repo, dir);
  writeFileSync(join(dir, 'work.txt'), 'w\n');
  renameSync(dir, `${dir}-moved`);
  const moved = await openWorkspace(repo, `${dir}-moved`);
  expect(kinds((await moved.status()).changes)).toEqual(['added work.txt']);
  await removeWorkspace(repo, again.name, { discard: 'w' });
  expect(readdirSync(join(dir, '..'))).toEqual(['repo']);
});

test('200 workspaces at once: made, edited, synced and committed side by side, none sees another', async () => {
  const { repo, dir } = await filled([newFile('shared', lines(400).join(''))]);
  const count = 200;
  const added = await Promise.all(
    Array.from({ length: count }, async (_, at) => (await addWorkspace(repo, `${dir}-${at}`)).directory),
  );
  expect(repo.workspaces.list()).toHaveLength(count);
  for (const [at, directory] of added.entries()) {
    // Each a line of its own in a file that all edit; the lines between keep them apart.
    const edited = lines(400)
      .with(2 * at, `by ${at}\n`)
      .join('');
    writeFileSync(join(directory.dir, 'shared'), edited);
  }
  const outcomes = await Promise.all(added.map((directory) => directory.commit(commit)));
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['landed', 'merged']));
  await Promise.all(added.map((directory) => directory.sync()));
  const all = lines(400)
    .map((line, at) => (at % 2 === 0 ? `by ${at / 2}\n` : line))
    .join('');
  expect(repo.snapshot().readText('shared')).toBe(all);
  for (const directory of added) {
    expect(readFileSync(join(directory.dir, 'shared'), 'utf8')).toBe(all);
  }
  expect(repo.fsck().errors).toEqual([]);
}, 60_000);
