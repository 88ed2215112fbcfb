import { absent, any, openRepo, version, type Intent, type Outcome, type Repo } from '@mound/vcs';
import { describe, expect, test } from 'vitest';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const seqOf = (outcome: Outcome): number => ('seq' in outcome ? outcome.seq : 0);
const put = async (repo: Repo, path: string, content: string, seq?: number): Promise<number> =>
  seqOf(await repo.put(path, content, { author: setup, expect: seq === undefined ? absent : version(seq) }));

describe('operation ids', () => {
  const intent: Intent = {
    author: agent('a'),
    message: 'm',
    operationId: 'op-1',
    changes: [{ kind: 'put', path: 'a.txt', content: 'a\n', expect: absent }],
  };

  test('the same id with the same content gives the first outcome, in one batch, later and after a restart', async () => {
    const dir = tempDir();
    const first = await openRepo(dir, { create: true });
    const outcomes = await Promise.all([first.land(intent), first.land(intent), first.land(intent)]);
    outcomes.push(await first.land(intent));
    await first.close();
    const second = await tempRepo(dir);
    outcomes.push(await second.land(intent));
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
    expect(second.snapshot().seq).toBe(1);
    expect(second.outcome('op-1')).toEqual(outcomes[0]);
    expect(second.outcome('op-2')).toBeUndefined();
  });

  test('with other content it is a typed error', async () => {
    const repo = await tempRepo();
    await repo.land(intent);
    await expect(repo.land({ ...intent, message: 'other' })).rejects.toMatchObject({ code: 'operation-mismatch' });
    const records = [{ key: 'k', expect: absent, value: 'v' }];
    await expect(repo.land({ ...intent, records })).rejects.toMatchObject({ code: 'operation-mismatch' });
    const changes = [{ kind: 'put', path: 'a.txt', content: 'b\n', expect: absent }] as const;
    await expect(repo.land({ ...intent, changes })).rejects.toMatchObject({ code: 'operation-mismatch' });
  });

  test('an unchanged outcome is remembered too', async () => {
    const repo = await tempRepo();
    await put(repo, 'a.txt', 'a\n');
    const unchanged = await repo.land(intent);
    expect(unchanged).toEqual({ kind: 'unchanged', seq: 1 });
    await put(repo, 'a.txt', 'b\n', 1);
    expect(await repo.land(intent)).toEqual(unchanged);
    expect(repo.snapshot().readText('a.txt')).toBe('b\n');
  });

  test('many ids are found again from the table as from memory', async () => {
    const dir = tempDir();
    const first = await openRepo(dir, { create: true });
    const land = (repo: Repo, i: number): Promise<Outcome> =>
      repo.put(`f/${i % 50}`, `${i}\n`, { author: setup, expect: any, operationId: `op ${i}`, message: 'm' });
    const outcomes: Outcome[] = [];
    for (let from = 0; from < 20_000; from += 2_000) {
      outcomes.push(...(await Promise.all(Array.from({ length: 2_000 }, (_, i) => land(first, from + i)))));
    }
    await first.close();
    const second = await tempRepo(dir);
    for (let i = 0; i < 20_000; i += 777) {
      expect(await land(second, i)).toEqual(outcomes[i]);
      const landed = outcomes[i];
      const commit = landed?.kind === 'landed' ? landed.commit : undefined;
      expect(second.commit(commit ?? '').seq).toBe(seqOf(landed as Outcome));
    }
  });
});

