import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mound } from './command.test.kit.ts';
import { git, removeTemporaries, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';
import { gitWithHelper } from './helper.test.kit.ts';

afterAll(removeTemporaries);

const checkout = (): string => scriptedRepo('mkdir src; echo a > src/a; echo f > f; commit 1; echo g > f; commit 2');

test('a repository below the top of a checkout says so, and git does not take it for files', async () => {
  const top = checkout();
  const made = await mound(['init', join(top, 'src')]);
  expect(made).toMatchObject({ code: 0, stdout: `made a repository in ${join(top, 'src')}\n` });
  expect(made.stderr).toContain(`'mound init ${top}' takes that in`);
  expect(git(top, ['status', '--porcelain'])).toBe('');
  const alone = await mound(['init', join(top, 'other'), '--no-git']);
  expect(alone).toMatchObject({ code: 0, stderr: '' });
});

test('a workspace within the checkout is no file of git’s, and names its repository', async () => {
  const top = checkout();
  await mound(['init', top]);
  const place = join(top, 'work [1]');
  expect(await mound(['--repo', top, 'workspace', 'add', place, '--name', 'w'])).toMatchObject({ code: 0 });
  expect([existsSync(join(place, 'src/a')), git(top, ['status', '--porcelain'])]).toEqual([true, '']);
  // Beside it files are seen as before.
  mkdirSync(join(top, 'work 1'));
  writeFileSync(join(top, 'work 1', 'mine'), '');
  expect(git(top, ['status', '--porcelain'])).toBe('?? "work 1/"');
  expect(await mound(['--repo', place, 'cat', 'f'])).toMatchObject({ code: 0, stdout: 'g\n' });
  const copy = join(temporaryDir(), 'copy');
  expect(gitWithHelper()('/', 'clone', '-q', `mound::${place}`, copy)).toMatchObject({ code: 0, stderr: '' });
  expect(git(copy, ['rev-parse', 'HEAD'])).toBe(git(top, ['rev-parse', 'HEAD']));
});

test('a branch for exports with commits of its own is to be imported first, also while it is checked out', async () => {
  const top = checkout();
  await mound(['init', top]);
  git(top, ['checkout', '-q', '-b', 'mound', 'main~1']);
  writeFileSync(join(top, 'mine'), 'mine\n');
  git(top, ['add', '-A']);
  git(top, ['commit', '-qm', 'mine']);
  await mound(['--repo', top, 'put', 'theirs', '-m', 'theirs'], 'theirs\n');
  const refused = await mound(['--repo', top, 'export']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /, and has commits that are not on 'main' here; 'mound import' takes them in; then 'git merge/,
  );
  expect(await mound(['--repo', top, 'import'])).toMatchObject({ code: 0 });
  // Now it can be brought forward in the way that the next export tells.
  const told = await mound(['--repo', top, 'export']);
  expect([told.code, told.stderr]).toEqual([1, expect.stringContaining("'git merge --ff-only refs/mound/main'")]);
  git(top, ['merge', '-q', '--ff-only', 'refs/mound/main']);
  expect(git(top, ['ls-files']).split('\n')).toEqual(['f', 'mine', 'src/a', 'theirs']);
  expect(await mound(['--repo', top, 'export'])).toMatchObject({ code: 0, stderr: '' });
});
