import { absent, openRepo, version, type Change, type Outcome, type Precondition, type Repo } from '@mound/vcs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { caseJson, caseText, hasCases } from './kit/cases.ts';
import { mound, moundBin, start } from './kit/process.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const seqOf = (outcome: Outcome): number => ('seq' in outcome ? outcome.seq : 0);

async function put(
  repo: Repo,
  path: string,
  content: string,
  expected: Precondition = absent,
  name = 'setup',
): Promise<number> {
  const outcome = await repo.put(path, content, { author: agent(name), expect: expected });
  expect(outcome.kind).toMatch(/^(landed|merged)$/);
  return seqOf(outcome);
}

describe.runIf(hasCases)('01 a whole-file write based on a stale read', () => {
  const text = (name: string): string => caseText('01-stale-whole-file-write', name);

  test('is refused under reject, naming path and versions, and the peer keeps its edit', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'notes.md', text('base.md'));
    const v2 = await put(repo, 'notes.md', text('agent-a.md'), version(v1), 'a');
    const b = { author: agent('b'), expect: version(v1) };
    const refused = await repo.put('notes.md', text('agent-b.md'), { ...b, onStale: 'reject' });
    expect(refused).toMatchObject({ kind: 'rejected', code: 'stale' });
    expect(refused.kind === 'rejected' && refused.stale).toEqual([{ path: 'notes.md', expected: v1, actual: v2 }]);
    expect(repo.snapshot().readText('notes.md')).toBe(text('agent-a.md'));

    const merged = await repo.put('notes.md', text('agent-b.md'), b);
    expect(merged.kind).toBe('merged');
    expect(repo.snapshot().readText('notes.md')).toBe(text('expected-after-retry.md'));
  });

  test('a write that saw nothing must say any by name', async () => {
    const repo = await tempRepo();
    await put(repo, 'notes.md', text('base.md'));
    const blind = await repo.put('notes.md', 'mine\n', { author: agent('b') });
    expect(blind.kind).toBe('conflicted');
    const forced = await repo.put('notes.md', 'mine\n', { author: agent('b'), expect: { kind: 'any' } });
    expect(forced.kind).toBe('landed');
    expect(repo.commit(seqOf(forced)).changes[0]?.previous).toBe(1);
  });
});

test.runIf(hasCases)('03 a commit takes only what its own agent wrote', async () => {
  interface Steps {
    agents: Record<string, { ticket: string; files: Record<string, string> }>;
  }
  const { agents } = caseJson<Steps>('03-foreign-files-in-commit', 'steps.json');
  const expected = caseJson<Record<string, string[]>>('03-foreign-files-in-commit', 'expected.json');
  const repo = await tempRepo();
  const land = (name: string): Promise<Outcome> => {
    const { ticket, files } = agents[name] ?? { ticket: '', files: {} };
    const changes = Object.entries(files).map(([path, content]): Change => ({
      kind: 'put',
      path,
      content,
      expect: absent,
    }));
    return repo.land({ author: agent(name), message: ticket, task: ticket, changes });
  };
  await land('b');
  await land('a');
  for (const view of repo.log()) {
    expect(view.changes.map((change) => change.path)).toEqual(expected[`commit ${view.task} paths`]);
    expect(view.author.name).toBe(view.task === 'T-1' ? 'a' : 'b');
  }
});

test.runIf(hasCases)('04 parallel commits of own files all land at the first call', async () => {
  const { agents } = caseJson<{ agents: number[] }>('04-parallel-commits-lock-loss', 'plan.json');
  for (const count of agents) {
    const repo = await tempRepo();
    const outcomes = await Promise.all(
      Array.from({ length: count }, (_, i) => repo.put(`agents/${i}.txt`, `agent ${i}\n`, { author: agent(`${i}`) })),
    );
    expect(outcomes.filter(({ kind }) => kind !== 'landed')).toEqual([]);
    const files = repo.snapshot().list('agents');
    expect(files).toHaveLength(count);
    for (let i = 0; i < count; i++) expect(repo.snapshot().readText(`agents/${i}.txt`)).toBe(`agent ${i}\n`);
  }
});