describe('records', () => {
  const claim = (repo: Repo, name: string, expected = absent): Promise<Outcome> =>
    repo.land({ author: agent(name), message: 'claim', records: [{ key: 'task/1', expect: expected, value: name }] });

  test('one hundred claimers, one winner; a record-only intent makes no commit', async () => {
    const repo = await tempRepo();
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, i) => claim(repo, `agent-${i}`)));
    const won = outcomes.filter(({ kind }) => kind === 'landed');
    expect(won).toEqual([{ kind: 'landed', seq: 1, commit: undefined }]);
    expect(outcomes.filter((o) => o.kind === 'rejected' && o.code === 'record-stale')).toHaveLength(99);
    expect(repo.snapshot().record('task/1')?.value.toString()).toBe('agent-0');
    expect([...repo.log()]).toEqual([]);
  });

  test('land or fail together with the changes', async () => {
    const repo = await tempRepo();
    await claim(repo, 'a');
    const finish = (expected: Intent['records'] extends readonly (infer R)[] | undefined ? R : never): Intent => ({
      author: agent('a'),
      message: 'done',
      changes: [{ kind: 'put', path: 'out.txt', content: 'x\n', expect: absent }],
      records: [expected],
    });
    await repo.land({
      author: setup,
      message: 'm',
      records: [{ key: 'task/1', expect: version(1), value: 'taken over' }],
    });
    const fenced = await repo.land(finish({ key: 'task/1', expect: version(1), value: 'done' }));
    expect(fenced).toMatchObject({ kind: 'rejected', code: 'record-stale' });
    const early = await repo.land(finish({ key: 'task/1', expect: version(9), value: 'done' }));
    expect(early).toMatchObject({ kind: 'rejected', code: 'no-such-version' });
    expect(repo.snapshot().head('out.txt')).toBeUndefined();
    const done = await repo.land(finish({ key: 'task/1', expect: version(repo.snapshot().seq), value: 'done' }));
    expect(done.kind).toBe('landed');
    const snapshot = repo.snapshot();
    expect(snapshot.record('task/1')).toMatchObject({ version: seqOf(done) });
    expect(repo.snapshot(1).record('task/1')?.value.toString()).toBe('a');
  });

  test('are listed by prefix, as of a snapshot, without what was deleted', async () => {
    const repo = await tempRepo();
    const keys = ['a/1', 'a/2', 'b/1'];
    await repo.land({ author: setup, message: 'm', records: keys.map((key) => ({ key, expect: absent, value: key })) });
    await repo.land({ author: setup, message: 'm', records: [{ key: 'a/1', expect: version(1), value: null }] });
    expect(
      repo
        .snapshot()
        .records('a/')
        .map(({ key }) => key),
    ).toEqual(['a/2']);
    expect(
      repo
        .snapshot(1)
        .records('a/')
        .map(({ key }) => key),
    ).toEqual(['a/1', 'a/2']);
    expect(
      repo
        .snapshot()
        .records()
        .map(({ key }) => key),
    ).toEqual(['a/2', 'b/1']);
  });
});

