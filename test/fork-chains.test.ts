import { any, openRepo, version, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { mound } from './kit/process.ts';
import { setup, tempDir, tempRepo } from './kit/temp.ts';

const depth = 40;
const put = (repo: Repo, branch: string, path: string): Promise<unknown> =>
  repo.land({
    author: setup,
    branch,
    message: path,
    changes: [{ kind: 'put', path, content: `${branch}\n`, expect: any }],
  });

/** Each branch is forked from the one before, which goes on after the fork. */
async function chained(dir: string): Promise<Repo> {
  const repo = await tempRepo(dir);
  await put(repo, 'main', 'all');
  for (let at = 1; at <= depth; at++) {
    const from = at === 1 ? 'main' : `b${at - 1}`;
    await repo.fork(`b${at}`, { from });
    await put(repo, from, 'late');
    await put(repo, from, 'all');
    await put(repo, `b${at}`, `own-${at}`);
    if (at % 3 === 0) await put(repo, `b${at}`, 'third');
  }
  return repo;
}

function expectChain(repo: Repo): void {
  const read = (at: number, path: string): string | undefined => {
    const branch = at === 0 ? 'main' : `b${at}`;
    return repo.snapshot(undefined, branch).readText(path)?.trim();
  };
  for (let at = depth; at >= 0; at--) {
    // The last branch has what `main` had at first: all others went on after they were forked from.
    expect(read(at, 'all')).toBe(at === 0 || at === depth ? 'main' : `b${at}`);
    expect(read(at, 'late')).toBe(at === depth ? undefined : at === 0 ? 'main' : `b${at}`);
    expect(read(at, 'third')).toBe(at < 3 ? undefined : `b${at - (at % 3)}`);
    for (const own of [1, at, at + 1])
      expect(read(at, `own-${own}`)).toBe(own >= 1 && own <= at ? `b${own}` : undefined);
  }
}

test('a file is found through many forks of forks, as it was where each was forked', async () => {
  const dir = tempDir();
  const repo = await chained(dir);
  expectChain(repo);
  await repo.close();
  // By a process that knows nothing yet, whichever branch it asks first, and that keeps next to nothing in memory.
  const again = await openRepo(dir, { contentsBytesMax: 0 });
  expectChain(again);
  expect(again.fsck().errors).toEqual([]);
  await again.close();
});

test('a fork that another process made is not taken to hold what this one knew of its parent before', async () => {
  const repo = await tempRepo();
  for (const content of ['one', 'two'])
    await repo.land({
      author: setup,
      message: content,
      changes: [{ kind: 'put', path: 'p', content, expect: any }],
    });
  const seen = repo.snapshot().head('p')?.version ?? 0;
  const landed = await mound(['--repo', repo.dir, 'put', 'p', '--expect', `${seen}`, '-m', 'three'], {
    input: 'three',
  });
  const forked = await mound(['--repo', repo.dir, 'branch', 'f']);
  expect([landed.code, forked.code]).toEqual([0, 0]);
  const stale = { kind: 'put', path: 'p', content: 'mine', expect: version(seen) } as const;
  const outcome = await repo.land({ author: setup, branch: 'f', message: 'mine', changes: [stale], onStale: 'reject' });
  expect(outcome).toMatchObject({ kind: 'rejected', code: 'stale' });
  expect(repo.snapshot(undefined, 'f').readText('p')).toBe('three');
  expect(repo.fsck().errors).toEqual([]);
});

test('nor where this one has added the parent itself, and knows of all that landed on it until then', async () => {
  const repo = await tempRepo();
  await put(repo, 'main', 'p');
  await repo.fork('a', { from: 'main' });
  await repo.fork('b', { from: 'a' });
  await put(repo, 'b', 'q');
  const cli = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await mound(['--repo', repo.dir, ...args], { input: 'theirs' });
    expect(code, stderr).toBe(0);
  };
  await cli('put', 'p', '--branch', 'a', '--expect', 'any', '-m', 'on the parent');
  await cli('branch', 'c', '--from', 'a');
  const stale = { kind: 'put', path: 'p', content: 'mine', expect: version(1) } as const;
  const outcome = await repo.land({ author: setup, branch: 'c', message: 'mine', changes: [stale], onStale: 'reject' });
  expect(outcome).toMatchObject({ kind: 'rejected', code: 'stale' });
  expect(repo.snapshot(undefined, 'c').readText('p')).toBe('theirs');
  // What was forked before does not have it.
  expect(repo.snapshot(undefined, 'b').readText('p')).toBe('main\n');
  await put(repo, 'b', 'p');
  expect(repo.snapshot(undefined, 'b').readText('p')).toBe('b\n');
  expect(repo.fsck().errors).toEqual([]);
});
