import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Author } from '../core/intent.ts';
import { exportGit } from './export.ts';
import { FakeRepo, type GitRepo } from './fake-repo.test.kit.ts';
import { fsck, git, refsOf, removeTemporaries, run, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';
import { importGit } from './import.ts';
import { stores } from './stores.test.kit.ts';

afterAll(removeTemporaries);

const worker: Author = { name: 'Worker', kind: 'agent', agent: 'w-1', model: 'm' };
const any = { kind: 'any' } as const;

const put = (repo: GitRepo, path: string, content: string, branch = 'main'): ReturnType<GitRepo['land']> =>
  repo.land({
    branch,
    author: worker,
    message: `Put ${path}`,
    task: 'T-1',
    changes: [{ kind: 'put', path, content, expect: any }],
  });

/** More commits in a repository that a script made; their times do not matter. */
const more = (dir: string, script: string): void =>
  void run('sh', ['-c', `set -e; commit(){ git add -A; git commit -q --allow-empty -m "$1"; }\n${script}`], {
    cwd: dir,
  });

const target = (): string => join(temporaryDir(), 'out.git');

const stop = (): never => {
  throw new Error('stopped by the caller');
};

describe.each(stores)('in steps through %s', (_, open) => {
  test('new commits, branches and tags are brought in by the next import, and out by the next export', async () => {
    const source = scriptedRepo(
      'echo a > a; commit 1; git checkout -q -b side; echo s > s; commit s1; git checkout -q main',
    );
    const repo = await open();
    const out = target();
    const steps = [
      'echo b > b; commit 2; git tag v1',
      'git checkout -q side; echo t > t; commit s2; git checkout -q main; git merge -q --no-ff -m merge side; git tag -a -m m v2',
      'git branch -qD side; git checkout -q -b other HEAD~1; commit o1; git checkout -q main',
      'git checkout -q other; git merge -q --no-ff -m back main; git checkout -q main; git merge -q other; commit last',
      'git tag -f v1 >/dev/null; git branch late v2~1',
    ];
    for (const [index, script] of ['true', ...steps].entries()) {
      more(source, script);
      const { commits, diverged } = await importGit(repo, source);
      expect(commits > 0 || index === 5).toBe(true);
      // A branch that git moved to a commit of another branch's line cannot be moved here; told again each time.
      expect(diverged).toEqual(index >= 4 ? ['other'] : []);
      await exportGit(repo, out);
      expect(refsOf(out)).toEqual(expect.arrayContaining(refsOf(source)));
    }
    expect(fsck(out)).toBe('');
    await repo.close();
  });

  test('only the branches that are named', async () => {
    const source = scriptedRepo(
      'commit 1; git tag v1; git checkout -q -b dev; commit 2; git checkout -q -b junk main; commit 3',
    );
    const repo = await open();
    const result = await importGit(repo, source, { branches: ['dev'] });
    expect(result).toMatchObject({ commits: 2, head: git(source, ['rev-parse', 'dev']), skippedRefs: [] });
    expect(repo.branches().map(({ name }) => name)).toEqual(['main']);
    expect(repo.tags()).toEqual([]);
    await expect(importGit(repo, source, { branches: ['nope'] })).rejects.toMatchObject({ code: 'no-such-branch' });
    await importGit(repo, source);
    const out = target();
    await exportGit(repo, out);
    expect(refsOf(out)).toEqual(refsOf(source));
    await repo.close();
  });

  test('work that lands here goes out as ordinary commits, comes back as nothing new, and mixes with work in git', async () => {
    const source = scriptedRepo('echo a > a; commit 1');
    const repo = await open();
    await importGit(repo, source);
    await put(repo, 'src/new.ts', 'one\n');
    await put(repo, 'src/new.ts', 'two\n');
    await repo.fork('agent/one');
    await put(repo, 'b', 'b', 'agent/one');
    git(source, ['checkout', '-q', '--detach']);
    const result = await exportGit(repo, source);
    expect(result).toMatchObject({ commits: 3, head: git(source, ['rev-parse', 'main']) });
    expect(refsOf(source).map((line) => line.split(' ')[1])).toEqual(['refs/heads/agent/one', 'refs/heads/main']);
    expect(git(source, ['show', 'main:src/new.ts'])).toBe('two');
    expect(git(source, ['log', '-1', '--format=%an <%ae>%n%B', 'main'])).toBe(
      'Worker <w-1@mound.invalid>\nPut src/new.ts\n\nTask: T-1\nAgent: w-1\nModel: m',
    );
    expect(git(source, ['rev-list', '--count', 'main'])).toBe('3');

    git(source, ['checkout', '-q', 'main']);
    more(source, 'echo from git > g; commit g');
    const back = await importGit(repo, source);
    expect([back.commits, back.diverged]).toEqual([1, []]);
    await put(repo, 'after', 'x');
    git(source, ['checkout', '-q', '--detach']);
    await exportGit(repo, source, { branch: 'main' });
    expect(git(source, ['ls-tree', '-r', '--name-only', 'main']).split('\n')).toEqual([
      'a',
      'after',
      'g',
      'src/new.ts',
    ]);
    expect(fsck(source)).toBe('');

    const fresh = target();
    await exportGit(repo, fresh);
    expect(refsOf(fresh)).toEqual(refsOf(source));
    await repo.close();
  });

  test('a repository that never saw git goes out, with an odd name for its ref, and the same ids every time', async () => {
    const repo = await open();
    const [first, second] = [target(), target()];
    expect(await exportGit(repo, first)).toMatchObject({ commits: 0, head: undefined, refs: [] });
    await put(repo, 'x', 'x');
    await put(repo, 'y/z', 'y');
    await exportGit(repo, first, { branch: 'main', ref: 'refs/heads/swarm/out' });
    await exportGit(repo, second);
    expect(refsOf(first)).toEqual([`${git(second, ['rev-parse', 'main'])} refs/heads/swarm/out`]);
    await expect(exportGit(repo, first, { branch: 'nope' })).rejects.toMatchObject({ code: 'no-such-branch' });
    await expect(exportGit(repo, first, { ref: 'refs/heads/a..b' })).rejects.toMatchObject({
      code: 'invalid-argument',
    });
    await repo.close();
  });

  test('what lands while an export runs is for the next one', async () => {
    const repo = await open();
    const out = target();
    await put(repo, 'x', 'x');
    const { gitMarks } = repo;
    const landsOnMark: GitRepo['gitMarks'] = {
      seqOf: (gitId) => gitMarks.seqOf(gitId),
      gitIdOf: (seq) => gitMarks.gitIdOf(seq),
      // Commits are marked after the walk and before the refs move.
      add: async (pairs) => {
        await gitMarks.add(pairs);
        await put(repo, 'y', 'y');
      },
    };
    const watched = new Proxy(repo, {
      get: (from, name) => {
        const value: unknown = name === 'gitMarks' ? landsOnMark : Reflect.get(from, name, from);
        return typeof value === 'function' ? (value as () => unknown).bind(from) : value;
      },
    });
    const first = await exportGit(watched, out);
    expect([first.commits, first.head]).toEqual([1, git(out, ['rev-parse', 'main'])]);
    expect(await exportGit(repo, out)).toMatchObject({ commits: 1 });
    expect(git(out, ['ls-tree', '--name-only', 'main']).split('\n')).toEqual(['x', 'y']);
    await repo.close();
  });

  test('what git has and Mound has not is never overwritten', async () => {
    const source = scriptedRepo('echo a > a; commit 1');
    const repo = await open();
    await importGit(repo, source);
    more(source, 'echo theirs > t; commit theirs');
    const theirs = git(source, ['rev-parse', 'main']);
    await put(repo, 'ours', 'o');
    await expect(exportGit(repo, source, { branch: 'main' })).rejects.toMatchObject({ code: 'git-failed' });
    expect(await exportGit(repo, source)).toMatchObject({ refs: [], skipped: ['refs/heads/main'] });
    expect(git(source, ['rev-parse', 'main'])).toBe(theirs);

    // Imported, it stands beside; still nothing is overwritten.
    expect(await importGit(repo, source)).toMatchObject({ commits: 1, diverged: ['main'] });
    expect(repo.branch('git/heads/main').commit).toBe(repo.commit(repo.gitMarks.seqOf(theirs) ?? 0).commit);
    await expect(exportGit(repo, source, { branch: 'main' })).rejects.toMatchObject({ code: 'git-failed' });
    expect(git(source, ['rev-parse', 'main'])).toBe(theirs);
    await repo.close();
  });

  test('history into a repository that has its own', async () => {
    const source = scriptedRepo('echo a > a; commit 1; git branch dev');
    const repo = await open();
    await put(repo, 'own', 'o');
    const result = await importGit(repo, source);
    expect(result).toMatchObject({ commits: 1, diverged: ['main'] });
    expect(
      repo
        .snapshot()
        .list()
        .map(({ path }) => path),
    ).toEqual(['own']);
    expect(
      repo
        .branches()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['dev', 'git/heads/main', 'main']);
    expect(await importGit(repo, source)).toMatchObject({ commits: 0, diverged: ['main'] });
    await repo.close();
  });

  test('a place that is no repository is refused both ways, and nothing is made of it', async () => {
    const repo = await open();
    const dir = temporaryDir();
    await expect(importGit(repo, dir)).rejects.toMatchObject({ code: 'not-a-git-repository' });
    await expect(importGit(repo, join(dir, 'nope'))).rejects.toMatchObject({ code: 'not-a-git-repository' });
    run('sh', ['-c', 'echo x > file'], { cwd: dir });
    await expect(exportGit(repo, dir)).rejects.toMatchObject({ code: 'not-a-git-repository' });
    expect(existsSync(join(dir, 'HEAD'))).toBe(false);
    await repo.close();
  });

  test('an empty repository is no commits', async () => {
    const repo = await open();
    expect(await importGit(repo, scriptedRepo('true'))).toMatchObject({ commits: 0, head: undefined, seq: 0 });
    await repo.close();
  });

  test('progress counts up to the total', async () => {
    const source = scriptedRepo('commit 1; commit 2; commit 3');
    const repo = await open();
    const seen: string[] = [];
    const note = ({ commits, commitsTotal }: { commits: number; commitsTotal: number }): void =>
      void seen.push(`${commits}/${commitsTotal}`);
    // An import tells after each group of landings.
    await importGit(repo, source, { onProgress: note });
    expect(seen.splice(0)).toEqual(['3/3']);
    await exportGit(repo, target(), { onProgress: note });
    expect(seen).toEqual(['1/3', '2/3', '3/3']);

    const other = await open();
    await expect(importGit(other, source, { onProgress: stop })).rejects.toThrow('stopped by the caller');
    await importGit(other, source);
    await expect(exportGit(other, target(), { onProgress: stop })).rejects.toThrow('stopped by the caller');
    await other.close();
    await repo.close();
  });
});

describe('cut short', () => {
  const script = `
    echo a > a; commit 1; git checkout -q -b side; echo s > s; commit s1; echo s2 > s; commit s2
    git checkout -q main; echo b > b; commit 2; tick; git merge -q --no-ff -m merge side; git branch -qD side
    git checkout -q -b open HEAD~1; echo o > o; commit o1; git checkout -q main; commit 3; git tag -a -m x v1`;

  test('an import that is killed after any landing goes on where it was', async () => {
    const source = scriptedRepo(script);
    const total = Number(git(source, ['rev-list', '--all', '--count']));
    for (let landings = 0; landings <= total; landings++) {
      const repo = new FakeRepo();
      repo.landingsLeft = landings;
      const first = await importGit(repo, source).catch((error: unknown) => error);
      expect(first).toMatchObject(landings < total ? { code: 'repo-closed' } : { commits: total });
      repo.landingsLeft = Number.MAX_SAFE_INTEGER;
      expect((await importGit(repo, source)).diverged).toEqual([]);
      const out = target();
      await exportGit(repo, out);
      expect(refsOf(out)).toEqual(refsOf(source));
    }
  });

  test('an export that fails moves no ref, and the next one is whole', async () => {
    const source = scriptedRepo(script);
    const repo = new FakeRepo();
    await importGit(repo, source);
    const out = target();
    const marks = repo.gitMarks;
    const broken = Object.create(repo, {
      commit: {
        value: (idOrSeq: string | number) => {
          const view = repo.commit(idOrSeq);
          return view.message === '3\n'
            ? { ...view, changes: [], gitRaw: Buffer.from(view.gitRaw ?? '').fill('f', 5, 45) }
            : view;
        },
      },
      gitMarks: { value: marks },
      branches: { value: () => repo.branches() },
      branch: { value: (name: string) => repo.branch(name) },
      tags: { value: () => repo.tags() },
      snapshot: { value: (seq?: number, branch?: string) => repo.snapshot(seq, branch) },
      log: { value: (options?: { from?: number }) => repo.log(options) },
    }) as FakeRepo;
    await expect(exportGit(broken, out)).rejects.toMatchObject({ code: 'object-damaged' });
    expect(refsOf(out)).toEqual([]);
    await exportGit(repo, out);
    expect(refsOf(out)).toEqual(refsOf(source));
    rmSync(out, { recursive: true });
  });

  test('a damaged source fails the import with a typed error', async () => {
    const source = scriptedRepo('echo a > a; commit 1');
    const blob = git(source, ['rev-parse', 'HEAD:a']);
    rmSync(join(source, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    await expect(importGit(new FakeRepo(), source)).rejects.toMatchObject({ code: 'git-unreadable' });
  });

  test('a name that no caller could make is taken and reported', async () => {
    const source = scriptedRepo('echo a > a; commit 1');
    const blob = git(source, ['rev-parse', 'HEAD:a']);
    const raw = Buffer.concat([Buffer.from('100644 git~1\0'), Buffer.from(blob, 'hex')]);
    const tree = git(source, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], raw);
    const odd = git(source, ['commit-tree', '-m', 'x', tree]);
    git(source, ['update-ref', 'refs/heads/main', git(source, ['commit-tree', '-p', odd, '-m', 'y', tree])]);
    const repo = new FakeRepo();
    expect(await importGit(repo, source)).toMatchObject({ flaggedPaths: ['git~1'] });
    // Told again, though its commit is not read again; also after an import that died.
    expect(await importGit(repo, source)).toMatchObject({ commits: 0, flaggedPaths: ['git~1'] });
    const killed = new FakeRepo();
    killed.landingsLeft = 1;
    await expect(importGit(killed, source)).rejects.toMatchObject({ code: 'repo-closed' });
    killed.landingsLeft = 9;
    expect(await importGit(killed, source)).toMatchObject({ commits: 1, flaggedPaths: ['git~1'] });
  });
});
