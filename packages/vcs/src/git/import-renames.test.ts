import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Repo } from '../repo/api.ts';
import { openRepo } from '../repo/open.ts';
import { exportGit } from './export.ts';
import { fsck, git, refsOf, removeTemporaries, run, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';
import { importGit } from './import.ts';

afterAll(removeTemporaries);

const history = `
lines(){ seq "$1" "$2"; }
mkdir -p src/deep
lines 1 40 > src/a; lines 100 140 > src/deep/b; lines 200 240 > c; ln -s c link; : > empty
commit made
git mv src/a src/renamed; sed -i s/^7$/seven/ src/renamed; git mv link src/link; git mv empty src/empty
commit moved
git checkout -q -b side
git mv src lib; lines 300 340 > new
commit directory
git checkout -q main; lines 400 440 > d
commit meanwhile
tick; git merge -q --no-ff -m merged side
rm c; lines 500 540 > e
commit other
`;

const movesOf = (repo: Repo, message: string): string[] => {
  const found = [
    ...repo.log({ branch: 'main' }),
    ...repo.branches().flatMap(({ name }) => [...repo.log({ branch: name })]),
  ];
  const view = found.find((each) => each.message.trim() === message);
  return (view?.changes ?? []).flatMap(({ path, movedFrom }) =>
    movedFrom === undefined ? [] : `${movedFrom} > ${path}`,
  );
};

test('what git renamed is a move in the log, and git gets its own ids back', async () => {
  const source = scriptedRepo(history);
  const repo = await openRepo(temporaryDir(), { create: true });
  try {
    await importGit(repo, source);
    expect(movesOf(repo, 'moved')).toEqual(['link > src/link', 'src/a > src/renamed']);
    const directory = ['deep/b', 'link', 'renamed'].map((name) => `src/${name} > lib/${name}`);
    expect(movesOf(repo, 'directory')).toEqual(directory);
    expect(movesOf(repo, 'merged')).toEqual(directory);
    expect(movesOf(repo, 'other')).toEqual([]);
    const first = [...repo.log()].at(-1)?.seq ?? 0;
    expect(repo.snapshot().whereabouts('src/a', first)).toEqual({ kind: 'moved', path: 'lib/renamed' });
    const written = repo.blame('lib/renamed').map(({ path }) => path);
    expect([written[0], written[6]]).toEqual(['src/a', 'src/renamed']);
    // An edit of the file as it was follows it.
    const text = repo.snapshot(first).readText('src/a') ?? '';
    const author = { name: 'w', kind: 'agent' } as const;
    const edit = { author, expect: { kind: 'version', seq: first } } as const;
    const merged = await repo.put('src/a', text.replace('\n30\n', '\nthirty\n'), edit);
    expect(merged).toMatchObject({ kind: 'merged', merged: [{ path: 'lib/renamed' }] });
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });

    const out = join(temporaryDir(), 'out.git');
    await exportGit(repo, out);
    expect(git(out, ['rev-parse', 'main~1'])).toBe(git(source, ['rev-parse', 'main']));
    expect(fsck(out)).toBe('');
  } finally {
    await repo.close();
  }
});

test('so is what a later import brings', async () => {
  const source = scriptedRepo('seq 1 40 > a; commit made');
  const repo = await openRepo(temporaryDir(), { create: true });
  const out = join(temporaryDir(), 'out.git');
  try {
    for (const [from, to] of [
      ['a', 'b'],
      ['b', 'dir/c'],
    ] as const) {
      await importGit(repo, source);
      const script = `mkdir -p dir; git mv ${from} ${to}; echo ${to} >> ${to}; git add -A; git commit -q -m 'to ${to}'`;
      run('sh', ['-c', script], { cwd: source });
    }
    await importGit(repo, source);
    expect([movesOf(repo, 'to b'), movesOf(repo, 'to dir/c')]).toEqual([['a > b'], ['b > dir/c']]);
    await exportGit(repo, out);
    expect(refsOf(out)).toEqual(refsOf(source));
  } finally {
    await repo.close();
  }
});