test.runIf(hasCases)('05 a change set that fails leaves nothing behind', async () => {
  const expected = caseJson<{ tree: Record<string, string>; absent: string[] }>(
    '05-half-applied-multi-file-commit',
    'expected.json',
  );
  const repo = await tempRepo();
  const v1 = seqOf(
    await repo.land({
      author: setup,
      message: 'setup',
      changes: [
        { kind: 'put', path: 'keep.txt', content: 'keep\n', expect: absent },
        { kind: 'put', path: 'two.txt', content: 'v1\n', expect: absent },
      ],
    }),
  );
  const peer = await put(repo, 'two.txt', 'v2 by peer\n', version(v1), 'peer');
  const changeSet = (base: number): Change[] => [
    { kind: 'put', path: 'one.txt', content: 'new\n', expect: absent },
    { kind: 'delete', path: 'keep.txt', expect: version(v1) },
    { kind: 'put', path: 'two.txt', content: 'v2 by a\n', expect: version(base) },
  ];
  const before = repo.snapshot().seq;
  const refused = await repo.land({ author: agent('a'), message: 'm', onStale: 'reject', changes: changeSet(v1) });
  expect(refused).toMatchObject({ kind: 'rejected', code: 'stale', paths: ['two.txt'] });
  expect(repo.snapshot().seq).toBe(before);
  expect([...repo.events({ seq: before, index: 99 })]).toEqual([]);
  const tree = Object.fromEntries(
    repo
      .snapshot()
      .list()
      .map(({ path }) => [path, repo.snapshot().readText(path)]),
  );
  expect(tree).toEqual(expected.tree);
  for (const path of expected.absent) expect(repo.snapshot().head(path)).toBeUndefined();

  const kept = await repo.land({ author: agent('a'), message: 'm', changes: changeSet(v1) });
  expect(kept).toMatchObject({ kind: 'conflicted', paths: ['two.txt'] });
  expect(repo.snapshot().head('one.txt')).toBeUndefined();

  const landed = await repo.land({ author: agent('a'), message: 'm', onStale: 'reject', changes: changeSet(peer) });
  expect(landed.kind).toBe('landed');
  expect(
    repo
      .snapshot()
      .list()
      .map(({ path }) => path),
  ).toEqual(['one.txt', 'two.txt']);
});

describe.runIf(hasCases)('07 creates and deletes that collide', () => {
  type Side = string | null | Record<string, string>;
  interface Row {
    name: string;
    base: Side;
    ours: Side;
    theirs: Side;
    right: string;
  }
  const filesOf = (side: Side): Record<string, string> =>
    side === null ? {} : typeof side === 'string' ? { 'file.txt': side } : side;

  /** Everything that a side did to the base, as changes based on it. */
  function changesOf(base: Side, side: Side, seq: number): Change[] {
    const [before, after] = [filesOf(base), filesOf(side)];
    const expected = (path: string): Precondition => (path in before ? version(seq) : absent);
    const puts = Object.entries(after)
      .filter(([path, content]) => before[path] !== content)
      .map(([path, content]): Change => ({ kind: 'put', path, content, expect: expected(path) }));
    const deletes = Object.keys(before)
      .filter((path) => !(path in after))
      .map((path): Change => ({ kind: 'delete', path, expect: version(seq) }));
    return [...deletes, ...puts];
  }

  test.each(hasCases ? caseJson<Row[]>('07-create-delete-collisions', 'table.json') : [])('$name', async (row) => {
    const repo = await tempRepo();
    const land = async (name: string, changes: Change[]): Promise<Outcome | undefined> =>
      changes.length === 0 ? undefined : repo.land({ author: agent(name), message: name, changes });
    const first = await land('setup', changesOf(null, row.base, 0));
    const base = first ? seqOf(first) : 0;
    await land('ours', changesOf(row.base, row.ours, base));
    const theirs = await land('theirs', changesOf(row.base, row.theirs, base));
    const reason = /conflict (?:kind=([a-z/]+)|\(([a-z/]+)\))/.exec(row.right);
    if (reason) {
      expect(theirs?.kind).toBe('conflicted');
      const [conflict] = repo.conflicts();
      const [path] = conflict?.paths ?? [];
      expect(path?.reason).toBe(reason[1] ?? reason[2]);
      const texts = Object.values(filesOf(row.theirs));
      if (texts.length > 0) expect(path?.incoming.content?.toString()).toBe(texts[0]);
      const current = typeof row.ours === 'string' ? row.ours : undefined;
      expect(path?.current.content?.toString()).toBe(current);
      if (row.base === null) expect(path?.base.content).toBeUndefined();
    } else {
      expect(theirs?.kind ?? 'unchanged').toMatch(/^(landed|unchanged|merged)$/);
      const isAbsent = row.right.includes('path absent');
      expect(repo.snapshot().list()).toHaveLength(isAbsent ? 0 : 1);
      expect(repo.conflicts()).toEqual([]);
    }
  });
});

