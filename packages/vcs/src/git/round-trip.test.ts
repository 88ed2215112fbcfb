import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { exportGit } from './export.ts';
import type { GitRepo } from './fake-repo.test.kit.ts';
import {
  casesDir,
  fsck,
  git,
  readCase,
  readJson,
  refsOf,
  removeTemporaries,
  run,
  scriptedRepo,
  temporaryDir,
} from './git-fixtures.test.kit.ts';
import { importGit, type ImportOptions } from './import.ts';
import { emptyTreeId } from './object-id.ts';
import { stores } from './stores.test.kit.ts';

afterAll(removeTemporaries);

/** Histories whose every ref must come back with its id. */
const histories: Readonly<Record<string, string>> = {
  'one commit': `echo a > a; commit one`,
  'an empty first commit': `commit empty; echo a > a; commit one`,
  'an empty commit in between and at the end': `echo a > a; commit 1; commit 2; echo b > b; commit 3; commit 4`,
  'all files deleted': `mkdir d; echo a > d/a; commit 1; rm -r d; commit 2; echo b > b; commit 3`,
  'no message, and one without a newline at its end': `
    commit ''; tick; git commit-tree -p HEAD $(git write-tree) < /dev/null > ../id
    printf 'no newline' | git commit-tree -p $(cat ../id) $(git write-tree) > ../id2; git reset -q --hard $(cat ../id2)`,
  'modes: executable, link, gitlink, and flips between them': `
    echo a > f; ln -s f l; commit 1; chmod +x f; commit 2; rm l; echo l > l; commit 3; rm f; ln -s l f; commit 4
    git update-index --add --cacheinfo 160000,${'1'.repeat(40)},sub; tick; git commit -qm 5
    git update-index --cacheinfo 160000,${'2'.repeat(40)},sub; tick; git commit -qm 6
    rm -rf sub f; git rm -q --cached sub; echo now a file > sub; chmod +x sub; commit 7; rm sub; mkdir sub; echo s > sub/s; commit 8
    rm -r sub; git rm -q --cached sub/s; git update-index --add --cacheinfo 160000,${'3'.repeat(40)},sub; tick; git commit -qm 9`,
  'bytes: empty, binary, CRLF, no newline': `
    : > empty; printf '\\000\\377\\n' > binary; printf 'a\\r\\nb' > crlf; commit 1; echo x > empty; : > binary; commit 2`,
  'a file that is emptied, and one that is filled': `echo full > f; : > e; commit 1; printf x > e; : > f; commit 2
    rm e; echo text > f; commit 3; : > f; commit 4`,
  'the first empty file is one that was emptied': `echo full > f; commit 1; : > f; commit 2`,
  'a merge, its side lines, and a branch that was not merged': `
    echo a > a; commit 1; git checkout -q -b side; echo s > s; commit s1; echo s2 > s; commit s2
    git checkout -q main; echo b > b; commit 2; tick; git merge -q --no-ff -m merge side
    git checkout -q -b open side; echo o > o; commit o1; git checkout -q main; git branch -D side -q; echo c > c; commit 3`,
  'an octopus': `
    echo a > a; commit 1; for k in x y z; do git checkout -q -b $k main; echo $k > $k; commit $k; done
    git checkout -q main; tick; git merge -q -m octopus x y z; git branch -qD x y z; commit after`,
  'merges of merges, criss-cross': `
    echo a > a; commit 1; git branch other; echo m > m; commit 2; git checkout -q other; echo o > o; commit 3
    git checkout -q main; tick; git merge -q -m m1 other; git checkout -q other; tick; git merge -q -m m2 main~1
    echo p > p; commit 4; git checkout -q main; tick; git merge -q -m m3 other; git branch -qD other`,
  'a merge that takes nothing, and one whose first parent was behind': `
    echo a > a; commit 1; git checkout -q -b side; echo b > b; commit 2; git checkout -q main; merge 'ours' side
    git checkout -q -b late HEAD~1; echo l > l; commit 3; git checkout -q main; git reset -q --hard late; merge swap side`,
  'two roots, merged and not': `
    echo a > a; commit 1; git checkout -q --orphan second; git rm -rfq .; echo b > b; commit r2; echo c > b; commit r3
    git checkout -q main; tick; git merge -q --allow-unrelated-histories -m join second; git checkout -q --orphan alone
    git rm -rfq .; echo z > z; commit lonely; git branch -qD second`,
  'a branch at the head of another, at an older commit, and equal names below': `
    echo a > a; commit 1; echo b > b; commit 2; git branch same; git branch old HEAD~1; git branch deep/er/name; git branch ünï`,
  'tags: plain, annotated, of a tag, of a blob, on side lines only': `
    echo a > a; commit 1; git tag plain; tick; git tag -a -m annotated v1; git tag -a -m nested nested v1
    git tag -a -m blob blob $(git rev-parse HEAD:a); git checkout -q --detach; echo s > s; commit side; git tag only-here
    tick; git tag -a -m 'also here' also-here; git checkout -q main; commit 2; git tag deep/name`,
  'a HEAD of another name beside a main': `
    echo a > a; commit 1; git checkout -q -b trunk; echo b > b; commit 2; git checkout -q main; echo c > c; commit 3
    git checkout -q trunk`,
  'a detached HEAD': `echo a > a; commit 1; git checkout -q --detach; commit 2`,
  'identities and encodings': `
    echo a > a; export GIT_AUTHOR_NAME='Jürgen "J" <x' GIT_AUTHOR_EMAIL=; commit 'ünï'
    git config i18n.commitEncoding iso-8859-1; printf 'm\\344h\\n\\nno end' > ../m; tick; git commit -q --allow-empty -F ../m
    git config i18n.commitEncoding utf-8; printf 'bad \\377 byte' | git commit-tree -p HEAD $(git write-tree) > ../id 2>/dev/null
    git reset -q --hard $(cat ../id)`,
  'time zones and dates': `
    for d in '@0 +0000' '@1700000000 -0000' '@1700000000 +1400' '@4102444800 +0545'; do
      GIT_AUTHOR_DATE="$d" GIT_COMMITTER_DATE="$d" git commit -q --allow-empty -m "$d"; done`,
  'many directories, a revert and a rename': `
    for k in 1 2 3 4 5 6 7 8 9; do mkdir -p d$k/e/f; echo $k > d$k/e/f/g; echo $k > d$k.x; done; commit 1
    git mv d1 d0; commit 2; tick; git revert --no-edit HEAD -q >/dev/null 2>&1 || git revert --no-edit HEAD > /dev/null
    git mv d2/e/f/g d2/e/f/h; commit 3`,
};

