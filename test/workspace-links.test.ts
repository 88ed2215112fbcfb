import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  addWorkspace,
  openRepo,
  openWorkspace,
  pruneWorkspaces,
  removeWorkspace,
  version,
  type Change,
  type Repo,
  type WorkspaceDirectory,
} from '@mound/vcs';
import { expect, test } from 'vitest';
import { mound, run, start } from './kit/process.ts';
import { agent, newFile, setup, tempDir, tempRepo } from './kit/temp.ts';

const tree = [
  newFile('a.txt', 'a\n'),
  newFile('b.txt', 'b\n'),
  newFile('src/same.txt', 'a\n'),
  newFile('run.sh', '#!/bin/sh\n', { mode: 'executable' }),
  newFile('link', 'a.txt', { mode: 'symlink' }),
  newFile('empty', ''),
];
const plainFiles = ['a.txt', 'b.txt', 'src/same.txt', 'run.sh', 'empty'];

interface Linked {
  readonly repo: Repo;
  readonly base: string;
  readonly add: (name: string) => Promise<WorkspaceDirectory>;
}

async function linked(changes: readonly Change[] = tree): Promise<Linked> {
  const base = tempDir();
  const repo = await tempRepo(join(base, 'repo'));
  await repo.land({ author: setup, message: 'base', changes });
  const add = async (name: string): Promise<WorkspaceDirectory> =>
    (await addWorkspace(repo, join(base, name), { links: true })).directory;
  return { repo, base, add };
}

const commit = { author: agent('ada'), message: 'work' };
const read = ({ dir }: WorkspaceDirectory, path: string): string => readFileSync(join(dir, path), 'utf8');
const statIn = ({ dir }: WorkspaceDirectory, path: string): Stats => lstatSync(join(dir, path));
const filesDir = (repo: Repo): string => join(repo.dir, '.mound/files');
const cached = (repo: Repo, dir = filesDir(repo)): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => lstatSync(join(dir, name)).isFile());

/** What `status` says, a line a path. */
async function changesOf(directory: WorkspaceDirectory): Promise<string[]> {
  const { changes } = await directory.status();
  return changes.map(({ path, kind, conflict }) => `${conflict ?? kind} ${path}`);
}

/** As a program does that opens the file and writes, as root or with a mode that it has changed. */
function writeThrough(directory: WorkspaceDirectory, path: string, text: string): void {
  const at = join(directory.dir, path);
  const { mode } = lstatSync(at);
  chmodSync(at, mode | 0o200);
  appendFileSync(at, text);
  chmodSync(at, mode);
}

/** As an editor does that writes beside and renames. */
function replace({ dir }: WorkspaceDirectory, path: string, content: string): void {
  writeFileSync(join(dir, 'beside'), content);
  renameSync(join(dir, 'beside'), join(dir, path));
}

test('files are links to read-only ones that workspaces share, where their bytes are those of the repo', async () => {
  const crlf = [newFile('.gitattributes', '*.bat text eol=crlf\n'), newFile('x.bat', 'x\n'), newFile('y.bat', 'y', { mode: 'executable' })]; // prettier-ignore
  const { repo, base, add } = await linked([...tree, ...crlf]);
  const added = await addWorkspace(repo, join(base, 'one'), { links: true });
  expect(added).toMatchObject({ files: 9, linked: 6, skipped: [] });
  const [one, two] = [added.directory, await add('two')];
  for (const path of plainFiles) {
    expect([path, statIn(one, path).ino]).toEqual([path, statIn(two, path).ino]);
    expect(statIn(one, path).mode & 0o777).toBe(path === 'run.sh' ? 0o555 : 0o444);
    expect(statIn(one, path).mtimeMs).toBeLessThan(Date.now() - 86_400_000);
  }
  // Equal contents are one file; other contents have another time.
  expect(statIn(one, 'a.txt').ino).toBe(statIn(one, 'src/same.txt').ino);
  expect(statIn(one, 'a.txt').mtimeMs).not.toBe(statIn(one, 'b.txt').mtimeMs);
  expect(read(one, 'x.bat')).toBe('x\r\n');
  expect([statIn(one, 'x.bat').nlink, statIn(one, 'y.bat').nlink, statIn(one, 'link').nlink]).toEqual([1, 1, 1]);
  expect([await changesOf(one), await changesOf(two)]).toEqual([[], []]);
  const plain = await addWorkspace(repo, join(base, 'plain'));
  expect(plain.linked).toBe(0);
  expect(statIn(plain.directory, 'a.txt').nlink).toBe(1);
});

