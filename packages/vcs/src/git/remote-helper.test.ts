import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Author } from '../core/intent.ts';
import { openRepo } from '../repo/open.ts';
import { fsck, git, removeTemporaries, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';
import { gitWithHelper } from './helper.test.kit.ts';

afterAll(removeTemporaries);

const author: Author = { name: 'Worker', kind: 'agent', agent: 'w-1', model: 'm' };
const commit = (dir: string, path: string, text: string): string => {
  writeFileSync(join(dir, path), text);
  git(dir, ['add', '-A']);
  git(dir, ['commit', '-qm', `${path}: ${text}`]);
  return git(dir, ['rev-parse', 'HEAD']);
};

test('git clones, fetches and pushes; ids stay; what is stale is refused as git refuses it, or merged', async () => {
  const run = gitWithHelper();
  const dir = join(temporaryDir(), 'store');
  const url = `mound::${dir}`;
  const made = await openRepo(dir, { create: true });
  await made.put('a.txt', 'one\n', { author, message: 'first' });
  await made.close();

  const home = temporaryDir();
  const [one, two] = [join(home, 'one'), join(home, 'two')];
  expect(run(home, 'clone', '-q', url, one)).toMatchObject({ code: 0, stderr: '' });
  expect(run(home, 'clone', '-q', '--depth=1', url, two)).toMatchObject({ code: 0, stderr: '' });
  expect(git(one, ['show', 'main:a.txt'])).toBe('one');

  const pushed = commit(one, 'b.txt', 'b');
  expect(run(one, 'push', 'origin', 'main')).toMatchObject({ code: 0 });
  expect(run(home, 'ls-remote', url, 'refs/heads/main').stdout).toBe(`${pushed}\trefs/heads/main\n`);

  // The other clone has not seen that: git's own words, `git pull` among them.
  commit(two, 'c.txt', 'c');
  const stale = run(two, 'push', 'origin', 'main');
  expect(stale.code).toBe(1);
  expect(stale.stderr).toMatch(/! \[rejected\] +main -> main \(fetch first\)/);
  expect(stale.stderr).toContain('git pull');
  expect(run(two, 'push', '--force', 'origin', 'main').stderr).toMatch(/cannot be forced back: history is kept/);
  expect(run(two, 'push', 'origin', ':main').stderr).toMatch(/nothing is deleted here/);
  expect(run(two, 'pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main')).toMatchObject({ code: 0 });
  const merged = git(two, ['rev-parse', 'HEAD']);
  git(two, ['tag', '-a', '-m', 'annotated', 'v1']);
  expect(run(two, 'push', 'origin', 'main', 'v1', 'main:refs/heads/topic')).toMatchObject({ code: 0 });

  // Configured to merge, a stale push lands: its commits beside, their changes as one merge.
  git(one, ['config', 'mound.onStale', 'merge']);
  const beside = commit(one, 'd.txt', 'd');
  expect(run(one, 'push', 'origin', 'main')).toMatchObject({ code: 0 });
  expect(run(one, 'pull', '-q', '--no-rebase', 'origin', 'main')).toMatchObject({ code: 0 });
  expect(git(one, ['ls-files']).split('\n')).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt']);
  expect(git(one, ['rev-list', '--parents', '-n', '1', 'HEAD']).split(' ').slice(1)).toEqual([merged, beside]);

  const repo = await openRepo(dir);
  expect(repo.snapshot().readText('d.txt')).toBe('d');
  expect([repo.gitMarks.seqOf(pushed), repo.gitMarks.seqOf(merged)]).not.toContain(undefined);
  expect(repo.fsck().errors).toEqual([]);
  await repo.close();
  const last = join(home, 'last');
  expect(run(home, 'clone', '-q', url, last)).toMatchObject({ code: 0, stderr: '' });
  expect(fsck(last)).toBe('');
  expect(git(last, ['rev-parse', 'v1^{commit}', 'origin/topic']).split('\n')).toEqual([merged, merged]);
}, 300_000);

test('a push into an empty repository begins its history; a directory that is none is one line', async () => {
  const run = gitWithHelper();
  const dir = join(temporaryDir(), 'store');
  await (await openRepo(dir, { create: true })).close();
  const source = scriptedRepo('echo a > a; commit 1; echo b > a; commit 2');
  expect(run(source, 'push', `mound::${dir}`, 'main')).toMatchObject({ code: 0 });
  const copy = join(temporaryDir(), 'copy');
  expect(run('/', 'clone', '-q', `mound::${dir}`, copy)).toMatchObject({ code: 0, stderr: '' });
  expect(git(copy, ['rev-parse', 'main'])).toBe(git(source, ['rev-parse', 'main']));

  const refused = run('/', 'clone', '-q', `mound::${dir}/nowhere`, `${copy}2`);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(/^mound: there is no Mound repository in '[^\n]+\n/);
}, 300_000);
