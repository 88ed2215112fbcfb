import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addWorkspace, pruneWorkspaces, version, type AddedWorkspace, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { cloning, mountImage } from './kit/mounts.ts';
import { mound, run } from './kit/process.ts';
import { agent, newFile, setup, tempDir, tempRepo } from './kit/temp.ts';

const large = (text: string): string => `${text}\n`.repeat(30_000);
const [first, second, third] = ['first', 'second', 'third'].map(large) as [string, string, string];
const tree = [
  newFile('large.txt', first),
  newFile('d/run.sh', second, { mode: 'executable' }),
  newFile('small.txt', 'small\n'),
  newFile('.gitattributes', '*.bat text eol=crlf\n'),
  newFile('large.bat', third),
];

interface Place {
  readonly repo: Repo;
  readonly base: string;
  readonly add: (name: string) => Promise<AddedWorkspace>;
  readonly cached: () => string[];
}

async function place(base: string): Promise<Place> {
  const repo = await tempRepo(join(base, 'repo'));
  await repo.land({ author: setup, message: 'base', changes: tree });
  const files = join(base, 'repo/.mound/files');
  const add = (name: string): Promise<AddedWorkspace> => addWorkspace(repo, join(base, name));
  const cached = (): string[] =>
    existsSync(files)
      ? readdirSync(files, { recursive: true, encoding: 'utf8' })
          .map((name) => join(files, name))
          .filter((at) => lstatSync(at).isFile())
      : [];
  return { repo, base, add, cached };
}

const commit = { author: agent('ada'), message: 'work' };
const read = ({ directory }: AddedWorkspace, path: string): string => readFileSync(join(directory.dir, path), 'utf8');
const changesOf = async ({ directory }: AddedWorkspace): Promise<string[]> =>
  (await directory.status()).changes.map(({ path, kind }) => `${kind} ${path}`);
const script = (name: string): string => fileURLToPath(new URL(`./kit/${name}.js`, import.meta.url));

test('where nothing can be cloned all is written, and nothing is kept', async ({ skip }) => {
  const { base, add, cached } = await place(tempDir());
  const added = [await add('one'), await add('two'), await add('three')];
  if (added.some(({ cloned }) => cloned > 0)) return skip('the directory for temporary files can clone');
  for (const one of added) expect([one.files, await changesOf(one), read(one, 'large.txt')]).toEqual([5, [], first]);
  expect([cached(), existsSync(join(base, 'repo/.mound/files'))]).toEqual([[], false]);
});