test('1 thirteen writers of distinct files, all at once', async () => {
  const repo = await tempRepo();
  await put(repo, 'kept.txt', 'kept\n');
  const outcomes = await Promise.all(Array.from({ length: 13 }, (_, i) => put(repo, `w${i}.txt`, `${i}\n`)));
  expect(new Set(outcomes).size).toBe(13);
  expect(repo.snapshot().list()).toHaveLength(14);
});

test('a branch and its trunk go on apart, and each reads its own', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'f.txt', 'base\n');
  await repo.fork('side');
  await put(repo, 'f.txt', 'trunk\n', version(v1));
  const side = await repo.put('f.txt', 'side\n', { author: agent('s'), branch: 'side', expect: version(v1) });
  expect(side.kind).toBe('landed');
  expect(repo.snapshot().readText('f.txt')).toBe('trunk\n');
  expect(repo.snapshot(undefined, 'side').readText('f.txt')).toBe('side\n');
  expect(repo.snapshot(v1, 'side').readText('f.txt')).toBe('base\n');
});

test('10 a counter incremented by N writers comes to exactly N', async () => {
  const repo = await tempRepo();
  await put(repo, 'counter.txt', '0\n');
  const increment = async (i: number): Promise<void> => {
    for (;;) {
      const snapshot = repo.snapshot();
      const head = snapshot.head('counter.txt');
      const next = Number(snapshot.readText('counter.txt')) + 1;
      const options = { author: agent(`${i}`), expect: version(head?.version ?? 0), onStale: 'reject' } as const;
      const outcome = await repo.put('counter.txt', `${next}\n`, options);
      if (outcome.kind === 'landed') return;
      expect(outcome).toMatchObject({ kind: 'rejected', code: 'stale' });
    }
  };
  await Promise.all(Array.from({ length: 40 }, (_, i) => increment(i)));
  expect(repo.snapshot().readText('counter.txt')).toBe('40\n');
});

test('12 two callers read one head and both land: the second never overwrites', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'list.txt', 'a\nb\nc\nd\ne\n');
  const [one, two] = await Promise.all([
    repo.put('list.txt', 'A\nb\nc\nd\ne\n', { author: agent('1'), expect: version(v1) }),
    repo.put('list.txt', 'a\nb\nc\nd\nE\n', { author: agent('2'), expect: version(v1) }),
  ]);
  expect([one.kind, two.kind]).toEqual(['landed', 'merged']);
  expect(repo.snapshot().readText('list.txt')).toBe('A\nb\nc\nd\nE\n');
});