describe('deletes and moves', () => {
  test('a delete leaves a tombstone: absent holds, an older version is stale, recreation goes on', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'a.txt', 'one\ntwo\n');
    const gone = await repo.land({
      author: agent('a'),
      message: 'm',
      changes: [{ kind: 'delete', path: 'a.txt', expect: version(v1) }],
    });
    expect(gone.kind).toBe('landed');
    const stale = await repo.put('a.txt', 'one\ntwo\nthree\n', { author: agent('b'), expect: version(v1) });
    expect(stale.kind).toBe('conflicted');
    expect(repo.conflicts()[0]?.paths[0]?.reason).toBe('delete/modify');
    const again = await put(repo, 'a.txt', 'new\n');
    expect(repo.commit(again).changes[0]?.previous).toBe(seqOf(gone));
    expect([...repo.log({ path: 'a.txt' })].map(({ seq }) => seq)).toEqual([again, seqOf(gone), v1]);
  });

  test('a task that rewrote a file as it was, while another deleted it, ends merged with the file gone', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'a.txt', 'one\n');
    await repo.land({ author: setup, message: 'm', changes: [{ kind: 'delete', path: 'a.txt', expect: version(v1) }] });
    const outcome = await repo.land({
      author: agent('a'),
      message: 'm',
      changes: [{ kind: 'put', path: 'a.txt', content: 'one\n', expect: version(v1) }],
      records: [{ key: 'task/1', expect: absent, value: 'done' }],
    });
    expect(outcome).toMatchObject({ kind: 'merged', merged: [{ path: 'a.txt', result: undefined }] });
    expect(repo.snapshot().list()).toEqual([]);
    expect([...repo.events()].at(-2)).toMatchObject({ kind: 'file.merged', path: 'a.txt' });
  });

  const text = 'one\ntwo\nthree\nfour\nfive\n';

  test('an edit of the old path follows a move', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'old.txt', text);
    const move = { kind: 'move', path: 'old.txt', to: 'new.txt', expect: version(v1) } as const;
    expect((await repo.land({ author: agent('a'), message: 'm', changes: [move] })).kind).toBe('landed');
    const edit = await repo.put('old.txt', text.replace('two', 'TWO'), { author: agent('b'), expect: version(v1) });
    expect(edit).toMatchObject({ kind: 'merged' });
    expect(
      repo
        .snapshot()
        .list()
        .map(({ path }) => path),
    ).toEqual(['new.txt']);
    expect(repo.snapshot().readText('new.txt')).toBe(text.replace('two', 'TWO'));
  });

  test('a move takes along what was edited meanwhile', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'old.txt', text);
    await put(repo, 'old.txt', text.replace('four', 'FOUR'), v1);
    const move = { kind: 'move', path: 'old.txt', to: 'new.txt', expect: version(v1) } as const;
    const moved = await repo.land({ author: agent('a'), message: 'm', changes: [move] });
    expect(moved.kind).toBe('merged');
    expect(repo.snapshot().readText('new.txt')).toBe(text.replace('four', 'FOUR'));
    expect(repo.snapshot().head('old.txt')).toBeUndefined();
  });

  test('a move of what was deleted meanwhile is a conflict, not a resurrection', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'old.txt', text);
    await repo.land({
      author: setup,
      message: 'm',
      changes: [{ kind: 'delete', path: 'old.txt', expect: version(v1) }],
    });
    const move = { kind: 'move', path: 'old.txt', to: 'new.txt', expect: version(v1) } as const;
    const moved = await repo.land({ author: agent('a'), message: 'm', changes: [move] });
    expect(moved.kind).toBe('conflicted');
    expect(repo.conflicts()[0]?.paths[0]?.reason).toBe('move/delete');
    expect(repo.snapshot().list()).toEqual([]);
  });

  test('one side moves f to g, the other adds an identical g', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'f', text);
    await put(repo, 'g', text);
    const move = { kind: 'move', path: 'f', to: 'g', expect: version(v1) } as const;
    const moved = await repo.land({ author: agent('a'), message: 'm', changes: [move] });
    expect(moved.kind).toBe('landed');
    expect(
      repo
        .snapshot()
        .list()
        .map(({ path }) => path),
    ).toEqual(['g']);
  });

  test('chmod keeps the bytes; what is there already is unchanged', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'run.sh', text);
    const chmod = { kind: 'chmod', path: 'run.sh', mode: 'executable', expect: version(v1) } as const;
    expect((await repo.land({ author: setup, message: 'm', changes: [chmod] })).kind).toBe('landed');
    expect(repo.snapshot().head('run.sh')).toMatchObject({ mode: 'executable' });
    expect(repo.snapshot().readText('run.sh')).toBe(text);
    expect((await repo.land({ author: setup, message: 'm', changes: [chmod] })).kind).toBe('unchanged');
  });
});