for (const [kind, image] of Object.entries(cloning)) {
  test(`${kind}: large files are clones, which share no write with anyone`, async ({ skip }) => {
    const mounted = await mountImage(image);
    if ('why' in mounted) return skip(mounted.why);
    const { repo, base, add, cached } = await place(mounted.dir);
    const one = await add('one');
    // Nobody else would have use of what it kept.
    expect([one.cloned, cached()]).toEqual([0, []]);
    const two = await add('two');
    expect([two.cloned, cached().length]).toEqual([0, 2]);
    const began = Date.now() - 5000;
    const { stdout } = await mound(['--repo', repo.dir, 'workspace', 'add', join(base, 'three'), '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ files: 5, linked: 0, cloned: 2, skipped: [] });
    const four = await add('four');
    expect([four.cloned, await changesOf(four)]).toEqual([2, []]);
    // As if it had been written.
    for (const path of ['large.txt', 'd/run.sh', 'small.txt', 'large.bat']) {
      const [plain, cloned] = [one, four].map(({ directory }) => lstatSync(join(directory.dir, path)));
      expect([path, cloned?.mode, cloned?.nlink, read(four, path)]).toEqual([path, plain?.mode, 1, read(one, path)]);
      expect(cloned?.mtimeMs).toBeGreaterThan(began);
    }
    // A write in place is its writer's alone.
    appendFileSync(join(four.directory.dir, 'large.txt'), 'mine\n');
    expect([await changesOf(four), read(two, 'large.txt')]).toEqual([['modified large.txt'], first]);
    const five = await add('five');
    expect([five.cloned, read(five, 'large.txt')]).toEqual([2, first]);
    expect((await four.directory.commit(commit)).kind).toBe('landed');

    // The first sync keeps what it wrote, the others clone that.
    await repo.land({ ...commit, changes: [newFile('d/run.sh', third, { mode: 'executable', expect: version(1) }), newFile('new', second)] }); // prettier-ignore
    for (const each of [two, five]) {
      expect((await each.directory.sync()).updated.toSorted()).toEqual(['d/run.sh', 'large.txt', 'new']);
      expect([read(each, 'd/run.sh'), read(each, 'large.txt')]).toEqual([third, `${first}mine\n`]);
      expect(await changesOf(each)).toEqual([]);
      expect(lstatSync(join(each.directory.dir, 'd/run.sh')).mode & 0o777).toBe(0o755);
    }
    expect(cached()).toHaveLength(4);
    expect(repo.fsck()).toMatchObject({ ok: true });

    // What was purged goes, through the API, too.
    const blob = repo.snapshot().head('new')?.blob;
    await repo.purge({ author: setup, reason: 'leaked', blobs: blob === undefined ? [] : [blob] });
    expect(cached().join()).not.toContain(blob);
    expect(cached()).toHaveLength(3);
    expect((await pruneWorkspaces(repo, { now: Date.now() + 90_000_000, keep: 9 })).files.removed).toBe(3);
    expect(cached()).toEqual([]);
  });

  test(`${kind}: what somebody did to a kept file never reaches a workspace`, async ({ skip }) => {
    const mounted = await mountImage(image);
    if ('why' in mounted) return skip(mounted.why);
    const { add, cached } = await place(mounted.dir);
    await add('one');
    await add('two');
    const damages: Record<string, (at: string) => void> = {
      'written to': (at) => appendFileSync(at, 'x'),
      'same size': (at) => writeFileSync(at, readFileSync(at).fill(120)),
      'cut off': (at) => writeFileSync(at, ''),
      'let be written': (at) => chmodSync(at, 0o644),
    };
    for (const [name, damage] of Object.entries(damages)) {
      for (const at of cached()) damage(at);
      const after = await add(name.replace(' ', '-'));
      expect([name, after.cloned, read(after, 'large.txt'), read(after, 'd/run.sh')]).toEqual([name, 0, first, second]);
      // They were made again.
      const next = await add(`${name.replace(' ', '-')}-next`);
      expect([name, next.cloned, read(next, 'large.txt'), await changesOf(next)]).toEqual([name, 2, first, []]);
    }
  });

  test(`${kind}: killed in the middle, the next clones nothing but what is whole`, async ({ skip }) => {
    const mounted = await mountImage(image);
    if ('why' in mounted) return skip(mounted.why);
    const { repo, base, add, cached } = await place(mounted.dir);
    await add('one');
    const deaths = [['file-cached', 1], ['file-cached', 1], ['workspace-drafted', 1]] as const; // prettier-ignore
    for (const [at, [step, times]] of deaths.entries()) {
      const args = [script('workspace-adder-dies'), repo.dir, join(base, `dead-${at}`), step, `${times}`];
      expect((await run(process.execPath, args)).signal).toBe('SIGKILL');
      expect(cached()).toHaveLength(Math.min(at + 1, 2));
    }
    // As one leaves who dies while it clones.
    writeFileSync(join(repo.dir, '.mound/files/draft-of-a-dead-process'), 'half');
    const last = await add('last');
    expect([last.cloned, read(last, 'large.txt'), read(last, 'd/run.sh')]).toEqual([2, first, second]);
    expect(await changesOf(last)).toEqual([]);
    expect(readdirSync(base).toSorted().filter((name) => name !== 'lost+found')).toEqual(['last', 'one', 'repo']); // prettier-ignore
    expect(repo.workspaces.list()).toHaveLength(2);
  });
}

test('another file system than the cache: all is written', async ({ skip }) => {
  const mounted = await mountImage(cloning['xfs'] ?? { bytes: 0, steps: [] });
  if ('why' in mounted) return skip(mounted.why);
  const { repo, cached } = await place(tempDir());
  for (const name of ['one', 'two', 'three']) {
    const added = await addWorkspace(repo, join(mounted.dir, name));
    expect([added.cloned, read(added, 'large.txt'), await changesOf(added)]).toEqual([0, first, []]);
  }
  expect(cached()).toEqual([]);
});

test('what is purged through the API leaves the cache of links', async () => {
  const { repo, base, cached } = await place(tempDir());
  await addWorkspace(repo, join(base, 'linked'), { links: true });
  const blob = repo.snapshot().head('small.txt')?.blob ?? '';
  expect(cached().join()).toContain(blob);
  await repo.purge({ author: setup, reason: 'leaked', containing: Buffer.from('small\n') });
  expect(cached().join()).not.toContain(blob);
  rmSync(join(repo.dir, '.mound/files'), { recursive: true });
  await repo.purge({ author: setup, reason: 'leaked', containing: Buffer.from('second\n') });
  expect(existsSync(join(repo.dir, '.mound/files'))).toBe(false);
});
