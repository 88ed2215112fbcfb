import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addWorkspace, materialise, openWorkspace, type Repo, type WorkspaceDirectory } from '@mound/vcs';
import { expect, test } from 'vitest';
import { folding, mountImage, naming } from './kit/mounts.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

/** Files as an import brings them: no landing makes paths that differ in case only. */
class Imports {
  private readonly repo: Repo;
  private count = 0;

  constructor(repo: Repo) {
    this.repo = repo;
  }

  async land(files: Readonly<Record<string, string | null>>): Promise<void> {
    const [before, now] = [this.count, ++this.count].map((at) => `${at}`.padStart(40, '0')) as [string, string];
    if (this.count === 1) await this.repo.gitMarks.add([{ seq: this.repo.branch('main').seq, gitId: before }]);
    const intake = this.repo.gitIntake();
    intake.add({
      branch: 'main',
      author: setup,
      message: 'imported',
      time: 1_700_000_000_000,
      base: before,
      parents: [before],
      raw: Buffer.from(`tree ${this.count}\n`),
      gitId: now,
      changes: Object.entries(files).map(([path, text], at) => ({
        path: Buffer.from(path),
        content: text === null ? undefined : Buffer.from(text),
        mode: text === null ? undefined : path.endsWith('.sh') ? ('executable' as const) : ('file' as const),
        id: text === null ? undefined : `${this.count}${at}`.padEnd(40, 'a'),
        oldId: undefined,
      })),
    });
    await intake.land();
  }
}

const odd = ['a:b', 'dot.', 'space ', 'sub./x', 'q?', 'aux'];
const collides = 'collides with another path on this file system';
const isNoName = 'is no name for this file system';

const changesOf = async (directory: WorkspaceDirectory): Promise<string[]> =>
  (await directory.status()).changes.map(({ path, kind }) => `${kind} ${path}`);

for (const [kind, image] of Object.entries(folding)) {
  test(`${kind}: of paths that it takes for one the first is in place, and nobody takes it for the other`, async ({
    skip,
  }) => {
    const mounted = await mountImage(image);
    if ('why' in mounted) return skip(mounted.why);
    const repo = await tempRepo(join(tempDir(), 'repo'));
    const imports = new Imports(repo);
    const oddFiles = Object.fromEntries(odd.map((path) => [path, `${path}\n`]));
    await imports.land({ A: 'upper\n', a: 'lower\n', 'Dir/x': 'x\n', 'dir/y': 'y\n', b: 'b\n', 'run.sh': '#!\n', ...oddFiles }); // prettier-ignore
    const dir = join(mounted.dir, 'w');
    const added = await addWorkspace(repo, dir);
    const { directory } = added;
    const listed = readdirSync(dir, { recursive: true, encoding: 'utf8' });
    const missing = odd.filter((path) => !listed.includes(path));
    expect(added.skipped.toSorted((x, y) => (x.path < y.path ? -1 : 1))).toEqual(
      [...missing.map((path) => ({ path, reason: isNoName })), ...['a', 'dir/y'].map((path) => ({ path, reason: collides }))] // prettier-ignore
        .toSorted((x, y) => (x.path < y.path ? -1 : 1)),
    );
    expect(added.collisions).toEqual([['A', 'a'], ['Dir', 'dir']]); // prettier-ignore
    expect(listed).toEqual(expect.arrayContaining(['A', 'Dir', 'Dir/x', 'b', 'run.sh']));
    const read = (path: string): string => readFileSync(join(dir, path), 'utf8');
    expect([read('A'), read('b')]).toEqual(['upper\n', 'b\n']);
    /** Nothing is an edit, whether the index says so or the files. */
    const mustBeClean = async (): Promise<void> => {
      expect(await changesOf(directory)).toEqual([]);
      rmSync(join(dir, '.mound/index'));
      expect(await changesOf(directory)).toEqual([]);
    };
    await mustBeClean();

    await imports.land({ a: 'lower 2\n', B: 'other\n', 'dir/z': 'z\n', c: 'c\n', 'a:b': 'changed\n' });
    const synced = await directory.sync();
    const skipped = ['B', 'a', 'dir/z'].map((path) => ({ path, reason: collides }));
    const isHeld = !missing.includes('a:b');
    expect(synced.skipped.toSorted((x, y) => (x.path < y.path ? -1 : 1))).toEqual(
      (isHeld ? skipped : [...skipped, { path: 'a:b', reason: isNoName }]).toSorted((x, y) => (x.path < y.path ? -1 : 1)), // prettier-ignore
    );
    expect([read('A'), read('b'), read('c'), existsSync(join(dir, 'Dir/z'))]).toEqual(['upper\n', 'b\n', 'c\n', false]);
    await mustBeClean();

    // Equal bytes are no reason to take one for the other.
    await imports.land({ a: 'upper\n' });
    expect((await directory.sync()).skipped).toEqual([{ path: 'a', reason: collides }]);
    await imports.land({ a: null, 'dir/y': null });
    expect((await directory.sync()).skipped).toEqual([]);
    expect([read('A'), read('Dir/x'), readdirSync(dir).includes('A')]).toEqual(['upper\n', 'x\n', true]);
    await mustBeClean();

    // The name in other case, once the first is gone.
    await imports.land({ A: null });
    expect((await directory.sync()).skipped).toEqual([]);
    // A file system in user space remembers names for a second.
    if (kind.endsWith('fuse')) await new Promise((wake) => setTimeout(wake, 1100));
    await imports.land({ a: 'lower 3\n' });
    expect((await directory.sync()).skipped).toEqual([]);
    expect([read('a'), readdirSync(dir).includes('a')]).toEqual(['lower 3\n', true]);
    await mustBeClean();

    writeFileSync(join(dir, 'b'), 'edited\n');
    expect(await changesOf(directory)).toEqual(['modified b']);
    expect((await directory.commit({ author: agent('ada'), message: 'work' })).kind).toBe('landed');
    expect([repo.snapshot().readText('b'), repo.snapshot().readText('B')]).toEqual(['edited\n', 'other\n']);
    expect(repo.snapshot().head('run.sh')?.mode).toBe('executable');
    const again = await openWorkspace(repo, dir);
    expect(await changesOf(again)).toEqual([]);

    const copied = materialise(await repo.workspace('copy'), join(mounted.dir, 'copy'));
    expect(copied.skipped.map(({ path }) => path)).toEqual(expect.arrayContaining(['b', ...missing]));
    expect(readdirSync(join(mounted.dir, 'copy'))).not.toContain('.mound');
  });
}

test('ntfs-3g: what it has no name for is told, and all else is in place', async ({ skip }) => {
  const mounted = await mountImage(naming);
  if ('why' in mounted) return skip(mounted.why);
  const repo = await tempRepo(join(tempDir(), 'repo'));
  const imports = new Imports(repo);
  await imports.land({ plain: 'plain\n', ...Object.fromEntries(odd.map((path) => [path, 'odd\n'])) });
  const dir = join(mounted.dir, 'w');
  const { directory, files, skipped } = await addWorkspace(repo, dir);
  expect([files, skipped.map(({ path }) => path).toSorted()]).toEqual([1, odd.toSorted()]);
  await imports.land({ 'a:b': 'changed\n', 'new:one': 'odd\n', 'dot.': null });
  const told = (await directory.sync()).skipped;
  expect(told).toEqual(['a:b', 'new:one'].map((path) => ({ path, reason: isNoName })));
  for (const lose of [false, true]) {
    if (lose) rmSync(join(dir, '.mound/index'));
    expect(await changesOf(directory)).toEqual([]);
  }
});