test('an editor that replaces a file breaks its link: a plain edit, which nobody else sees', async () => {
  const { repo, add } = await linked();
  const [one, two] = [await add('one'), await add('two')];
  replace(one, 'a.txt', 'mine\n');
  rmSync(join(one.dir, 'run.sh'));
  renameSync(join(one.dir, 'b.txt'), join(one.dir, 'moved.txt'));
  expect(await changesOf(one)).toEqual(['modified a.txt', 'deleted b.txt', 'added moved.txt', 'deleted run.sh']);
  expect(await changesOf(two)).toEqual([]);
  expect((await one.commit(commit)).kind).toBe('landed');
  expect(repo.snapshot().readText('a.txt')).toBe('mine\n');
  expect(read(two, 'a.txt')).toBe('a\n');
  expect((await two.sync()).updated.toSorted()).toEqual(['a.txt', 'b.txt', 'moved.txt', 'run.sh']);
  expect([read(two, 'a.txt'), existsSync(join(two.dir, 'b.txt'))]).toEqual(['mine\n', false]);
  // What a sync writes is a file of its own, of now.
  expect(statIn(two, 'a.txt')).toMatchObject({ nlink: 1 });
  expect(statIn(two, 'a.txt').mtimeMs).toBeGreaterThan(Date.now() - 86_400_000);
});

test.each(['writer', 'other'])('written in place: a conflict in each that links it (%s looks first)', async (first) => {
  const { repo, add } = await linked();
  const [one, two] = [await add('one'), await add('two')];
  writeThrough(one, 'b.txt', 'more\n');
  replace(two, 'a.txt', 'own\n');
  const looks = first === 'writer' ? [one, two] : [two, one];
  for (const directory of looks) {
    const refused = await directory.commit({ ...commit, paths: ['b.txt'] });
    expect(refused).toMatchObject({
      kind: 'rejected',
      code: 'workspace-conflict',
      message: expect.stringMatching(/^b\.txt changed through a hard link/),
    });
  }
  expect(await changesOf(one)).toEqual(['written-through-link b.txt']);
  expect(await changesOf(two)).toEqual(['modified a.txt', 'written-through-link b.txt']);
  const sides = two.conflict('b.txt');
  expect([sides.base, sides.current, sides.incoming].map((side) => side?.content.toString())).toEqual(['b\n', 'b\n', 'b\nmore\n']); // prettier-ignore
  expect([statIn(one, 'b.txt').nlink, statIn(two, 'b.txt').nlink]).toEqual([1, 1]);
  expect(statIn(one, 'b.txt').mode & 0o222).not.toBe(0);

  await one.resolve('b.txt');
  expect((await one.commit(commit)).kind).toBe('landed');
  expect(repo.snapshot().readText('b.txt')).toBe('b\nmore\n');
  expect((await two.commit({ ...commit, paths: ['a.txt'] })).kind).toBe('landed');
  await two.discard(['b.txt']);
  expect([await changesOf(two), read(two, 'b.txt')]).toEqual([[], 'b\n']);
  expect(repo.fsck()).toMatchObject({ ok: true });

  // A new one is not given what was written to.
  const three = (await addWorkspace(repo, join(one.dir, '../three'), { links: true, at: 1 })).directory;
  expect([read(three, 'b.txt'), await changesOf(three)]).toEqual(['b\n', []]);
});

test('a write in place is found before a link is made to it, and by a sync of its path', async () => {
  const { repo, add } = await linked();
  const one = await add('one');
  writeThrough(one, 'b.txt', 'more\n');
  const two = await add('two');
  expect([read(two, 'b.txt'), await changesOf(two)]).toEqual(['b\n', []]);
  expect(await changesOf(one)).toEqual(['written-through-link b.txt']);
  await repo.land({ ...commit, changes: [newFile('b.txt', 'upstream\n', { expect: version(1) })] });
  expect(await one.sync()).toMatchObject({ updated: [], conflicts: ['b.txt'] });
  expect(read(one, 'b.txt')).toBe('b\nmore\n');
  // Meant so: an edit of what it was made on, which the next sync merges.
  await one.resolve('b.txt');
  expect(await one.sync()).toMatchObject({ conflicts: ['b.txt'] });
  expect(read(one, 'b.txt')).toContain('<<<<<<<');
});

