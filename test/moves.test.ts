import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { absent, version, type Change, type Intent, type Outcome, type Repo } from '@mound/vcs';
import { describe, expect, test } from 'vitest';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => `line ${from + at}\n`).join('');
const ten = lines(0, 10);
const edited = (line: number, text: string): string => ten.replace(`line ${line}\n`, `${text}\n`);

async function repoWith(files: Readonly<Record<string, string>>): Promise<{ repo: Repo; base: number }> {
  const repo = await tempRepo();
  const changes = Object.entries(files).map(
    ([path, content]) => ({ kind: 'put', path, content, expect: absent }) as const,
  );
  await repo.land({ author: setup, message: 'base', changes });
  return { repo, base: repo.snapshot().seq };
}

const land = (repo: Repo, changes: readonly Change[], more: Partial<Intent> = {}): Promise<Outcome> =>
  repo.land({ author: agent('a'), message: 'm', changes, ...more });
const move = (path: string, to: string, seq: number, more: object = {}): Change => ({
  kind: 'move',
  path,
  to,
  expect: version(seq),
  ...more,
});
const put = (path: string, content: string, seq: number): Change => ({
  kind: 'put',
  path,
  content,
  expect: seq === 0 ? absent : version(seq),
});
const remove = (path: string, seq: number): Change => ({ kind: 'delete', path, expect: version(seq) });
const rowsOf = (repo: Repo): string[] =>
  repo.conflicts().flatMap(({ paths }) => paths.map(({ path, kind }) => `${path} ${kind}`));
const filesOf = (repo: Repo): Record<string, string | undefined> =>
  Object.fromEntries(
    repo
      .snapshot()
      .list()
      .map(({ path }) => [path, repo.snapshot().readText(path)]),
  );

/** Each case is asked twice: as intents one after the other, and as a branch that is merged back. */
type Bring = (repo: Repo, base: number, changes: readonly Change[], current: readonly Change[]) => Promise<Outcome>;
const ways: readonly (readonly [string, Bring])[] = [
  [
    'a stale intent',
    async (repo, base, changes, current) => {
      await land(repo, current);
      return land(repo, changes, { asOf: base });
    },
  ],
  [
    'a branch that comes back',
    async (repo, base, changes, current) => {
      await repo.fork('side', { at: base });
      await land(repo, changes, { branch: 'side' });
      await land(repo, current);
      return repo.merge('side', { author: agent('m') });
    },
  ],
];

