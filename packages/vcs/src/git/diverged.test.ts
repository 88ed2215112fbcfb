import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Author } from '../core/intent.ts';
import { exportGit } from './export.ts';
import type { GitRepo } from './fake-repo.test.kit.ts';
import { fsck, git, refsOf, removeTemporaries, run, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';
import { importGit } from './import.ts';
import { stores } from './stores.test.kit.ts';

afterAll(removeTemporaries);

const worker: Author = { name: 'Worker', kind: 'agent', agent: 'w-1' };

const put = (repo: GitRepo, path: string): ReturnType<GitRepo['land']> =>
  repo.land({
    author: worker,
    message: path,
    changes: [{ kind: 'put', path, content: path, expect: { kind: 'any' } }],
  });

const more = (dir: string, script: string): void =>
  void run('sh', ['-c', `set -e; commit(){ git add -A; git commit -q -m "$1"; }\n${script}`], { cwd: dir });

const target = (): string => join(temporaryDir(), 'out.git');

const cases = ['tags', 'no tags'].flatMap((tags) =>
  ['an earlier export', 'none'].map((earlier) => [tags, earlier] as const),
);

describe.each(stores)('main went on both here and in git, through %s', (_, open) => {
  test.each(cases)('with %s and %s: what can go out does, and there is a way on', async (tags, earlier) => {
    const source = scriptedRepo(
      'echo r > r; commit root; git checkout -q -b dev; echo d > d; commit d; git checkout -q main; echo m > m; commit m',
    );
    const repo = await open();
    await importGit(repo, source);
    const out = target();
    if (earlier !== 'none') await exportGit(repo, out);
    await put(repo, 'nat.txt');
    more(source, `echo g > g; commit g; ${tags === 'tags' ? 'git tag v1; git tag -a -m m v2' : 'true'}`);
    expect(await importGit(repo, source)).toMatchObject({ commits: 1, diverged: ['main'] });
    expect(await importGit(repo, source)).toMatchObject({ commits: 0, diverged: ['main'] });

    // Into git's own repository: its main is left alone, with the reason.
    const before = refsOf(source);
    const same = await exportGit(repo, source);
    expect(same).toMatchObject({ head: undefined, skipped: ['git/heads/main', 'refs/heads/main'] });
    expect(same.skips[1]?.reason).toBe("git has commits there that branch 'main' does not");
    expect(refsOf(source)).toEqual(before);

    const fresh = target();
    for (const place of [out, fresh]) {
      const { head, skipped } = await exportGit(repo, place);
      expect([head, skipped]).toEqual([git(place, ['rev-parse', 'main']), ['git/heads/main']]);
      expect(git(place, ['ls-tree', '--name-only', 'main']).split('\n')).toEqual(['m', 'nat.txt', 'r']);
      expect(git(place, ['rev-parse', 'dev'])).toBe(git(source, ['rev-parse', 'dev']));
      expect(refsOf(place).filter((ref) => ref.includes('refs/tags/'))).toHaveLength(tags === 'tags' ? 2 : 0);
      expect(fsck(place)).toBe('');
    }

    // The way on that the warning names.
    await exportGit(repo, source, { branch: 'main', ref: 'refs/heads/mound/main' });
    more(source, 'git merge -q --no-ff -m both mound/main');
    expect(await importGit(repo, source)).toMatchObject({ commits: 1, diverged: [] });
    await exportGit(repo, fresh);
    expect(refsOf(fresh)).toEqual(refsOf(source));
    await put(repo, 'after');
    git(source, ['checkout', '-q', '--detach']);
    expect(await exportGit(repo, source)).toMatchObject({ commits: 1, skipped: [] });
    expect(fsck(source)).toBe('');
    await repo.close();
  });
});