test('a mode that is changed through a link is found; one that only lets be written is no edit', async () => {
  const { add } = await linked();
  const [one, two] = [await add('one'), await add('two')];
  chmodSync(join(one.dir, 'b.txt'), 0o755);
  chmodSync(join(one.dir, 'a.txt'), 0o644);
  for (const directory of [two, one]) {
    expect(await changesOf(directory)).toEqual(['written-through-link b.txt']);
    await directory.shelve();
  }
  await one.resolve('b.txt');
  await two.discard(['b.txt']);
  const { changes } = await one.status();
  expect(changes).toMatchObject([{ path: 'b.txt', kind: 'modified', mode: 'executable' }]);
  expect([await changesOf(two), statIn(two, 'b.txt').mode & 0o111]).toEqual([[], 0]);
});

test('a mode is changed and a file written by processes without rights over others', async ({ skip }) => {
  const { base, repo } = await linked();
  await repo.close();
  await run('chown', ['-R', '65534:65534', base]);
  chmodSync(base, 0o755);
  const as = { uid: 65534, cwd: base, env: { ...process.env, HOME: base } };
  const isRoot = process.getuid?.() === 0;
  const probe = isRoot ? await mound(['--version'], as).catch(() => undefined) : undefined;
  if (isRoot && probe?.code !== 0) return skip('no other user can run mound where it stands');
  const options = isRoot ? as : { cwd: base };
  for (const name of ['one', 'two']) {
    const { stdout, stderr } = await mound(['--repo', 'repo', 'workspace', 'add', name, '--links'], options);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/6 files as of seq 1, 5 of them linked\n$/), '']);
  }
  const denied = await run('sh', ['-c', 'echo more >> one/run.sh'], options);
  expect(denied.code).not.toBe(0);
  const written = await run(
    'sh',
    ['-c', 'chmod u+w one/run.sh && echo more >> one/run.sh && chmod u-w one/run.sh'],
    options,
  );
  expect(written.code).toBe(0);
  for (const name of ['two', 'one']) {
    const inside = { ...options, cwd: join(base, name) };
    expect((await mound(['status'], inside)).stdout).toContain('conflict (written-through-link) run.sh');
    const refused = await mound(['commit', '-m', 'mine', '--breakage', 'as said'], inside);
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([4, expect.stringContaining('may be another')]);
    // Nor is a comment written into what is not committed.
    expect(readFileSync(join(base, name, 'run.sh'), 'utf8')).toBe('#!/bin/sh\nmore\n');
    const verb = name === 'two' ? 'discard' : 'resolve';
    expect((await mound(['workspace', verb, 'run.sh'], inside)).code).toBe(0);
  }
  expect(readFileSync(join(base, 'two/run.sh'), 'utf8')).toBe('#!/bin/sh\n');
  expect((await mound(['commit', '-m', 'mine'], { ...options, cwd: join(base, 'one') })).code).toBe(0);
  const again = await openRepo(join(base, 'repo'));
  expect(again.snapshot().readText('run.sh')).toBe('#!/bin/sh\nmore\n');
  await again.close();
});

const losses: Record<string, (repo: Repo, directories: readonly WorkspaceDirectory[]) => void> = {
  'nothing is lost': () => undefined,
  'the index is lost': (_, directories) => {
    for (const { dir } of directories) rmSync(join(dir, '.mound/index'));
  },
  'the cache is lost': (repo) => rmSync(filesDir(repo), { recursive: true }),
  'both are lost': (repo, directories) => {
    losses['the index is lost']?.(repo, directories);
    losses['the cache is lost']?.(repo, directories);
  },
};

