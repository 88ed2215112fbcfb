import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Author } from '../core/intent.ts';
import { exportGit } from './export.ts';
import { FakeRepo } from './fake-repo.test.kit.ts';
import { git, refsOf, removeTemporaries, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';
import { importGit } from './import.ts';

afterAll(removeTemporaries);

const worker: Author = { name: 'Worker', kind: 'agent', agent: 'w-1' };

const put = (repo: FakeRepo, path: string, branch = 'main'): ReturnType<FakeRepo['land']> =>
  repo.land({
    branch,
    author: worker,
    message: path,
    changes: [{ kind: 'put', path, content: path, expect: { kind: 'any' } }],
  });

async function imported(script: string): Promise<{ source: string; repo: FakeRepo }> {
  const source = scriptedRepo(script);
  const repo = new FakeRepo();
  await importGit(repo, source);
  return { source, repo };
}

test('the branch that is checked out is not moved, so the next commit there deletes nothing', async () => {
  const { source, repo } = await imported('echo a > a; commit 1; git branch dev');
  await put(repo, 'new');
  await put(repo, 'side', 'dev');
  const before = refsOf(source);
  const refusal = { code: 'git-failed', fields: { refs: ['refs/heads/main'] } };
  await expect(exportGit(repo, source)).rejects.toMatchObject(refusal);
  await expect(exportGit(repo, source, { branch: 'main' })).rejects.toMatchObject(refusal);
  await expect(exportGit(repo, source, { branch: 'dev', ref: 'refs/heads/main' })).rejects.toMatchObject(refusal);
  await expect(exportGit(repo, source)).rejects.toThrow(
    /^branch 'main' is checked out in '[^\n]*repo': [^\n]*bare repository, to another '--ref', or check out another/,
  );
  expect(refsOf(source)).toEqual(before);

  // What is not checked out still goes out, and what stands is no move.
  await exportGit(repo, source, { branch: 'dev' });
  await exportGit(repo, source, { branch: 'main', ref: 'refs/heads/mound/main' });
  writeFileSync(join(source, 'mine'), 'm');
  git(source, ['add', '-A']);
  git(source, ['checkout', '-q', '-b', 'aside']);
  await exportGit(repo, source);
  git(source, ['commit', '-qm', 'mine']);
  expect(git(source, ['diff', '--name-status', 'HEAD~1', 'HEAD'])).toBe('A\tmine');
  git(source, ['checkout', '-q', 'main']);
  expect(await exportGit(repo, source)).toMatchObject({ commits: 0, refs: [], skipped: [] });
});

test('nor a branch that a linked worktree has, asked from either side and from a bare repository', async () => {
  const { source, repo } = await imported('echo a > a; commit 1; git branch dev; git checkout -q --detach');
  const linked = join(temporaryDir(), 'linked');
  git(source, ['worktree', 'add', '-q', linked, 'dev']);
  await put(repo, 'side', 'dev');
  const before = refsOf(source);
  for (const place of [source, linked]) {
    await expect(exportGit(repo, place)).rejects.toMatchObject({ fields: { refs: ['refs/heads/dev'] } });
    await expect(exportGit(repo, place)).rejects.toThrow(/'dev' is checked out in '.*linked'/);
  }
  expect(refsOf(source)).toEqual(before);

  const bare = join(temporaryDir(), 'bare.git');
  git(source, ['clone', '-q', '--bare', source, bare]);
  git(bare, ['worktree', 'add', '-q', join(temporaryDir(), 'of-bare'), 'dev']);
  await expect(exportGit(repo, bare)).rejects.toMatchObject({ fields: { refs: ['refs/heads/dev'] } });
  await put(repo, 'new');
  expect((await exportGit(repo, bare, { branch: 'main' })).refs).toHaveLength(1);
});

test('nor a checked-out branch without a commit; a detached HEAD holds none', async () => {
  const repo = new FakeRepo();
  await put(repo, 'new');
  const empty = scriptedRepo('true');
  await expect(exportGit(repo, empty)).rejects.toMatchObject({ code: 'git-failed' });
  expect(refsOf(empty)).toEqual([]);
  git(empty, ['symbolic-ref', 'HEAD', 'refs/heads/other']);
  expect((await exportGit(repo, empty)).refs).toHaveLength(1);
});
