import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Author } from '../core/intent.ts';
import type { Repo } from '../repo/api.ts';
import { initRepo } from '../repo/open.ts';
import { colocate, colocationOf, exportColocated, hideFromGit, importColocated, trunkRef } from './colocation.ts';
import { jsonOf, mound } from './command.test.kit.ts';
import { fsck, git, removeTemporaries, run, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';

afterAll(removeTemporaries);

const worker: Author = { name: 'Worker', kind: 'agent', agent: 'w-1', model: 'm-1' };
const lines = (first: string, last: string): string => `${first}\n2\n3\n4\n5\n6\n7\n${last}\n`;

const checkout = (): string =>
  scriptedRepo('printf "1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n" > f; commit one; git branch topic; git tag v1');

async function colocated(dir: string, branch = 'mound'): Promise<Repo> {
  const repo = await initRepo(dir);
  await hideFromGit(dir);
  await colocate(repo, branch);
  return repo;
}

async function work(repo: Repo, path: string, content: string, task = 't-1'): Promise<void> {
  const changes = [{ kind: 'put' as const, path, content, expect: { kind: 'any' as const } }];
  const { kind } = await repo.land({ author: worker, message: `Work on ${path}`, task, changes });
  expect(kind).toBe('landed');
}

function commit(dir: string, path: string, text: string): string {
  writeFileSync(join(dir, path), text);
  git(dir, ['add', '-A']);
  git(dir, ['commit', '-qm', `git: ${path}`]);
  return git(dir, ['rev-parse', 'HEAD']);
}

const read = (repo: Repo, path: string): string | undefined => repo.snapshot().read(path)?.toString();

test('init in a checkout takes it in, hides itself, and what lands comes out on a branch of its own', async () => {
  const dir = checkout();
  const before = git(dir, ['rev-parse', 'main']);
  const made = await mound(['init', dir, '--git-branch', 'swarm/work', '--json']);
  expect([made.code, made.stderr]).toEqual([0, '']);
  expect(jsonOf(made)).toMatchObject({ repo: dir, gitBranch: 'swarm/work', commits: 1, head: before });
  expect(git(dir, ['status', '--porcelain', '--ignored'])).toBe('!! .mound/');

  const agent = ['--agent', 'w-1', '--model', 'm-1', '--author', 'Worker'];
  await mound(['--repo', dir, 'put', 'new.txt', '-m', 'Add it', ...agent], 'new\n');
  const out = await mound(['--repo', dir, 'export', '--json']);
  const head = git(dir, ['rev-parse', 'swarm/work']);
  expect([out.code, jsonOf(out)]).toEqual([0, expect.objectContaining({ commits: 1, head, skips: [] })]);
  expect(git(dir, ['log', '-1', '--format=%an <%ae>%n%B', 'swarm/work'])).toBe(
    'Worker <w-1@mound.invalid>\nAdd it\n\nAgent: w-1\nModel: m-1',
  );
  // The checkout itself stands as it was.
  expect([git(dir, ['status', '--porcelain']), git(dir, ['rev-parse', 'HEAD'])]).toEqual(['', before]);

  // A pull request, merged in git, comes back without a directory being named.
  git(dir, ['merge', '-q', '--no-ff', '-m', 'Pull', 'swarm/work']);
  const back = await mound(['--repo', dir, 'import']);
  expect([back.code, back.stderr]).toEqual([0, '']);
  expect(back.stdout).toMatch(/^imported 1 commit; head [0-9a-f]{40} is seq \d+\n$/);
  expect(jsonOf(await mound(['--repo', dir, 'export', '--json']))).toMatchObject({ commits: 0 });
  expect(git(dir, ['rev-parse', 'swarm/work'])).toBe(git(dir, ['rev-parse', 'main']));
  expect(fsck(dir)).toBe('');
});

test('where both moved, git’s side is merged into main, and git can go on from there', async () => {
  const dir = checkout();
  const repo = await colocated(dir);
  await work(repo, 'f', lines('one', '8'));
  const theirs = commit(dir, 'f', lines('1', 'eight'));
  git(dir, ['tag', 'v2']);
  const { followed, commits } = await importColocated(repo);
  expect([commits, followed]).toEqual([1, [{ branch: 'main', followup: expect.objectContaining({ kind: 'merged' }) }]]);
  expect(read(repo, 'f')).toBe(lines('one', 'eight'));
  expect((await importColocated(repo)).followed).toEqual([{ branch: 'main', followup: { kind: 'current' } }]);
  const { head } = await exportColocated(repo);
  expect(git(dir, ['log', '-1', '--format=%P', String(head)]).split(' ')[1]).toBe(theirs);
  git(dir, ['merge', '-q', '--ff-only', 'mound']);
  expect(readFileSync(join(dir, 'f'), 'utf8')).toBe(lines('one', 'eight'));
  expect(repo.tags().map(({ name, seq }) => [name, repo.gitMarks.gitIdOf(seq)])).toContainEqual(['v2', theirs]);

  // A conflict is kept, asked for once, and closed like any other.
  await work(repo, 'f', lines('uno', 'eight'));
  const other = commit(dir, 'f', lines('un', 'eight'));
  const [conflicted] = (await importColocated(repo)).followed;
  expect(conflicted?.followup).toMatchObject({ kind: 'conflicted', paths: ['f'] });
  const told = await mound(['--repo', dir, 'import']);
  expect([told.code, told.stderr]).toEqual([
    3,
    expect.stringMatching(/^mound: git's main conflicts with main as \S+ \(f\); /),
  ]);
  const [conflict, ...others] = repo.conflicts();
  expect(others).toEqual([]);
  const results = [{ path: 'f', content: lines('un, uno', 'eight') }];
  const otherwise = { fate: 'transformed' } as const;
  const resolution = { author: worker, message: 'Settle it', results, otherwise };
  expect(await repo.resolve(conflict?.id ?? '', resolution)).toMatchObject({ kind: 'landed' });
  expect((await importColocated(repo)).followed[0]?.followup).toEqual({ kind: 'current' });
  await exportColocated(repo);
  expect(git(dir, ['merge-base', '--is-ancestor', other, 'mound'])).toBe('');
  expect(fsck(dir)).toBe('');
  await repo.close();
});

test('what was merged once and went on in git alone is refused, with a way on that works', async () => {
  const dir = checkout();
  const repo = await colocated(dir);
  await work(repo, 'a', 'a\n');
  commit(dir, 'g1', '1\n');
  await importColocated(repo);
  const seq = repo.snapshot().seq;
  commit(dir, 'g2', '2\n');
  const told = await mound(['--repo', dir, 'import']);
  expect([told.code, told.stderr]).toEqual([
    4,
    "mound: git's main was not taken: it was not begun on branch 'main'; " +
      "or 'git merge refs/mound/main' there, then 'mound import'\n",
  ]);
  expect(read(repo, 'g2')).toBeUndefined();
  expect(repo.branch('main').seq).toBeLessThanOrEqual(seq);
  git(dir, ['merge', '-q', '-m', 'both', trunkRef]);
  expect((await importColocated(repo)).followed[0]?.followup).toMatchObject({ kind: 'forward' });
  expect(['a', 'g1', 'g2'].map((path) => read(repo, path))).toEqual(['a\n', '1\n', '2\n']);
  await exportColocated(repo);
  expect(git(dir, ['rev-parse', 'mound'])).toBe(git(dir, ['rev-parse', 'main']));
  await repo.close();
});

test('a branch for exports that is checked out is never moved; commits made on it come in', async () => {
  const dir = checkout();
  const repo = await colocated(dir);
  await work(repo, 'a', 'a\n');
  await exportColocated(repo);
  git(dir, ['checkout', '-q', 'mound']);
  const review = commit(dir, 'a', 'a, reviewed\n');
  await expect(exportColocated(repo)).resolves.toMatchObject({ skips: [{ name: 'refs/heads/mound' }] });
  git(dir, ['checkout', '-q', 'main']);
  await expect(exportColocated(repo)).rejects.toMatchObject({
    code: 'git-failed',
    message: expect.stringContaining("'mound import' takes them in"),
  });
  git(dir, ['checkout', '-q', 'mound']);
  expect((await importColocated(repo)).followed).toEqual([
    { branch: 'mound', followup: { kind: 'forward', commits: 1 } },
    { branch: 'main', followup: { kind: 'current' } },
  ]);
  expect(read(repo, 'a')).toBe('a, reviewed\n');
  await work(repo, 'b', 'b\n');
  const { skips, head } = await exportColocated(repo);
  expect(skips).toEqual([
    {
      name: 'refs/heads/mound',
      reason: `it is checked out in '${dir}'`,
      remedy: "'git merge --ff-only refs/mound/main' there brings it forward",
    },
  ]);
  expect(git(dir, ['rev-parse', 'mound'])).toBe(review);
  git(dir, ['merge', '-q', '--ff-only', trunkRef]);
  expect(await exportColocated(repo)).toMatchObject({ head, skips: [], commits: 0 });
  await repo.close();
});

test('a checkout without a commit, and a linked worktree', async () => {
  const empty = temporaryDir();
  git(empty, ['init', '-q', '-b', 'trunk', '.']);
  const repo = await colocated(empty);
  expect((await exportColocated(repo)).head).toBeUndefined();
  const first = commit(empty, 'a', 'a\n');
  expect((await importColocated(repo)).head).toBe(first);
  expect(read(repo, 'a')).toBe('a\n');
  await work(repo, 'b', 'b\n');
  await exportColocated(repo);
  expect(git(empty, ['log', '--format=%s', 'mound']).split('\n')).toEqual(['Work on b', 'git: a']);
  await repo.close();

  const linked = join(temporaryDir(), 'linked');
  git(checkout(), ['worktree', 'add', '-q', linked, 'topic']);
  const second = await colocated(linked);
  expect((await colocationOf(second))?.gitDir).toContain('/worktrees/');
  expect(git(linked, ['status', '--porcelain'])).toBe('');
  commit(linked, 'c', 'c\n');
  await importColocated(second);
  expect(read(second, 'c')).toBe('c\n');
  await second.close();
});

test('what cannot be is refused before anything is made; what fails leaves no repository', async () => {
  const dir = checkout();
  const refused: [string[], number, RegExp][] = [
    [['--git-branch', 'topic'], 2, /git has a branch 'topic' already; name another/],
    [['--git-branch', 'a..b'], 2, /cannot be called 'a\.\.b'/],
  ];
  for (const [flags, code, says] of refused) {
    const { code: found, stderr } = await mound(['init', dir, ...flags]);
    expect([found, stderr]).toEqual([code, expect.stringMatching(says)]);
    expect(existsSync(join(dir, '.mound'))).toBe(false);
  }
  // An object that is gone is found while the import runs.
  const blob = git(dir, ['rev-parse', 'HEAD:f']);
  run('rm', ['-f', join(dir, '.git', 'objects', blob.slice(0, 2), blob.slice(2))]);
  const broken = await mound(['init', dir]);
  expect([broken.code === 0, broken.stderr.split('\n').length]).toEqual([false, 2]);
  expect(existsSync(join(dir, '.mound'))).toBe(false);
  const plain = await mound(['init', dir, '--no-git']);
  expect(plain.code).toBe(0);
  const nowhere = await mound(['--repo', dir, 'import']);
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringMatching(/^mound: no git directory was named, /)]);
});
