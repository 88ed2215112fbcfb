import { absent, any, openRepo, version, type Outcome, type Repo } from '@mound/vcs';
import { describe, expect, test } from 'vitest';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const big = Array.from({ length: 60 }, (_, i) => `line ${i}\n`);
const at = (edits: Readonly<Record<number, string>>): string =>
  big.map((line, i) => (edits[i] === undefined ? line : `${edits[i]}\n`)).join('');
const owner = agent('decomposer');
const halves = {
  author: owner,
  modules: [
    { path: 'big/one.ts', content: `// one\n${big.slice(0, 30).join('')}` },
    { path: 'big/two.ts', content: `// two\n${big.slice(30).join('')}` },
  ],
  remains: "export * from './big/one.ts';\nexport * from './big/two.ts';\n",
} as const;

async function repoWithBig(): Promise<{ repo: Repo; v1: number }> {
  const repo = await tempRepo();
  await repo.put('big.ts', big.join(''), { author: setup });
  return { repo, v1: repo.snapshot().head('big.ts')?.version ?? 0 };
}

const idOf = (outcome: Outcome): string => (outcome.kind === 'conflicted' ? outcome.conflict : '');

describe('a file is split', () => {
  test('as one landing that says where its lines went', async () => {
    const { repo } = await repoWithBig();
    const { outcome, parked } = await repo.split('big.ts', halves);
    expect(outcome.kind).toBe('landed');
    expect(parked).toEqual([]);
    const snapshot = repo.snapshot();
    expect(snapshot.list().map(({ path }) => path)).toEqual(['big.ts', 'big/one.ts', 'big/two.ts']);
    expect(repo.redirects('big.ts')).toEqual([
      {
        path: 'big.ts',
        seq: snapshot.seq,
        author: owner,
        modules: ['big/one.ts', 'big/two.ts', 'big.ts'],
        ranges: [
          { start: 1, count: 30, path: 'big/one.ts', toStart: 2 },
          { start: 31, count: 30, path: 'big/two.ts', toStart: 2 },
        ],
      },
    ]);
    expect(repo.redirects('big.ts', { at: snapshot.seq - 1 })).toEqual([]);
    expect(snapshot.whereabouts('big.ts', snapshot.seq - 1)).toEqual({
      kind: 'split',
      paths: ['big/one.ts', 'big/two.ts', 'big.ts'],
    });
    expect([...repo.events()].findLast(({ kind }) => kind === 'file.split')).toMatchObject({
      path: 'big.ts',
      modules: ['big/one.ts', 'big/two.ts'],
    });
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  });

  test('a stale edit goes hunk by hunk to where its lines went', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.split('big.ts', halves);
    const edit = await repo.put('big.ts', at({ 3: 'three', 40: 'forty\nand more' }), {
      author: agent('a'),
      expect: version(v1),
    });
    expect(edit).toMatchObject({ kind: 'merged', merged: [{ path: 'big/one.ts' }, { path: 'big/two.ts' }] });
    expect(repo.snapshot().readText('big/one.ts')).toContain('line 2\nthree\nline 4\n');
    expect(repo.snapshot().readText('big/two.ts')).toContain('line 39\nforty\nand more\nline 41\n');
    expect(repo.snapshot().readText('big.ts')).toBe(halves.remains);
  });

  test('what belongs to no one module is a conflict that shows each part, and can be resolved', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.split('big.ts', halves);
    // Lines 29 and 30 went to two modules.
    const text = at({ 3: 'three', 29: 'both\nof', 30: 'them' });
    const edit = await repo.put('big.ts', text, { author: agent('a'), expect: version(v1), operationId: 'op' });
    expect(edit.kind).toBe('conflicted');
    const view = repo.conflict(idOf(edit));
    expect(view.paths.map(({ path, reason }) => [path, reason])).toEqual([
      ['big/one.ts', 'split'],
      ['big.ts', 'split'],
    ]);
    const [one, rest] = view.paths;
    expect(one?.incoming.content?.toString()).toContain('line 2\nthree\nline 4\n');
    expect(rest?.incoming.content?.toString()).toContain('line 28\nboth\nof\nthem\nline 31\n');
    expect(rest?.incoming.content?.toString()).not.toContain('three');
    const outcome = await repo.resolve(view.id, {
      author: agent('m'),
      results: [
        {
          path: 'big/one.ts',
          content: `${repo.snapshot().readText('big/one.ts')?.replace('line 3\n', 'three\n')}both\nof\n`,
        },
        { path: 'big.ts', content: halves.remains },
      ],
      asOf: view.asOf,
      otherwise: { fate: 'transformed' },
    });
    expect(outcome.kind).toBe('landed');
    expect(repo.outcome('op')).toMatchObject({ kind: 'landed' });
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  });

  test('changes since the version that the modules were made from go along', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.put('big.ts', at({ 5: 'five' }), { author: agent('a'), expect: version(v1) });
    const { outcome } = await repo.split('big.ts', { ...halves, expect: v1, operationId: 'split' });
    expect(outcome.kind).toBe('landed');
    expect(repo.snapshot().readText('big/one.ts')).toContain('line 4\nfive\nline 6\n');
    // Said again it is the first outcome.
    expect((await repo.split('big.ts', { ...halves, expect: v1, operationId: 'split' })).outcome).toEqual(outcome);
    await expect(repo.split('big.ts', { ...halves, remains: null, operationId: 'split' })).rejects.toMatchObject({
      code: 'operation-mismatch',
    });
  });

  test('a change since then that no module takes makes it stale', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.put('big.ts', at({ 29: 'x', 30: 'y' }), { author: agent('a'), expect: version(v1) });
    const { outcome } = await repo.split('big.ts', { ...halves, expect: v1 });
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'stale' });
    expect(repo.snapshot().list()).toHaveLength(1);
  });

  test('redirects are followed through another split and a move', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.split('big.ts', { ...halves, remains: null });
    const one = repo.snapshot().readText('big/one.ts') ?? '';
    const lines = one.split(/(?<=\n)/);
    await repo.split('big/one.ts', {
      author: owner,
      modules: [{ path: 'deep/a.ts', content: lines.slice(11).join('') }],
      remains: lines.slice(0, 11).join(''),
    });
    const head = repo.snapshot().head('deep/a.ts');
    await repo.land({
      author: owner,
      message: 'm',
      changes: [{ kind: 'move', path: 'deep/a.ts', to: 'deeper.ts', expect: version(head?.version ?? 0) }],
    });
    const edit = await repo.put('big.ts', at({ 4: 'four', 20: 'twenty' }), { author: agent('a'), expect: version(v1) });
    expect(edit).toMatchObject({ kind: 'merged', merged: [{ path: 'big/one.ts' }, { path: 'deeper.ts' }] });
    expect(repo.snapshot().readText('deeper.ts')).toContain('line 19\ntwenty\nline 21\n');
    expect(repo.snapshot().whereabouts('big.ts')).toEqual({
      kind: 'split',
      paths: ['big/one.ts', 'deeper.ts', 'big/two.ts'],
    });
    expect(repo.snapshot().whereabouts('deep/a.ts')).toEqual({ kind: 'moved', path: 'deeper.ts' });
  });

  test('what is made anew under the name of a deleted file is another file', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.land({
      author: owner,
      message: 'm',
      changes: [{ kind: 'delete', path: 'big.ts', expect: version(v1) }],
    });
    await repo.put('big.ts', 'anew\n', { author: setup });
    expect(repo.snapshot().whereabouts('big.ts', v1)).toEqual({ kind: 'deleted' });
    expect(repo.snapshot().whereabouts('big.ts')).toEqual({ kind: 'here', path: 'big.ts' });
  });

  test('a delete, a move and a mode of the old file are not guessed', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.split('big.ts', { ...halves, remains: null });
    const expectation = { expect: version(v1) } as const;
    const outcomes = [
      await repo.land({
        author: agent('a'),
        message: 'm',
        changes: [{ kind: 'move', path: 'big.ts', to: 'b.ts', ...expectation }],
      }),
      await repo.land({
        author: agent('a'),
        message: 'm',
        changes: [{ kind: 'chmod', path: 'big.ts', mode: 'executable', ...expectation }],
      }),
    ];
    expect(outcomes.map(({ kind }) => kind)).toEqual(['conflicted', 'conflicted']);
    expect(repo.conflicts().map(({ paths }) => paths.map(({ reason }) => reason))).toEqual([['split/move'], ['split']]);
  });

  test('its branch alone knows of it', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.fork('side');
    await repo.split('big.ts', { ...halves, branch: 'side' });
    await repo.fork('leaf', { from: 'side' });
    const edit = { author: agent('a'), expect: version(v1) };
    expect((await repo.put('big.ts', at({ 3: 'three' }), edit)).kind).toBe('landed');
    expect(await repo.put('big.ts', at({ 3: 'three' }), { ...edit, branch: 'leaf' })).toMatchObject({
      kind: 'merged',
      merged: [{ path: 'big/one.ts' }],
    });
    expect(repo.redirects('big.ts', { branch: 'leaf' })).toHaveLength(1);
    expect(repo.redirects('big.ts')).toEqual([]);
    // What the trunk edited goes to the module when the branch comes back.
    expect((await repo.merge('side', { author: owner })).kind).toBe('conflicted');
  });

  test('what cannot be is refused', async () => {
    const { repo } = await repoWithBig();
    const invalid = { code: 'invalid-argument' };
    await expect(repo.split('big.ts', { ...halves, modules: [] })).rejects.toMatchObject(invalid);
    await expect(repo.split('big.ts', { ...halves, remains: big.join('') })).rejects.toMatchObject(invalid);
    await expect(
      repo.split('big.ts', { ...halves, ranges: [{ start: 1, count: 99, path: 'big/one.ts', toStart: 1 }] }),
    ).rejects.toMatchObject(invalid);
    await repo.put('bin', Buffer.from([0, 1]), { author: setup });
    await expect(repo.split('bin', halves)).rejects.toMatchObject(invalid);
    expect((await repo.split('big.ts', { ...halves, expect: 99 })).outcome).toMatchObject({ code: 'no-such-version' });
    expect((await repo.split('none', halves)).outcome).toMatchObject({ kind: 'rejected', code: 'no-such-path' });
    await repo.put('big/one.ts', 'taken\n', { author: setup });
    expect((await repo.split('big.ts', halves)).outcome).toMatchObject({ kind: 'rejected', code: 'stale' });
  });
});