test('13 and 17 a reader of a moving head sees old or new, and a snapshot one seq only', async () => {
  const repo = await tempRepo();
  let v = await put(repo, 'head.txt', '0\n');
  const fixed = repo.snapshot();
  let isDone = false;
  const reader = (async () => {
    let last = 0;
    while (!isDone) {
      const text = repo.snapshot().readText('head.txt');
      expect(text).toBeDefined();
      expect(Number(text)).toBeGreaterThanOrEqual(last);
      last = Number(text);
      expect(fixed.readText('head.txt')).toBe('0\n');
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let i = 1; i <= 200; i++) {
    v = await put(repo, 'head.txt', `${i}\n`, version(v));
    await put(repo, `other/${i}.txt`, 'x\n');
  }
  isDone = true;
  await reader;
  expect(fixed.list()).toHaveLength(1);
  expect(repo.snapshot(fixed.seq).list()).toHaveLength(1);
  expect(repo.snapshot().list()).toHaveLength(201);
});

test('reopening finds what was acknowledged', async () => {
  const dir = tempDir();
  const first = await openRepo(dir, { create: true });
  await put(first, 'a.txt', 'a\n');
  await first.close();
  const second = await tempRepo(dir);
  expect(second.snapshot().readText('a.txt')).toBe('a\n');
  expect(second.fsck()).toMatchObject({ ok: true });
});

test('38 a name that differs by case or Unicode form alone is refused', async () => {
  const repo = await tempRepo();
  await put(repo, 'straße', 'x\n');
  const outcome = await repo.put('STRASSE', 'y\n', { author: agent('b') });
  expect(outcome).toMatchObject({ kind: 'rejected', code: 'path-collision', paths: ['STRASSE', 'straße'] });
});

test('38 so is a directory whose name differs by that, until nothing stands in the other one', async () => {
  const repo = await tempRepo();
  const by = { author: agent('b') };
  await put(repo, 'Src/deep/a', 'x\n');
  expect(await repo.put('src/b', 'y\n', by)).toMatchObject({ code: 'path-collision', paths: ['src/b', 'Src/deep/a'] });
  expect(await repo.put('Src/DEEP/b', 'y\n', by)).toMatchObject({ code: 'path-collision' });
  expect((await repo.put('Src/deep/b', 'y\n', by)).kind).toBe('landed');
  expect((await repo.put('Srcs/b', 'y\n', by)).kind).toBe('landed');
  const added = (path: string) => ({ kind: 'put', path, content: 'x\n', expect: absent }) as const;
  const both = { ...by, message: 'm', changes: [added('lib/a'), added('Lib/b')] };
  expect(await repo.land(both)).toMatchObject({ code: 'path-collision', paths: ['Lib/b', 'lib/a'] });
  const renamed = await repo.land({
    ...by,
    message: 'm',
    changes: ['a', 'b'].map((name) => ({
      kind: 'move',
      path: `Src/deep/${name}`,
      to: `src/${name}`,
      expect: version(repo.snapshot().seq),
    })),
  });
  expect(renamed.kind).toBe('landed');
  expect(await repo.put('Src/c', 'y\n', by)).toMatchObject({ code: 'path-collision', paths: ['Src/c', 'src/a'] });
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('40 a file becomes a directory and back, in one intent and across two', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'lib', 'x\n');
  const clash = await repo.put('lib/index', 'x\n', { author: agent('a') });
  expect(clash).toMatchObject({ kind: 'rejected', code: 'path-clash' });
  const flip = await repo.land({
    author: agent('a'),
    message: 'to a directory',
    changes: [
      { kind: 'put', path: 'lib/index', content: 'x\n', expect: absent },
      { kind: 'delete', path: 'lib', expect: version(v1) },
    ],
  });
  expect(flip.kind).toBe('landed');
  expect(
    repo
      .snapshot()
      .list()
      .map(({ path }) => path),
  ).toEqual(['lib/index']);
  await repo.land({
    author: agent('a'),
    message: 'away',
    changes: [{ kind: 'delete', path: 'lib/index', expect: version(seqOf(flip)) }],
  });
  await put(repo, 'lib', 'file again\n');
  expect(
    repo
      .snapshot()
      .list()
      .map(({ path }) => path),
  ).toEqual(['lib']);
  expect(repo.snapshot(v1).readText('lib')).toBe('x\n');
});

describe('merging branches back', () => {
  const list = (name: string): string => `${name}\n`;

  test('8 three workers, four rounds of fork, commit and merge back: all twelve changes are there, again and again', async () => {
    for (let repetition = 0; repetition < 20; repetition++) {
      const repo = await tempRepo();
      await put(repo, 'kept.txt', 'kept\n');
      await Promise.all(
        [0, 1, 2].map(async (worker) => {
          for (let round = 0; round < 4; round++) {
            const name = `w${worker}-r${round}`;
            const branch = await repo.fork(name);
            const author = agent(name);
            const outcome = await repo.put(`out/${name}.txt`, list(name), { author, branch: branch.name });
            expect(outcome.kind).toBe('landed');
            expect((await repo.merge(name, { author })).kind).toBe('landed');
          }
        }),
      );
      const files = repo.snapshot().list('out');
      expect(files).toHaveLength(12);
      expect(repo.snapshot().readText('kept.txt')).toBe('kept\n');
    }
  });

  test('9 twenty commits land while a branch is being merged: none is lost', async () => {
    const repo = await tempRepo();
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
    const v1 = await put(repo, 'f.txt', lines.join(''));
    await repo.fork('side');
    const onSide = lines.with(39, 'side\n').join('');
    await repo.put('f.txt', onSide, { author: agent('s'), branch: 'side', expect: version(v1) });
    const [merged, ...others] = await Promise.all([
      repo.merge('side', { author: agent('m') }),
      ...Array.from({ length: 20 }, (_, i) => put(repo, `n${i}.txt`, `${i}\n`)),
      repo.put('f.txt', lines.with(0, 'trunk\n').join(''), { author: agent('t'), expect: version(v1) }),
    ]);
    expect(typeof merged === 'object' && merged.kind).toMatch(/^(landed|merged)$/);
    expect(others).toHaveLength(21);
    expect(repo.snapshot().list()).toHaveLength(21);
    expect(repo.snapshot().readText('f.txt')).toBe(lines.with(0, 'trunk\n').with(39, 'side\n').join(''));
    expect(repo.fsck()).toMatchObject({ ok: true });
  });

  test('18 two branches forked before an earlier landing undo nothing when they are merged in one batch', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'f.txt', 'one\ntwo\nthree\nfour\nfive\n');
    const text = (from: string, to: string): string => 'one\ntwo\nthree\nfour\nfive\n'.replace(from, to);
    for (const [name, from] of [
      ['a', 'one'],
      ['b', 'five'],
    ] as const) {
      await repo.fork(name);
      const content = text(from, from.toUpperCase());
      await repo.put('f.txt', content, { author: agent(name), branch: name, expect: version(v1) });
    }
    await repo.put('f.txt', text('three', 'THREE'), { author: agent('t'), expect: version(v1) });
    const merged = await Promise.all(['a', 'b'].map((name) => repo.merge(name, { author: agent(name) })));
    expect(merged.map(({ kind }) => kind)).toEqual(['merged', 'merged']);
    expect(repo.snapshot().readText('f.txt')).toBe('ONE\ntwo\nTHREE\nfour\nFIVE\n');
    const [newest] = repo.log({ limit: 1 });
    expect(newest?.parents).toHaveLength(2);
    expect(await repo.merge('a', { author: agent('a') })).toMatchObject({ kind: 'rejected', code: 'record-stale' });
  });

  test('a branch that does not merge is a conflict, and its resolution has both parents', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'f.txt', 'one\n');
    await repo.fork('side');
    await repo.put('f.txt', 'side\n', { author: agent('s'), branch: 'side', expect: version(v1) });
    await put(repo, 'f.txt', 'trunk\n', version(v1));
    const merged = await repo.merge('side', { author: agent('m') });
    expect(merged.kind).toBe('conflicted');
    const outcome = await repo.resolve(merged.kind === 'conflicted' ? merged.conflict : '', {
      author: agent('r'),
      results: [{ path: 'f.txt', content: 'trunk\nside\n' }],
    });
    expect(outcome.kind).toBe('landed');
    expect(repo.commit(seqOf(outcome)).parents).toHaveLength(2);
  });
});