test.each(Object.keys(losses))('%s: a write in place is found by both, and a plain edit is one', async (name) => {
  const { repo, add } = await linked();
  const directories = [await add('one'), await add('two')] as const;
  const [one, two] = directories;
  replace(one, 'run.sh', 'mine\n');
  chmodSync(join(one.dir, 'run.sh'), 0o755);
  losses[name]?.(repo, directories);
  writeThrough(one, 'b.txt', 'more\n');
  for (const [directory, ...more] of [[two], [one, 'modified run.sh']] as const) {
    await directory.shelve();
    expect(await changesOf(directory)).toEqual(['written-through-link b.txt', ...more]);
  }
  await one.resolve('b.txt');
  await two.discard(['b.txt']);
  expect([await changesOf(one), await changesOf(two)]).toEqual([['modified b.txt', 'modified run.sh'], []]);
});

test('a time that was set back is found by whoever reads, and then by all', async () => {
  const { add } = await linked();
  const [one, two] = [await add('one'), await add('two')];
  const { mtime, atime } = statIn(one, 'b.txt');
  chmodSync(join(one.dir, 'b.txt'), 0o644);
  writeFileSync(join(one.dir, 'b.txt'), 'B\n');
  chmodSync(join(one.dir, 'b.txt'), 0o444);
  utimesSync(join(one.dir, 'b.txt'), atime, mtime);
  // Its change of state says nothing: another that links it changes that, too.
  expect(await changesOf(two)).toEqual([]);
  rmSync(join(two.dir, '.mound/index'));
  await two.shelve();
  expect(await changesOf(two)).toEqual(['written-through-link b.txt']);
  // From then on nobody links it.
  const three = await add('three');
  expect([read(three, 'b.txt'), await changesOf(three)]).toEqual(['b\n', []]);
});

test('a linked file that was moved is watched in its new place', async () => {
  const { repo, add } = await linked();
  const [one, two] = [await add('one'), await add('two')];
  renameSync(join(one.dir, 'b.txt'), join(one.dir, 'moved.txt'));
  await one.shelve();
  writeThrough(two, 'b.txt', 'more\n');
  expect(await changesOf(one)).toEqual(['deleted b.txt', 'written-through-link moved.txt']);
  await one.shelve();
  // Moved and never looked at since.
  renameSync(join(two.dir, 'a.txt'), join(two.dir, 'late.txt'));
  writeThrough(one, 'a.txt', 'late\n');
  expect(await changesOf(two)).toEqual([
    'deleted a.txt',
    'written-through-link b.txt',
    'written-through-link late.txt',
    'written-through-link src/same.txt',
  ]);
  await one.discard(['b.txt', 'moved.txt', 'a.txt', 'src']);
  expect([await changesOf(one), read(one, 'b.txt'), read(one, 'a.txt')]).toEqual([[], 'b\n', 'a\n']);
  expect(existsSync(join(one.dir, 'moved.txt'))).toBe(false);
  await two.discard(['a.txt', 'src', 'b.txt']);
  // Taken for its own: an addition.
  await two.resolve('late.txt');
  expect((await two.commit(commit)).kind).toBe('landed');
  expect(repo.snapshot().readText('late.txt')).toBe('a\nlate\n');
});

const script = (name: string): string => fileURLToPath(new URL(`./kit/${name}.js`, import.meta.url));

test.each(['shared-aside', 'overlay-written', 'shelved', 'shared-owned'])(
  'killed at %s: both find what was written through, and neither takes it by itself',
  async (step) => {
    const { repo, add } = await linked();
    const [one, two] = [await add('one'), await add('two')];
    writeThrough(one, 'b.txt', 'more\n');
    const { signal } = await run(process.execPath, [script('workspace-shelver'), repo.dir, one.dir, step]);
    expect(signal).toBe('SIGKILL');
    for (const directory of [two, one]) {
      expect(read(directory, 'b.txt')).toBe('b\nmore\n');
      expect(await directory.commit(commit)).toMatchObject({ kind: 'rejected', code: 'workspace-conflict' });
      expect(await changesOf(directory)).toEqual(['written-through-link b.txt']);
    }
    // Whatever was done by then: neither sees the other any more.
    await one.resolve('b.txt');
    writeThrough(one, 'b.txt', 'and more\n');
    expect([await changesOf(one), read(two, 'b.txt')]).toEqual([['modified b.txt'], 'b\nmore\n']);
    await two.discard(['b.txt']);
    expect(read(await add('three'), 'b.txt')).toBe('b\n');
    expect(read(one, 'b.txt')).toBe('b\nmore\nand more\n');
  },
);