describe('freeze', () => {
  test('parks whole intents and decides them again in order at thaw', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'mega.txt', 'one\ntwo\nthree\nfour\nfive\n');
    await repo.freeze('mega.txt', { author: agent('d'), reason: 'too large' });
    const edit = (name: string, from: string, to: string): Promise<Outcome> =>
      repo.land({
        author: agent(name),
        message: name,
        operationId: `op-${name}`,
        changes: [
          {
            kind: 'put',
            path: 'mega.txt',
            content: 'one\ntwo\nthree\nfour\nfive\n'.replace(from, to),
            expect: version(v1),
          },
          { kind: 'put', path: `${name}.txt`, content: 'x\n', expect: absent },
        ],
      });
    const parked = [await edit('a', 'one', 'ONE'), await edit('b', 'five', 'FIVE'), await edit('c', 'one', 'other')];
    expect(parked.map(({ kind }) => kind)).toEqual(['parked', 'parked', 'parked']);
    expect(repo.snapshot().list()).toHaveLength(1);
    expect(repo.outcome('op-a')).toMatchObject({ kind: 'parked' });
    const thawed = await repo.thaw('mega.txt', { author: agent('d'), reason: 'done' });
    expect(thawed.parked.map(({ outcome }) => outcome.kind)).toEqual(['landed', 'merged', 'conflicted']);
    expect(repo.snapshot().readText('mega.txt')).toBe('ONE\ntwo\nthree\nfour\nFIVE\n');
    expect(
      repo
        .snapshot()
        .list()
        .map(({ path }) => path),
    ).toEqual(['a.txt', 'b.txt', 'mega.txt']);
    expect(repo.outcome('op-b')).toMatchObject({ kind: 'merged' });
    expect(repo.stats()).toMatchObject({ parkedOpen: 0, conflictsOpen: 1 });
    expect(repo.fsck()).toMatchObject({ ok: true });
  });
});

describe('resolution', () => {
  async function conflicted(): Promise<{ repo: Repo; id: string }> {
    const repo = await tempRepo();
    const v1 = await put(repo, 'f.txt', 'one\ntwo\nthree\n');
    await put(repo, 'f.txt', 'one\nCURRENT\nthree\n', v1);
    const outcome = await repo.land({
      author: agent('b'),
      message: 'mine',
      operationId: 'op-b',
      task: 't-1',
      changes: [
        { kind: 'put', path: 'f.txt', content: 'one\nINCOMING\nthree\n', expect: version(v1) },
        { kind: 'put', path: 'rest.txt', content: 'rest\n', expect: absent },
      ],
      records: [{ key: 'task/1', expect: absent, value: 'done' }],
    });
    return { repo, id: outcome.kind === 'conflicted' ? outcome.conflict : '' };
  }
  const merger = { name: 'm', kind: 'agent', role: 'merger' } as const;

  test('lands the whole kept intent, by the resolver, with the sides as co-authors', async () => {
    const { repo, id } = await conflicted();
    const outcome = await repo.resolve(id, {
      author: merger,
      results: [{ path: 'f.txt', content: 'one\nCURRENT\nINCOMING\nthree\n' }],
    });
    expect(outcome.kind).toBe('landed');
    const view = repo.commit(seqOf(outcome));
    expect(view.author).toEqual(merger);
    expect(view.coAuthors.map(({ name }) => name)).toEqual(['b', 'setup']);
    expect(view.task).toBe('t-1');
    expect(repo.snapshot().readText('rest.txt')).toBe('rest\n');
    expect(repo.snapshot().record('task/1')?.value.toString()).toBe('done');
    expect(repo.conflict(id)).toMatchObject({ state: 'resolved', resolvedAt: seqOf(outcome) });
    expect(repo.outcome('op-b')).toEqual(outcome);
    const twice = await repo.resolve(id, {
      author: merger,
      results: [{ path: 'f.txt', content: 'one\nCURRENT\nINCOMING\nthree\n' }],
    });
    expect(twice).toMatchObject({ kind: 'rejected', code: 'no-such-conflict' });
  });

  test.each([
    ['a hunk without an account', 'one\nCURRENT\nthree\n', 'resolution-unaccounted'],
    [
      'a marker left',
      'one\n<<<<<<< current\nCURRENT\n=======\nINCOMING\n>>>>>>> incoming\nthree\n',
      'resolution-has-markers',
    ],
  ])('%s is refused and the conflict stays open', async (_name, content, code) => {
    const { repo, id } = await conflicted();
    expect(await repo.resolve(id, { author: merger, results: [{ path: 'f.txt', content }] })).toMatchObject({ code });
    expect(repo.conflicts()).toHaveLength(1);
    expect(repo.snapshot().head('rest.txt')).toBeUndefined();
  });

  test('a discarded side needs a reason', async () => {
    const { repo, id } = await conflicted();
    const results = [{ path: 'f.txt', content: 'one\nCURRENT\nthree\n' }];
    const discard = { path: 'f.txt', side: 'incoming', hunk: 0, fate: 'discarded' } as const;
    const without = await repo.resolve(id, { author: merger, results, accounts: [discard] });
    expect(without).toMatchObject({ code: 'resolution-unaccounted' });
    const accounts = [{ ...discard, because: { kind: 'decision', id: 'D-1' } as const }];
    expect((await repo.resolve(id, { author: merger, results, accounts })).kind).toBe('landed');
  });

  test('a record that changed meanwhile leaves the conflict open', async () => {
    const { repo, id } = await conflicted();
    await repo.land({ author: setup, message: 'm', records: [{ key: 'task/1', expect: absent, value: 'taken over' }] });
    const outcome = await repo.resolve(id, {
      author: merger,
      results: [{ path: 'f.txt', content: 'one\nCURRENT\nINCOMING\nthree\n' }],
    });
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'record-stale' });
    expect(repo.conflicts()).toHaveLength(1);
  });

  test('a side that moved on is merged with the resolution', async () => {
    const { repo, id } = await conflicted();
    await put(repo, 'f.txt', 'ONE\nCURRENT\nthree\n', 2);
    const outcome = await repo.resolve(id, {
      author: merger,
      results: [{ path: 'f.txt', content: 'one\nCURRENT\nthree\nINCOMING\n' }],
      accounts: [{ path: 'f.txt', side: 'incoming', hunk: 0, fate: 'transformed' }],
    });
    expect(outcome.kind).toBe('merged');
    expect(repo.snapshot().readText('f.txt')).toBe('ONE\nCURRENT\nthree\nINCOMING\n');
  });
});