describe('while a file is frozen', () => {
  const act = { author: setup, reason: 'too large' };

  test('all but its owner are parked, and what was parked lands in the modules', async () => {
    const { repo, v1 } = await repoWithBig();
    await repo.flag('big.ts', { ...act, freeze: { owner: 'decomposer' } });
    expect(repo.freezes()).toMatchObject([{ path: 'big.ts', owner: 'decomposer' }]);
    const expectation = { expect: version(v1) };
    const edit = { author: agent('a'), ...expectation };
    const parked = [
      await repo.put('big.ts', at({ 3: 'three' }), { ...edit, operationId: 'p1' }),
      await repo.put('big.ts', at({ 50: 'fifty' }), { ...edit, operationId: 'p2' }),
      await repo.put('big.ts', at({ 29: 'x', 30: 'y' }), { ...edit, operationId: 'p3' }),
      await repo.put('big.ts', at({ 3: 'drei' }), { ...edit, operationId: 'p4' }),
    ];
    expect(parked.map(({ kind }) => kind)).toEqual(['parked', 'parked', 'parked', 'parked']);
    expect((await repo.split('big.ts', { ...halves, author: agent('other') })).outcome).toMatchObject({
      code: 'frozen',
    });
    const own = await repo.put('big.ts', at({ 10: 'ten' }), { author: owner, ...expectation });
    expect(own.kind).toBe('landed');
    const { outcome, parked: decided } = await repo.split('big.ts', { ...halves, expect: v1 });
    expect(outcome.kind).toBe('landed');
    expect(decided.map(({ outcome: { kind } }) => kind)).toEqual(['merged', 'merged', 'conflicted', 'conflicted']);
    expect(repo.freezes()).toEqual([]);
    const one = repo.snapshot().readText('big/one.ts');
    expect(one).toContain('three\n');
    expect(one).toContain('ten\n');
    expect(repo.snapshot().readText('big/two.ts')).toContain('fifty\n');
    expect(repo.outcome('p2')).toMatchObject({ kind: 'merged' });
    expect(repo.stats()).toMatchObject({ parkedOpen: 0, conflictsOpen: 2 });
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  });

  test('a freeze whose owner dies ends by itself, in whichever process comes by', async () => {
    const dir = tempDir();
    let time = 1_700_000_000_000;
    const clock = { now: () => time };
    const repo = await openRepo(dir, { create: true, clock });
    await repo.put('f', 'a\nb\nc\n', { author: setup });
    await repo.freeze('f', { ...act, owner: 'gone', ms: 60_000 });
    expect((await repo.put('f', 'A\nb\nc\n', { author: agent('a'), expect: version(1), operationId: 'p' })).kind).toBe(
      'parked',
    );
    time += 59_999;
    expect(await repo.unpark()).toEqual([]);
    time += 1;
    // Somebody lands something else.
    await repo.put('g', 'g\n', { author: setup });
    await expect.poll(() => repo.outcome('p')).toMatchObject({ kind: 'landed' });
    expect([...repo.events()].findLast(({ kind }) => kind === 'file.thawed')).toMatchObject({ reason: 'expired' });
    await repo.freeze('f', { ...act, owner: 'gone', ms: 60_000 });
    await repo.put('f', 'A\nb\nC\n', { author: agent('a'), expect: version(1), operationId: 'q' });
    await repo.close();
    time += 60_000;
    const again = await openRepo(dir, { clock });
    try {
      expect(again.outcome('q')).toMatchObject({ kind: 'merged' });
      expect(again.freezes()).toEqual([]);
      expect(again.fsck()).toMatchObject({ ok: true, errors: [] });
    } finally {
      await again.close();
    }
  });

  test('it ends by a timer where nobody comes by', async () => {
    const repo = await tempRepo();
    await repo.put('f', 'a\n', { author: setup });
    await repo.freeze('f', { ...act, owner: 'gone', ms: 30 });
    await repo.put('f', 'b\n', { author: agent('a'), expect: any, operationId: 'p' });
    await expect.poll(() => repo.outcome('p')?.kind, { timeout: 5000 }).toBe('landed');
    await expect(repo.freeze('f', { ...act, ms: -1 })).rejects.toMatchObject({ code: 'invalid-argument' });
  });
});