/** The sources are only read: both stores take the same. */
const sources = new Map<string, string>();
const sourceOf = (name: string): string => {
  const source = sources.get(name) ?? scriptedRepo(histories[name] ?? '');
  sources.set(name, source);
  return source;
};

async function roundTrip(repo: GitRepo, source: string, options: ImportOptions = {}): Promise<string> {
  const target = join(temporaryDir(), 'out.git');
  await importGit(repo, source, options);
  await exportGit(repo, target);
  expect(refsOf(target)).toEqual(refsOf(source));
  return target;
}

/** Of these it is enough to pass through the fake, which has nothing but what an importer may ask for. */
const throughFake = ['an octopus', 'two roots, merged and not', 'time zones and dates'];

describe.each(stores)('import and export through %s', (store, open) => {
  test.each(store === 'the fake' ? throughFake : Object.keys(histories))('%s', async (name) => {
    const source = sourceOf(name);
    const repo = await open();
    const target = await roundTrip(repo, source);
    expect(fsck(target)).toBe(fsck(source));
    const head = name === 'a detached HEAD' ? 'refs/heads/main' : git(source, ['symbolic-ref', 'HEAD']);
    expect(git(target, ['symbolic-ref', 'HEAD'])).toBe(head);

    // Again: nothing is new either way.
    const again = await importGit(repo, source);
    expect([again.commits, again.diverged]).toEqual([0, []]);
    const seq = repo.snapshot().seq;
    expect(await exportGit(repo, target)).toMatchObject({ commits: 0, refs: [], skipped: [] });
    expect(repo.snapshot().seq).toBe(seq);

    // What came out goes in again as the same.
    const second = await open();
    await roundTrip(second, target);
    await Promise.all([repo.close(), second.close()]);
  });

  test('the flat heads of an imported commit are its files', async () => {
    const source = sourceOf('modes: executable, link, gitlink, and flips between them');
    const repo = await open();
    const { seq, head } = await importGit(repo, source);
    expect(head).toBe(git(source, ['rev-parse', 'main']));
    const files = repo
      .snapshot(seq)
      .list()
      .map(({ path, mode }) => `${path} ${mode}`);
    expect(files).toEqual(['l file', 'sub gitlink']);
    const first = repo.gitMarks.seqOf(git(source, ['rev-parse', 'main~8'])) ?? 0;
    expect(
      repo
        .snapshot(first)
        .list()
        .map(({ path, mode }) => `${path} ${mode}`),
    ).toEqual(['f file', 'l symlink']);
    expect(repo.commit(seq)).toMatchObject({ author: { name: 'Ada', email: 'ada@example.invalid' }, message: '9\n' });
    await repo.close();
  });

  test('a landing has the parents of its commit, each once', async () => {
    const source = sourceOf('an octopus');
    const repo = await open();
    await importGit(repo, source);
    for (const line of git(source, ['rev-list', '--parents', 'main']).split('\n')) {
      const [id = '', ...parents] = line.split(' ');
      const view = repo.commit(repo.gitMarks.seqOf(id) ?? 0);
      expect(view.parents).toEqual(parents.map((parent) => repo.commit(repo.gitMarks.seqOf(parent) ?? 0).commit));
    }
    await repo.close();
  });

  test('odd trees come back as they were, and what builds on them is the same at every export', async () => {
    const source = scriptedRepo('mkdir d e; echo a > d/a; echo b > b; echo e > e/e; commit 1');
    const blob = git(source, ['rev-parse', 'HEAD:b']);
    const tree = (entries: readonly (readonly [string, string])[]): string => {
      const raw = entries.flatMap(([name, id]) => [Buffer.from(`${name}\0`), Buffer.from(id, 'hex')]);
      return git(source, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], Buffer.concat(raw));
    };
    const d = git(source, ['rev-parse', 'HEAD:d']);
    const odd = tree([
      ['100664 f', blob],
      ['100600 g', blob],
      ['100775 x', blob],
    ]);
    git(source, ['hash-object', '-t', 'tree', '-w', '--stdin'], '');
    const roots = [
      tree([
        ['100644 b', blob],
        ['40000 d', d],
        ['40000 odd', odd],
      ]),
      tree([
        ['100644 b', blob],
        ['40000 deep', tree([['40000 odd', odd]])],
        ['40000 odd', odd],
      ]),
      tree([
        ['40000 d', d],
        ['40000 empty', emptyTreeId],
        ['40000 padded', tree([['040000 d', d]])],
      ]),
      tree([
        ['100644 b', blob],
        ['40000 deep', tree([['40000 odd', odd]])],
      ]),
      tree([['40000 empty', emptyTreeId]]),
      tree([
        ['100644 b', blob],
        ['40000 odd', odd],
      ]),
    ];
    let head = git(source, ['rev-parse', 'HEAD']);
    for (const root of roots) head = git(source, ['commit-tree', '-p', head, '-m', root, root]);
    git(source, ['update-ref', 'refs/heads/main', head]);
    const repo = await open();
    const target = await roundTrip(repo, source);
    expect(git(target, ['log', '--format=%T'])).toBe(git(source, ['log', '--format=%T']));

    const author = { name: 'w', kind: 'agent' } as const;
    const put = { kind: 'put', path: 'd/new', content: 'n', expect: { kind: 'any' } } as const;
    await repo.land({ author, message: 'on top', changes: [put] });
    await exportGit(repo, target);
    const fresh = join(temporaryDir(), 'fresh.git');
    await exportGit(repo, fresh);
    expect(refsOf(target)).toEqual(refsOf(fresh));
    expect(git(fresh, ['ls-tree', '-r', 'main', '--format=%(objectmode) %(path)']).split('\n')).toEqual([
      '100644 b',
      '100644 d/new',
      '100644 odd/f',
      '100644 odd/g',
      '100755 odd/x',
    ]);
    await repo.close();
  });

  test('a large commit does not overtake or fall behind the small ones around it', async () => {
    const source = scriptedRepo(`
      echo 0 > counter; commit 0
      for k in 1 2 3; do echo a$k > counter; commit a$k
        head -c 3000000 /dev/urandom > big; echo b$k > counter; commit b$k; echo c$k > counter; commit c$k; done`);
    const repo = await open();
    await roundTrip(repo, source);
    expect(repo.snapshot().readText('counter')).toBe('c3\n');
    await repo.close();
  });

  test('a shallow clone that is taken as it is comes back as one', async () => {
    const source = scriptedRepo('for k in 1 2 3 4; do echo $k > f; commit $k; done');
    const shallow = join(temporaryDir(), 'shallow');
    git('/', ['clone', '-q', '--depth=2', `file://${source}`, shallow]);
    const repo = await open();
    const target = await roundTrip(repo, shallow, { shallow: true });
    expect(fsck(target)).toBe('');
    expect(git(target, ['rev-list', '--count', 'main'])).toBe('2');
    await repo.close();
  });

  describe.skipIf(casesDir() === undefined)('cases', () => {
    test('13, tree order', async () => {
      const files = readJson('13-tree-order/files.json') as Record<string, string>;
      const { rootTree, entries } = readJson('13-tree-order/expected.json') as { rootTree: string; entries: string[] };
      const source = scriptedRepo('commit empty');
      for (const [path, content] of Object.entries(files)) {
        if (content.startsWith('(')) continue;
        const id = git(source, ['hash-object', '-w', '--stdin'], content);
        git(source, ['update-index', '--add', '--cacheinfo', `100644,${id},${path}`]);
      }
      git(source, ['commit', '-qm', 'files']);
      const repo = await open();
      const target = await roundTrip(repo, source);
      expect(git(target, ['rev-parse', 'main^{tree}'])).toBe(rootTree);
      expect(git(target, ['ls-tree', 'main']).split('\n')).toEqual(entries);
      expect(fsck(target)).toBe('');
      await repo.close();
    });

    test('14, odd commit headers', async () => {
      const source = scriptedRepo('git hash-object -t tree -w --stdin < /dev/null > /dev/null');
      const expected = readJson('14-odd-commit-headers/expected.json') as Record<string, { id: string }>;
      for (const file of readdirSync(join(casesDir() ?? '', '14-odd-commit-headers/raw'))) {
        const raw = readCase(`14-odd-commit-headers/raw/${file}`);
        const id = git(source, ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], raw);
        run('sh', ['-c', `echo ${id} > .git/refs/heads/${file.replace('.commit', '')}`], { cwd: source });
      }
      const repo = await open();
      const target = await roundTrip(repo, source);
      const heads = refsOf(target).map((line) => line.split(' refs/heads/'));
      expect(Object.fromEntries(heads.map(([id, name]) => [name, { id }]))).toMatchObject(
        Object.fromEntries(Object.entries(expected).map(([name, { id }]) => [name, { id }])),
      );
      await repo.close();
    });

    test('16, quoted and non-UTF-8 paths', async () => {
      const source = scriptedRepo('commit one; git checkout -q --detach; git branch -qD main');
      git(source, ['fast-import', '--quiet', '--done'], readCase('16-quoted-and-non-utf8-paths/names.fi'));
      const expected = readJson('16-quoted-and-non-utf8-paths/expected.json') as Record<string, string | string[]>;
      const repo = await open();
      const target = await roundTrip(repo, source);
      expect(git(target, ['rev-parse', 'main', 'main^{tree}']).split('\n')).toEqual([
        expected['commit'],
        expected['rootTree'],
      ]);
      const names = run('git', ['ls-tree', '-rz', '--name-only', 'main'], { cwd: target }).toString('latin1');
      expect(
        names
          .split('\0')
          .filter(Boolean)
          .map((name) => Buffer.from(name, 'latin1').toString('hex')),
      ).toEqual(expected['namesHexInTreeOrder']);
      expect(repo.snapshot().read('//hex:e42d6c6174696e312e747874')?.toString()).toBe('file 7\n');
      await repo.close();
    });

    test('26, a file becomes a directory', async () => {
      const source = join(temporaryDir(), 'repo');
      run('sh', [join(casesDir() ?? '', '26-file-becomes-directory/make-repo.sh'), source]);
      const expected = readJson('26-file-becomes-directory/expected.json') as { commit: string; tree: string }[];
      const repo = await open();
      const target = await roundTrip(repo, source);
      const commits = git(target, ['log', '--reverse', '--format=%H %T', 'main']).split('\n');
      expect(commits).toEqual(expected.map(({ commit, tree }) => `${commit} ${tree}`));
      expect(fsck(target)).toBe('');
      await repo.close();
    });
  });
});