test('processes add and remove while files are written in place: what is clean is right, the rest is in conflict', async () => {
  const files = Array.from({ length: 40 }, (_, at) => newFile(`d${at % 4}/f${at}.txt`, `file ${at}\n`));
  const { repo, base, add } = await linked(files);
  const first = await add('first');
  const adders = ['p', 'q'].map((name) =>
    start(process.execPath, [script('workspace-adder'), repo.dir, base, name, '8', 'links']),
  );
  let isOver = false;
  const over = Promise.all(adders.map(({ finished }) => finished)).finally(() => (isOver = true));
  for (let at = 0; !isOver; at++) {
    if (at < 20) writeThrough(first, files[at * 2]?.path ?? '', 'through\n');
    const passing = await add(`passing-${at}`);
    const [change] = await changesOf(passing);
    // Written between the links of that add and this look.
    if (change === undefined) await removeWorkspace(repo, `passing-${at}`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
  expect((await over).map(({ code }) => code)).toEqual([0, 0]);
  const snapshot = repo.snapshot();
  let conflicts = 0;
  for (const { dir } of repo.workspaces.list()) {
    const directory = await openWorkspace(repo, dir ?? '');
    const { changes } = await directory.status();
    expect(changes.filter(({ conflict }) => conflict !== 'written-through-link')).toEqual([]);
    conflicts += changes.length;
    const shared = new Set<string>(changes.map(({ path }) => path));
    for (const { path } of files) if (!shared.has(path)) expect(read(directory, path)).toBe(snapshot.readText(path));
  }
  expect(conflicts).toBeGreaterThan(0);
});

test('the cache keeps what is linked, or was a short while ago, and no more', async () => {
  const { repo, add } = await linked();
  const [one, two] = [await add('one'), await add('two')];
  expect(cached(repo)).toHaveLength(4);
  writeThrough(one, 'b.txt', 'more\n');
  await one.shelve();
  writeFileSync(join(filesDir(repo), 'draft-of-a-dead-process'), 'half');
  expect(cached(repo).filter((name) => name.startsWith('aside'))).toHaveLength(1);
  const later = Date.now() + 3_600_000;
  const gone = { idleMs: 60_000, now: later };
  const dry = await pruneWorkspaces(repo, { ...gone, keep: 2, dryRun: true });
  expect(dry.files).toEqual({ removed: 1, kept: 4, bytes: 4 });
  expect((await pruneWorkspaces(repo, { ...gone, keep: 2 })).files).toEqual(dry.files);
  expect(cached(repo)).toHaveLength(4);
  // The second has not looked yet: for it the file set aside stays.
  await removeWorkspace(repo, 'one', { discard: 'one' });
  expect((await pruneWorkspaces(repo, { ...gone, keep: 1 })).files.removed).toBe(0);
  expect(await changesOf(two)).toEqual(['written-through-link b.txt']);
  await two.discard(['b.txt']);
  expect((await pruneWorkspaces(repo, { idleMs: 60_000 })).files.removed).toBe(0);
  expect((await pruneWorkspaces(repo, { ...gone, keep: 1 })).files.removed).toBe(1);
  await removeWorkspace(repo, 'two');
  const { stdout } = await mound(['--repo', repo.dir, '--json', 'gc', '--grace', '0']);
  expect(JSON.parse(stdout)).toMatchObject({ files: { removed: 3, kept: 0, bytes: 12 } });
  expect(cached(repo)).toEqual([]);
});

test('what is purged leaves the cache', async () => {
  const { repo, base, add } = await linked();
  const one = await add('one');
  const blob = repo.snapshot().head('b.txt')?.blob ?? '';
  const before = cached(repo).length;
  writeFileSync(join(base, 'secret'), 'b\n');
  const purged = await mound(['--repo', repo.dir, 'purge', '--blob', blob, '--reason', 'leaked']);
  expect(purged.code).toBe(0);
  expect(cached(repo)).toHaveLength(before - 1);
  expect(cached(repo).join()).not.toContain(blob);
  expect(read(one, 'b.txt')).toBe('b\n');
});