describe.each(ways)('%s', (_, bring) => {
  test('an edit follows a move, and several', async () => {
    const { repo, base } = await repoWith({ f: ten });
    await land(repo, [move('f', 'g', base)]);
    const g = repo.snapshot().head('g')?.version ?? 0;
    await land(repo, [move('g', 'dir/h', g)]);
    // What takes the old name later is another file.
    const outcome = await bring(repo, base, [put('f', edited(2, 'two'), base)], [put('f', 'other\n', 0)]);
    expect(outcome.kind).toBe('merged');
    expect(filesOf(repo)).toEqual({ f: 'other\n', 'dir/h': edited(2, 'two') });
  });

  test('a move takes along what was edited', async () => {
    const { repo, base } = await repoWith({ f: ten });
    const moved = [move('f', 'g', base, { content: edited(7, 'seven'), mode: 'executable' })];
    const outcome = await bring(repo, base, moved, [put('f', edited(2, 'two'), base)]);
    expect(outcome.kind).toBe('merged');
    expect(filesOf(repo)).toEqual({ g: edited(2, 'two').replace('line 7', 'seven') });
    expect(repo.snapshot().head('g')?.mode).toBe('executable');
  });

  test('one file to two names: both names are shown, and each needs a result', async () => {
    const { repo, base } = await repoWith({ f: ten });
    const outcome = await bring(
      repo,
      base,
      [move('f', 'h', base, { content: edited(2, 'two') })],
      [move('f', 'g', base)],
    );
    expect(outcome.kind).toBe('conflicted');
    expect(rowsOf(repo)).toEqual(['h rename-rename', 'g rename-rename']);
    const [view] = repo.conflicts();
    const resolved = await repo.resolve(view?.id ?? '', {
      author: agent('m'),
      results: [
        { path: 'h', content: edited(2, 'two') },
        { path: 'g', content: null },
      ],
      asOf: view?.asOf ?? 0,
      otherwise: { fate: 'transformed' },
    });
    expect(resolved.kind).toBe('landed');
    expect(filesOf(repo)).toEqual({ h: edited(2, 'two') });
  });

  test('both move one file to the same name: what they edited is merged', async () => {
    const { repo, base } = await repoWith({ f: ten });
    const outcome = await bring(
      repo,
      base,
      [move('f', 'g', base, { content: edited(2, 'two') })],
      [move('f', 'g', base, { content: edited(7, 'seven') })],
    );
    expect(outcome.kind).toBe('merged');
    expect(filesOf(repo)).toEqual({ g: edited(2, 'two').replace('line 7', 'seven') });
  });

  test('two files to one name', async () => {
    const { repo, base } = await repoWith({ f: ten, h: lines(50, 60) });
    expect((await bring(repo, base, [move('h', 'g', base)], [move('f', 'g', base)])).kind).toBe('conflicted');
    expect(rowsOf(repo)).toEqual(['g rename-rename']);
    expect(filesOf(repo)).toEqual({ g: ten, h: lines(50, 60) });
  });

  test.each([true, false])('one moves, one deletes (the move comes first: %s)', async (isFirst) => {
    const { repo, base } = await repoWith({ f: ten });
    const sides = [[move('f', 'g', base)], [remove('f', base)]] as const;
    const [current, incoming] = isFirst ? sides : sides.toReversed();
    expect((await bring(repo, base, incoming ?? [], current ?? [])).kind).toBe('conflicted');
    expect(rowsOf(repo)).toEqual(['g rename-delete']);
  });

  test('20 one moves f to g, the other adds an identical g', async () => {
    const { repo, base } = await repoWith({ f: ten });
    await bring(repo, base, [move('f', 'g', base)], [put('g', ten, 0)]);
    expect(filesOf(repo)).toEqual({ g: ten });
    expect(repo.conflicts()).toEqual([]);
  });

  test('19 one edits b, the other deletes a and b and adds a similar c: no rename is invented', async () => {
    const { repo, base } = await repoWith({ a: ten, b: `${ten}b\n` });
    const changes = [remove('a', base), remove('b', base), put('c', `${ten}c\n`, 0)];
    expect((await bring(repo, base, changes, [put('b', `${edited(2, 'two')}b\n`, base)])).kind).toBe('conflicted');
    expect(rowsOf(repo)).toEqual(['b edit-delete']);
    const [view] = repo.conflicts();
    const results = [{ path: 'b', content: `${edited(2, 'two')}b\n` }];
    await repo.resolve(view?.id ?? '', { author: agent('m'), results, otherwise: { fate: 'transformed' } });
    expect(Object.keys(filesOf(repo))).toEqual(['b', 'c']);
  });

  test('21 both add the same bytes at the same path', async () => {
    const { repo, base } = await repoWith({ f: ten });
    const binary = Buffer.from([0, 0xff, 10]);
    const added: Change[] = [put('new', 'same\n', 0), { kind: 'put', path: 'bin', content: binary, expect: absent }];
    const outcome = await bring(repo, base, added, added);
    expect(outcome.kind).toMatch(/^(landed|merged|unchanged)$/);
    expect(repo.conflicts()).toEqual([]);
    expect(repo.snapshot().readText('new')).toBe('same\n');
    expect(Buffer.from(repo.snapshot().read('bin') ?? '')).toEqual(binary);
  });

  test('22 both delete a file, or empty a directory', async () => {
    const { repo, base } = await repoWith({ f: ten, 'dir/a': 'a\n', 'dir/in/b': 'b\n', kept: 'kept\n' });
    const emptied = [remove('f', base), remove('dir/a', base), remove('dir/in/b', base)];
    const outcome = await bring(repo, base, emptied, emptied);
    expect(outcome.kind).toMatch(/^(landed|merged|unchanged)$/);
    expect(repo.conflicts()).toEqual([]);
    expect(filesOf(repo)).toEqual({ kept: 'kept\n' });
  });

  test('22 each deletes its part of a directory', async () => {
    const { repo, base } = await repoWith({ 'dir/a': 'a\n', 'dir/b': 'b\n', kept: 'kept\n' });
    await bring(repo, base, [remove('dir/a', base)], [remove('dir/b', base)]);
    expect(repo.conflicts()).toEqual([]);
    expect(filesOf(repo)).toEqual({ kept: 'kept\n' });
  });

  test('24 one moves A/f to B/f, the other all of B to A: f is not lost', async () => {
    const { repo, base } = await repoWith({ 'A/f': ten, 'B/g': lines(20, 30) });
    await bring(repo, base, [move('B/g', 'A/g', base)], [move('A/f', 'B/f', base)]);
    expect(filesOf(repo)).toEqual({ 'B/f': ten, 'A/g': lines(20, 30) });
  });

  test('25 one moves a directory, the other puts a link in its place', async () => {
    const { repo, base } = await repoWith({ 'A/x': ten, 'A/y': lines(20, 30) });
    const linked: Change[] = [
      remove('A/x', base),
      remove('A/y', base),
      { ...put('A', 'B', 0), mode: 'symlink' } as Change,
    ];
    const moved = [move('A/x', 'B/x', base), move('A/y', 'B/y', base)];
    expect((await bring(repo, base, linked, moved)).kind).toBe('conflicted');
    expect(rowsOf(repo)).toEqual(['B/x rename-delete', 'B/y rename-delete']);
  });

  test('25 one puts a link in the place of a directory, the other edits or adds in it', async () => {
    const { repo, base } = await repoWith({ 'A/x': ten });
    const linked: Change[] = [remove('A/x', base), { ...put('A', 'B', 0), mode: 'symlink' } as Change];
    const changes = [put('A/x', edited(2, 'two'), base), put('A/new', 'new\n', 0)];
    expect((await bring(repo, base, changes, linked)).kind).toBe('conflicted');
    expect(rowsOf(repo).map((row) => row.split(' ')[1])).toContain('symlink');
    expect(repo.snapshot().head('A')?.mode).toBe('symlink');
  });

  test('a file against a directory, whichever came first', async () => {
    const { repo, base } = await repoWith({ other: ten });
    expect((await bring(repo, base, [put('lib', 'file\n', 0)], [put('lib/index', 'x\n', 0)])).kind).toBe('conflicted');
    expect(rowsOf(repo)).toEqual(['lib file-directory']);
  });

  test('what is added to a directory follows its move', async () => {
    const { repo, base } = await repoWith({ 'old/a': ten, 'old/in/b': lines(20, 30) });
    const moved = [move('old/a', 'new/place/a', base), move('old/in/b', 'new/place/in/b', base)];
    expect((await bring(repo, base, [put('old/in/c', 'c\n', 0), put('old/d/e', 'e\n', 0)], moved)).kind).toBe('merged');
    expect(Object.keys(filesOf(repo))).toEqual(['new/place/a', 'new/place/d/e', 'new/place/in/b', 'new/place/in/c']);
  });

  test('what was added to a directory goes along when it is moved', async () => {
    const { repo, base } = await repoWith({ 'old/a': ten, 'old/b': lines(20, 30) });
    const moved = [move('old/a', 'new/a', base), move('old/b', 'new/b', base)];
    expect((await bring(repo, base, moved, [put('old/c', 'c\n', 0)])).kind).toBe('merged');
    expect(Object.keys(filesOf(repo))).toEqual(['new/a', 'new/b', 'new/c']);
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  });

  test('a directory that was moved to several places, or in part, is followed nowhere', async () => {
    const { repo, base } = await repoWith({ 'old/a': ten, 'old/b': lines(20, 30), 'part/a': ten, 'part/b': 'b\n' });
    const moved = [move('old/a', 'new/a', base), move('old/b', 'else/b', base), move('part/a', 'new/x', base)];
    expect((await bring(repo, base, [put('old/c', 'c\n', 0), put('part/c', 'c\n', 0)], moved)).kind).toBe('landed');
    expect(Object.keys(filesOf(repo))).toContain('old/c');
    expect(Object.keys(filesOf(repo))).toContain('part/c');
  });
});