describe('a conflict whose current side moves on', () => {
  test('is shown against the newest state, and resolved as of what was shown', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'f.txt', 'one\ntwo\nthree\n');
    const v2 = await put(repo, 'f.txt', 'one\nCURRENT\nthree\n', v1);
    const mine = await repo.put('f.txt', 'one\nINCOMING\nthree\n', { author: agent('b'), expect: version(v1) });
    const id = mine.kind === 'conflicted' ? mine.conflict : '';
    const seen = repo.conflict(id);
    await put(repo, 'f.txt', 'one\nNEWER\nthree\n', v2);
    const result = (text: string): { path: string; content: string }[] => [{ path: 'f.txt', content: text }];
    const otherwise = { fate: 'transformed' } as const;
    const stale = await repo.resolve(id, {
      author: agent('m'),
      asOf: seen.asOf,
      results: result('one\nCURRENT INCOMING\nthree\n'),
      otherwise,
    });
    expect(stale).toMatchObject({ kind: 'rejected', code: 'resolution-stale' });
    const again = repo.conflict(id);
    expect(again.state).toBe('open');
    expect(again.paths[0]?.current.content?.toString()).toBe('one\nNEWER\nthree\n');
    expect(again.paths[0]?.hunks.map(({ current }) => Buffer.from(current.text).toString())).toEqual(['NEWER\n']);
    const resolution = { author: agent('m'), asOf: again.asOf, results: result('one\nNEWER INCOMING\nthree\n') };
    expect(await repo.resolve(id, resolution)).toMatchObject({ code: 'resolution-unaccounted' });
    expect((await repo.resolve(id, { ...resolution, otherwise })).kind).toBe('landed');
    expect(repo.snapshot().readText('f.txt')).toBe('one\nNEWER INCOMING\nthree\n');
  });
});