test('15 processes that change the metadata at once leave one consistent record', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await put(repo, 'a.txt', 'a\n');
  const names = Array.from({ length: 8 }, (_, i) => `branch-${i}`);
  const finished = await Promise.all(
    names.flatMap((name) => [
      mound(['--repo', dir, 'branch', name]),
      mound(['--repo', dir, 'tag', `tag-${name}`, '1']),
    ]),
  );
  expect(finished.map(({ code, stderr }) => ({ code, stderr }))).toEqual(finished.map(() => ({ code: 0, stderr: '' })));
  expect(repo.branches().map(({ name }) => name)).toEqual([...names, 'main']); // prettier-ignore
  expect(repo.tags()).toHaveLength(8);
  const again = await mound(['--repo', dir, 'branch', 'branch-3']);
  expect(again.code).toBe(2);
  expect(repo.fsck()).toMatchObject({ ok: true });
});

test('16 kill -9 in the middle of a branch merge leaves the state before it or after it', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const kept = await put(repo, 'kept.txt', 'kept\n');
  let killed = 0;
  for (let round = 0; round < 8; round++) {
    const name = `side-${round}`;
    await repo.fork(name, { at: kept });
    const files = Array.from({ length: 200 }, (_, i): Change => ({
      kind: 'put',
      path: `${name}/${i}.txt`,
      content: `${i}\n`.repeat(50),
      expect: absent,
    }));
    await repo.land({ author: agent('s'), message: name, branch: name, changes: files });
    const { child, finished } = start(process.execPath, [moundBin, '--repo', dir, 'merge', name, '--json']);
    await new Promise((resolve) => setTimeout(resolve, 60 + round * 30));
    child.kill('SIGKILL');
    const { signal, stdout } = await finished;
    if (signal === 'SIGKILL') killed++;
    const count = repo.snapshot().list(name).length;
    expect([0, 200]).toContain(count);
    // What was told was done.
    if (stdout !== '') expect(count).toBe(200);
    // A process that dies between its commit and telling readers of it leaves it to the next writer to do so:
    // what looked not landed may have landed, but it is never there in part, and never twice.
    const again = await repo.merge(name, { author: agent('m') });
    expect(count === 0 ? ['landed', 'rejected'] : ['rejected']).toContain(again.kind);
    expect([...repo.log()].filter(({ message }) => message === `Merge branch ${name}`)).toHaveLength(1);
    expect(repo.snapshot().list(name)).toHaveLength(200);
  }
  expect(killed).toBeGreaterThan(0);
  expect(repo.fsck()).toMatchObject({ ok: true });
});