test('an edit that was parked follows moves, and one that was kept in a conflict is shown where its file went', async () => {
  const { repo, base } = await repoWith({ f: ten });
  const act = { author: setup, reason: 'r' };
  await repo.freeze('f', { ...act, owner: 'mover' });
  expect((await land(repo, [put('f', edited(2, 'two'), base)])).kind).toBe('parked');
  await land(repo, [move('f', 'g', base, { content: edited(4, 'four') })], { author: agent('mover') });
  const { parked } = await repo.thaw('f', act);
  expect(parked.map(({ outcome }) => outcome.kind)).toEqual(['merged']);
  expect(filesOf(repo)).toEqual({ g: edited(2, 'two').replace('line 4', 'four') });
  expect((await land(repo, [put('f', edited(4, 'vier'), base)])).kind).toBe('conflicted');
  await land(repo, [move('g', 'h', repo.snapshot().seq)]);
  await land(repo, [put('g', 'another\n', 0)]);
  expect(rowsOf(repo)).toEqual(['h content']);
});

test('who did not say what it had seen adds where it asked, and a clash is refused', async () => {
  const { repo, base } = await repoWith({ 'old/a': ten });
  await land(repo, [move('old/a', 'new/a', base)]);
  expect((await land(repo, [put('old/c', 'c\n', 0)])).kind).toBe('landed');
  expect(await land(repo, [put('new', 'c\n', 0)])).toMatchObject({ kind: 'rejected', code: 'path-clash' });
  expect(await land(repo, [put('x', 'c\n', 0)], { asOf: 99 })).toMatchObject({ code: 'no-such-version' });
});