test('an edit that adds a module while its file is split is one conflict, and one result holds both', async () => {
  const { repo, v1 } = await repoWithBig();
  await repo.split('big.ts', halves);
  const outcome = await repo.land({
    author: agent('a'),
    message: 'm',
    changes: [
      { kind: 'put', path: 'big.ts', content: at({ 3: 'three' }), expect: version(v1) },
      { kind: 'put', path: 'big/one.ts', content: 'mine\n', expect: absent },
    ],
  });
  expect(outcome.kind).toBe('conflicted');
  const { id, asOf, paths } = repo.conflict(idOf(outcome));
  expect(paths.map(({ path, reason }) => [path, reason])).toEqual([
    ['big/one.ts', 'move/edit'],
    ['big/one.ts', 'move/edit'],
  ]);
  // The first row's one change merges by itself and is hunk 0.
  expect(paths.map(({ hunks }) => hunks.map(({ index }) => index))).toEqual([[], [1]]);
  const one = repo.snapshot().readText('big/one.ts') ?? '';
  const resolution = { author: setup, asOf, results: [{ path: 'big/one.ts', content: `${one}mine\n` }] };
  expect(await repo.resolve(id, resolution)).toMatchObject({
    code: 'resolution-unaccounted',
    message: expect.stringContaining('big/one.ts hunk 0 incoming') as string,
  });
  const both = `${one.replace('line 3\n', 'three\n')}mine\n`;
  const because = { kind: 'decision', id: 'D-1' } as const;
  const landed = await repo.resolve(id, {
    ...resolution,
    results: [{ path: 'big/one.ts', content: both }],
    accounts: [{ path: 'big/one.ts', side: 'current', hunk: 1, fate: 'discarded', because }],
  });
  expect(landed.kind).toBe('landed');
  expect(repo.snapshot().readText('big/one.ts')).toBe(both);
});

test('what the kept intent asks of a module beside is seen by the resolver', async () => {
  const { repo, v1 } = await repoWithBig();
  const { outcome: split } = await repo.split('big.ts', halves);
  const one = repo.snapshot().readText('big/one.ts') ?? '';
  const outcome = await repo.land({
    author: agent('a'),
    message: 'm',
    changes: [
      { kind: 'put', path: 'big.ts', content: at({ 3: 'three' }), expect: version(v1) },
      { kind: 'put', path: 'big/one.ts', content: `${one}more\n`, expect: version('seq' in split ? split.seq : 0) },
    ],
  });
  const { id, asOf, paths } = repo.conflict(idOf(outcome));
  expect(paths.map(({ path }) => path)).toEqual(['big/one.ts', 'big/one.ts']);
  const three = one.replace('line 3\n', 'three\n');
  const resolve = (content: string): Promise<Outcome> =>
    repo.resolve(id, { author: setup, asOf, results: [{ path: 'big/one.ts', content }] });
  expect(await resolve(three)).toMatchObject({ code: 'resolution-unaccounted' });
  expect((await resolve(`${three}more\n`)).kind).toBe('landed');
});
