import {
  chmodSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
  closeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { jsonOf, mound } from './command.test.kit.ts';
import { FakeRepo } from './fake-repo.test.kit.ts';
import { git, removeTemporaries, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';
import { importGit, type ImportOptions } from './import.ts';

afterAll(removeTemporaries);

const script =
  'for k in 1 2 3 4 5; do seq 1 500 > big; echo $k >> big; echo $k > f$k; commit $k; done; git tag -a -m t v1';

const packIn = (dir: string): string => {
  const packs = join(dir, '.git/objects/pack');
  const name = readdirSync(packs).find((file) => file.endsWith('.pack')) ?? '';
  return join(packs, name);
};

/** A packed repository, spoilt. */
function spoilt(spoil: (dir: string) => void): string {
  const dir = scriptedRepo(script);
  git(dir, ['repack', '-adq']);
  git(dir, ['pack-refs', '--all']);
  spoil(dir);
  return dir;
}

function overwrite(file: string, at: number, bytes: string): void {
  chmodSync(file, 0o644);
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.from(bytes), 0, bytes.length, at);
  closeSync(fd);
}

async function refusal(dir: string, options: ImportOptions = {}): Promise<{ message: string; landed: number }> {
  const repo = new FakeRepo();
  const error: unknown = await importGit(repo, dir, options).then(
    () => 'it was imported',
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'git-unreadable' });
  const { message } = error as Error;
  expect(message).not.toContain('\n');
  expect(message).toContain(`'${join(dir, '.git')}' `);
  return { message, landed: repo.snapshot().seq };
}

test.each<[string, (dir: string) => void]>([
  ['a pack with bytes that are not its own', (dir) => overwrite(packIn(dir), 300, 'spoilt, spoilt, spoilt')],
  ['a pack that ends early', (dir) => truncateSync(packIn(dir), 400)],
  ['a pack without its header', (dir) => overwrite(packIn(dir), 0, 'JUNK')],
  [
    'a pack whose index is junk',
    (dir) => {
      const index = packIn(dir).replace(/pack$/, 'idx');
      chmodSync(index, 0o644);
      writeFileSync(index, 'junk');
    },
  ],
  ['a branch at what is not there', (dir) => writeFileSync(join(dir, '.git/refs/heads/main'), `${'1'.repeat(40)}\n`)],
  [
    'a loose object that is junk',
    (dir) => {
      writeFileSync(join(dir, 'late'), 'late\n');
      git(dir, ['add', '-A']);
      git(dir, ['commit', '-qm', 'late']);
      const id = git(dir, ['rev-parse', 'HEAD:late']);
      overwrite(join(dir, '.git/objects', id.slice(0, 2), id.slice(2)), 0, 'junk junk junk');
    },
  ],
  [
    'a commit whose parent is gone',
    (dir) => {
      const parent = git(dir, ['commit-tree', '-m', 'p', 'HEAD^{tree}']);
      git(dir, ['update-ref', 'refs/heads/b', git(dir, ['commit-tree', '-m', 'c', '-p', parent, 'HEAD^{tree}'])]);
      rmSync(join(dir, '.git/objects', parent.slice(0, 2), parent.slice(2)));
    },
  ],
])('%s: one line that names the repository', async (_, spoil) => {
  const { message } = await refusal(spoilt(spoil));
  expect(message).toMatch(/is damaged: .*; 'git fsck' there tells more/);
});

test('a shallow clone is refused before anything lands, and taken where that is asked for', async () => {
  const shallow = join(temporaryDir(), 'shallow');
  git('/', ['clone', '-q', '--depth=2', `file://${scriptedRepo(script)}`, shallow]);
  expect(await refusal(shallow)).toMatchObject({ landed: 0, message: expect.stringContaining('--unshallow') });
  const repo = new FakeRepo();
  expect(await importGit(repo, shallow, { shallow: true })).toMatchObject({ commits: 2 });
  expect(await importGit(repo, shallow)).toMatchObject({ commits: 0 });
});

test('a partial clone is refused before anything lands, unless it has all that is wanted', async () => {
  const source = scriptedRepo(script);
  git(source, ['config', 'uploadpack.allowFilter', 'true']);
  const partial = join(temporaryDir(), 'partial');
  git('/', ['clone', '-q', '--no-checkout', '--filter=blob:none', `file://${source}`, partial]);
  const { message, landed } = await refusal(partial);
  expect(landed).toBe(0);
  expect(message).toMatch(/is a partial clone without \d+ of its objects \([0-9a-f]{40}, …\); import a full clone/);
  const whole = join(temporaryDir(), 'whole');
  git('/', ['clone', '-q', '--filter=blob:limit=1m', `file://${source}`, whole]);
  expect(await importGit(new FakeRepo(), whole)).toMatchObject({ commits: 5 });
});

test('a lender of objects that is gone is named, also one further on; the command ends with 42', async () => {
  const source = scriptedRepo(script);
  const [one, two] = ['one', 'two'].map((name) => join(temporaryDir(), name)) as [string, string];
  git('/', ['clone', '-q', '--shared', source, one]);
  git('/', ['clone', '-q', '--shared', one, two]);
  expect(await importGit(new FakeRepo(), two)).toMatchObject({ commits: 5 });
  renameSync(source, `${source}.away`);
  for (const dir of [one, two]) {
    const { message, landed } = await refusal(dir);
    expect([landed, message]).toEqual([0, expect.stringContaining(`borrows objects from '${source}/.git/objects'`)]);
  }
  const made = await mound(['init', two, '--json']);
  expect([made.code, jsonOf(made)['error']]).toEqual([42, 'git-unreadable']);
  expect(readdirSync(two)).not.toContain('.mound');
});