test('a kept intent whose other path no longer merges grows its conflict by that path', async () => {
  const repo = await tempRepo();
  const base = 'one\ntwo\nthree\n';
  const f = await put(repo, 'f.txt', base);
  const g = await put(repo, 'g.txt', base);
  await put(repo, 'f.txt', base.replace('two', 'CURRENT'), f);
  const mine = await repo.land({
    author: agent('b'),
    message: 'both',
    changes: [
      { kind: 'put', path: 'f.txt', content: base.replace('two', 'INCOMING'), expect: version(f) },
      { kind: 'put', path: 'g.txt', content: base.replace('two', 'MINE'), expect: version(g) },
    ],
  });
  expect(mine).toMatchObject({ kind: 'conflicted', paths: ['f.txt'] });
  const id = mine.kind === 'conflicted' ? mine.conflict : '';
  await put(repo, 'g.txt', base.replace('two', 'THEIRS'), g);
  const result = (path: string, text: string): { path: string; content: string } => ({
    path,
    content: base.replace('two', text),
  });
  const otherwise = { fate: 'transformed' } as const;
  const early = await repo.resolve(id, { author: agent('m'), results: [result('f.txt', 'BOTH')], otherwise });
  expect(early).toMatchObject({ kind: 'rejected', code: 'resolution-stale', paths: ['g.txt'] });
  const grown = repo.conflict(id);
  expect(grown.paths.map(({ path }) => path)).toEqual(['f.txt', 'g.txt']);
  const results = [result('f.txt', 'BOTH'), result('g.txt', 'ALL')];
  const outcome = await repo.resolve(id, { author: agent('m'), asOf: grown.asOf, results, otherwise });
  expect(outcome.kind).toBe('landed');
  expect(repo.snapshot().readText('g.txt')).toBe(base.replace('two', 'ALL'));
});

describe('stale reads', () => {
  test('are recorded as events, or refused by policy', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'read.txt', 'a\n');
    await put(repo, 'read.txt', 'b\n', v1);
    const intent = (path: string): Intent => ({
      author: agent('a'),
      message: 'm',
      reads: [{ path: 'read.txt', version: v1 }],
      changes: [{ kind: 'put', path, content: 'x\n', expect: absent }],
    });
    const landed = await repo.land(intent('one.txt'));
    expect(landed.kind).toBe('landed');
    const stale = [...repo.events()].find(({ kind }) => kind === 'read.stale');
    expect(stale).toMatchObject({ seq: seqOf(landed), path: 'read.txt', seen: v1, actual: 2 });
    const refused = await repo.land({ ...intent('two.txt'), onStaleRead: 'reject' });
    expect(refused).toMatchObject({ kind: 'rejected', code: 'stale-read', paths: ['read.txt'] });
  });
});

describe('refusals', () => {
  test.each([
    ['no change', { changes: [] }, 'invalid-intent'],
    [
      'a path twice',
      { changes: [1, 2].map(() => ({ kind: 'put', path: 'a', content: '', expect: absent })) },
      'invalid-intent',
    ],
    [
      'a path out of the repo',
      { changes: [{ kind: 'put', path: '../a', content: '', expect: absent }] },
      'invalid-path',
    ],
    ['no precondition', { changes: [{ kind: 'put', path: 'a', content: '' }] }, 'invalid-intent'],
    [
      'a version to come',
      { changes: [{ kind: 'put', path: 'a', content: '', expect: version(99) }] },
      'no-such-version',
    ],
    [
      'an unknown branch',
      { branch: 'nope', changes: [{ kind: 'put', path: 'a', content: '', expect: absent }] },
      'no-such-branch',
    ],
    ['a huge message', { message: 'x'.repeat(2_000_000) }, 'limit-exceeded'],
    ['a move of nothing', { changes: [{ kind: 'move', path: 'a', to: 'b', expect: version(0) }] }, 'no-such-path'],
  ])('%s', async (_name, part, code) => {
    const repo = await tempRepo();
    const whole = {
      author: setup,
      message: 'm',
      changes: [{ kind: 'put', path: 'a', content: '', expect: absent }],
      ...part,
    };
    const outcome = await repo.land(whole as Intent);
    expect(outcome).toMatchObject({ kind: 'rejected', code });
    expect(outcome.kind === 'rejected' && outcome.next).not.toBe('');
    expect(repo.snapshot().seq).toBe(0);
  });
});