test('11 two writers, a collection loop and fsck together find nothing wrong', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const kit = (name: string): string => join(import.meta.dirname, 'kit', name);
  const collector = start(process.execPath, [kit('gc-loop.js'), dir], { holdStdin: true });
  const writers = ['p', 'q'].map((name) =>
    start(process.execPath, [
      kit('writer.js'),
      dir,
      name,
      process.env['MOUND_LONG'] === undefined ? '400' : '12000',
      '8',
      join(dir, name),
    ]),
  );
  let isOver = false;
  const over = Promise.all(writers.map(({ finished }) => finished)).then((ends) => {
    isOver = true;
    return ends;
  });
  let checks = 0;
  while (!isOver) {
    await repo.stage(`staged ${checks}`);
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
    checks++;
    await sleep(5);
  }
  collector.child.stdin?.end();
  expect((await over).map(({ code }) => code)).toEqual([0, 0]);
  const { code, stdout } = await collector.finished;
  expect(code).toBe(0);
  const { rounds, objects } = JSON.parse(stdout.replace('ready\n', '')) as { rounds: number; objects: number };
  expect(rounds).toBeGreaterThan(1);
  expect(objects).toBeGreaterThan(0);
  expect(checks).toBeGreaterThan(1);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('14 a collection between writing an object and landing it leaves the object there', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const blob = await repo.stage('written, not landed yet\n');
  expect(JSON.parse((await mound(['--repo', dir, 'gc', '--json'])).stdout)).toMatchObject({
    objects: 0,
    kept: { young: 1 },
  });
  expect(await repo.gc()).toMatchObject({ objects: 0 });
  expect(repo.readObject(blob).toString()).toBe('written, not landed yet\n');
  const change = { kind: 'put', path: 'a.txt', blob, expect: absent } as const;
  expect((await repo.land({ author: agent('a'), message: 'resumed', changes: [change] })).kind).toBe('landed');
  expect(repo.snapshot().head('a.txt')?.blob).toBe(blob);
});
