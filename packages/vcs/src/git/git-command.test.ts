import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { requireGit, runGit, spawnGit, writeAll } from './git-command.ts';
import { resolveGitDir } from './git-dir.ts';
import { git, removeTemporaries, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';

afterEach(() => vi.unstubAllEnvs());
afterAll(removeTemporaries);

function fakeGit(script: string): string {
  const path = join(temporaryDir(), 'git');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('a git that is not there is named', async () => {
  vi.stubEnv('MOUND_GIT', '/no/such/git');
  await expect(requireGit()).rejects.toMatchObject({ code: 'git-missing', fields: { binary: '/no/such/git' } });
});

test.each([
  ['git version 2.29.3', 'git-too-old'],
  ['git version 1.8.3.1', 'git-too-old'],
  ['nonsense', 'git-too-old'],
])('%s is too old', async (said, code) => {
  vi.stubEnv('MOUND_GIT', fakeGit(`echo '${said}'`));
  await expect(requireGit()).rejects.toMatchObject({ code });
});

test.each(['git version 2.30.0', 'git version 2.39.5 (Apple Git-154)', 'git version 3.0.0'])(
  '%s will do',
  async (said) => {
    vi.stubEnv('MOUND_GIT', fakeGit(`echo '${said}'`));
    await expect(requireGit()).resolves.toMatch(/^\d/);
  },
);

test('the environment of an enclosing git does not reach ours', async () => {
  const repo = scriptedRepo('commit one');
  vi.stubEnv('GIT_DIR', '/no/such/place');
  vi.stubEnv('GIT_INDEX_FILE', '/no/such/index');
  vi.stubEnv('GIT_OBJECT_DIRECTORY', '/no/such/objects');
  const { stdout } = await runGit(['rev-parse', 'HEAD'], { gitDir: join(repo, '.git') });
  vi.unstubAllEnvs();
  expect(stdout.toString().trim()).toBe(git(repo, ['rev-parse', 'HEAD']));
});

test('a failure carries the code and the end of what git said, bounded', async () => {
  vi.stubEnv('MOUND_GIT', fakeGit('yes "a long complaint" | head -c 1000000 >&2; echo "the end" >&2; exit 3'));
  const failure = await runGit(['anything']).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'git-failed', fields: { exitCode: 3 } });
  const { message } = failure as Error;
  expect(message).toContain('the end');
  expect(message.length).toBeLessThan(10_000);
});

test('a git that ends before it has read its input is a failure with its code, not a broken pipe', async () => {
  vi.stubEnv('MOUND_GIT', fakeGit('exit 7'));
  const big = [Buffer.alloc(1 << 20), Buffer.alloc(1 << 20)];
  await expect(runGit(['x'], { input: big })).rejects.toMatchObject({ fields: { exitCode: 7 } });
});

test('input larger than a pipe passes whole', async () => {
  const child = spawnGit(['hash-object', '--stdin']);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await writeAll(child.stdin, [Buffer.alloc(3 << 20, 1), 'and text']);
  await child.ended;
  expect(Buffer.concat(chunks).toString().trim()).toMatch(/^[0-9a-f]{40}$/);
});

test('a directory that is no repository is refused, also one inside a repository', async () => {
  const repo = scriptedRepo('mkdir inner; echo 1 > inner/f; commit one');
  await expect(resolveGitDir(join(repo, 'inner'))).rejects.toMatchObject({ code: 'not-a-git-repository' });
  await expect(resolveGitDir('/no/such/dir')).rejects.toMatchObject({ code: 'not-a-git-repository' });
  await expect(resolveGitDir(join(repo, 'inner/f'))).rejects.toMatchObject({ code: 'not-a-git-repository' });
});

test('a git directory, a worktree and a linked worktree are all found', async () => {
  const repo = scriptedRepo('commit one; git worktree add -q ../linked 2>/dev/null');
  expect(await resolveGitDir(repo)).toBe(join(repo, '.git'));
  expect(await resolveGitDir(join(repo, '.git'))).toBe(join(repo, '.git'));
  expect(await resolveGitDir(join(repo, '../linked'))).toBe(join(repo, '.git/worktrees/linked'));
});

test('a repository of another id format is refused by name', async () => {
  const dir = join(temporaryDir(), 'sha256');
  mkdirSync(dir);
  git(dir, ['init', '-q', '--object-format=sha256']);
  await expect(resolveGitDir(dir)).rejects.toThrow('sha256');
});