const cases = fileURLToPath(new URL('../../shared/cases/', import.meta.url));

interface Row {
  readonly name: string;
  readonly base: string | null | Readonly<Record<string, string>>;
  readonly ours: Row['base'];
  readonly theirs: Row['base'];
  readonly right: string;
}

const table = `${cases}07-create-delete-collisions/table.json`;

describe.skipIf(!existsSync(table))(
  '07 creates and deletes that collide (skipped where the cases are not there)',
  () => {
    const rows = existsSync(table) ? (JSON.parse(readFileSync(table, 'utf8')) as Row[]) : [];
    const treeOf = (side: Row['base']): Readonly<Record<string, string>> =>
      side === null ? {} : typeof side === 'string' ? { p: side } : side;
    const changesOf = (from: Row['base'], to: Row['base'], base: number): Change[] => {
      const [before, after] = [treeOf(from), treeOf(to)];
      return [
        ...Object.keys(before).flatMap((path) => (path in after ? [] : [remove(path, base)])),
        ...Object.entries(after).flatMap(([path, text]) =>
          before[path] === text ? [] : [put(path, text, path in before ? base : 0)],
        ),
      ];
    };
    test.each(rows)('$name', async ({ base: from, ours, theirs, right }) => {
      const { repo, base } = await repoWith({ ...treeOf(from), other: 'o\n' });
      const bring = async (side: Row['base']): Promise<Outcome | undefined> => {
        const changes = changesOf(from, side, base);
        return changes.length === 0 ? undefined : land(repo, changes, { asOf: base });
      };
      await bring(ours);
      const outcome = await bring(theirs);
      const kinds: Record<string, string> = {
        'add/add': 'add-add',
        'modify/delete': 'edit-delete',
        'delete/modify': 'edit-delete',
        'file/directory': 'file-directory',
      };
      const wanted = Object.entries(kinds).find(([name]) => right.startsWith('conflict') && right.includes(name))?.[1];
      if (wanted === undefined) {
        expect(repo.conflicts()).toEqual([]);
        expect(outcome?.kind).not.toBe('conflicted');
      } else {
        expect(outcome?.kind).toBe('conflicted');
        expect(rowsOf(repo).map((row) => row.split(' ')[1])).toContain(wanted);
      }
    });
  },
);

const script = `${cases}26-file-becomes-directory/make-repo.sh`;

test.skipIf(!existsSync(script))('26 a file becomes a directory in a history that is imported', async () => {
  const dir = `${tempDir()}/git`;
  execFileSync('sh', [script, dir]);
  const { importGit, exportGit } = await import('@mound/vcs/git');
  const repo = await tempRepo();
  await importGit(repo, dir);
  const out = `${tempDir()}/out`;
  execFileSync('git', ['init', '-q', '--bare', out]);
  await exportGit(repo, out);
  const treesOf = (at: string): string =>
    execFileSync('git', ['-C', at, 'log', '--reverse', '--format=%H %T', 'main'], { encoding: 'utf8' });
  expect(treesOf(out)).toBe(treesOf(dir));
});
