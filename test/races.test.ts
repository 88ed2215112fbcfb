import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { absent, any, initRepo, openRepo, version, type Intent, type Outcome, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { seqKey } from '../packages/vcs/src/format/keys.ts';
import { agent, onCleanup, setup, tempDir, tempRepo } from './kit/temp.ts';

const seqOf = (outcome: Outcome): number => ('seq' in outcome ? outcome.seq : 0);
const put = async (repo: Repo, path: string, content: string, seq?: number): Promise<number> =>
  seqOf(await repo.put(path, content, { author: setup, expect: seq === undefined ? absent : version(seq) }));

const lines = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const textOf = (repo: Repo, path: string): string => repo.snapshot().readText(path) ?? '';

test.each([
  ['chmod', { kind: 'chmod', path: 'a', mode: 'executable', expect: any }, 'a'],
  ['move', { kind: 'move', path: 'a', to: 'b', expect: any }, 'b'],
] as const)('a forced %s takes along what landed while it was on its way', async (_name, change, path) => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'a', lines);
  await Promise.all([
    repo.put('a', lines.replace('two', 'TWO'), { author: agent('x'), expect: version(v1) }),
    repo.land({ author: agent('y'), message: 'm', changes: [change] }),
  ]);
  expect(textOf(repo, path)).toBe(lines.replace('two', 'TWO'));
});

test('an edit that follows a move to a path that its intent edits too is a conflict', async () => {
  const repo = await tempRepo();
  const a = await put(repo, 'a', lines);
  const b = await put(repo, 'b', lines);
  const move = { kind: 'move', path: 'a', to: 'b', expect: version(a), expectTo: version(b) } as const;
  expect((await repo.land({ author: agent('p'), message: 'm', changes: [move] })).kind).toBe('landed');
  const both = await repo.land({
    author: agent('q'),
    message: 'm',
    changes: [
      { kind: 'put', path: 'a', content: lines.replace('one', 'ONE'), expect: version(a) },
      { kind: 'put', path: 'b', content: lines.replace('nine', 'NINE'), expect: version(b) },
    ],
  });
  expect(both.kind).toBe('conflicted');
  expect(repo.fsck().ok).toBe(true);
});

test('a move whose both ends changed is a conflict', async () => {
  const repo = await tempRepo();
  const f = await put(repo, 'f', lines);
  const g = await put(repo, 'g', lines);
  await put(repo, 'f', lines.replace('five', 'FIVE'), f);
  await put(repo, 'g', lines.replace('nine', 'NINE'), g);
  const move = {
    kind: 'move',
    path: 'f',
    to: 'g',
    content: lines,
    expect: version(f),
    expectTo: version(g),
  } as const;
  expect((await repo.land({ author: agent('p'), message: 'm', changes: [move] })).kind).toBe('conflicted');
  expect(textOf(repo, 'f')).toContain('FIVE');
});

test('a parked intent keeps its policy', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'a', lines);
  await repo.freeze('a', { author: setup, reason: 'r' });
  const parked = await repo.put('a', lines.replace('one', 'ONE'), {
    author: agent('x'),
    expect: version(v1),
    onStale: 'reject',
  });
  expect(parked.kind).toBe('parked');
  const other = await repo.put('a', lines.replace('nine', 'NINE'), { author: agent('y'), expect: version(v1) });
  expect(other.kind).toBe('parked');
  // The one that lands first makes the other stale: which is refused, since it asked for that.
  const { parked: decided } = await repo.thaw('a', { author: setup, reason: 'r' });
  expect(decided.map(({ outcome }) => outcome.kind)).toEqual(['landed', 'merged']);
  await repo.freeze('a', { author: setup, reason: 'r' });
  const late = await repo.put('a', lines.replace('two', 'TWO'), {
    author: agent('z'),
    expect: version(v1),
    onStale: 'reject',
  });
  expect(late.kind).toBe('parked');
  const again = await repo.thaw('a', { author: setup, reason: 'r' });
  expect(again.parked.map(({ outcome }) => outcome)).toMatchObject([{ kind: 'rejected', code: 'stale' }]);
});

test('a freeze holds for what comes behind it in the same batch', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'a', lines);
  const [, behind] = await Promise.all([
    repo.freeze('a', { author: setup, reason: 'r' }),
    repo.put('a', 'x\n', { author: agent('x'), expect: version(v1) }),
  ]);
  expect(behind.kind).toBe('parked');
});

test('an intent parked for one path and then held by another is decided at the last thaw', async () => {
  const repo = await tempRepo();
  const act = { author: setup, reason: 'r' };
  const [a, b] = [await put(repo, 'a', lines), await put(repo, 'b', lines)];
  await repo.freeze('a', act);
  const changes = [['a', a] as const, ['b', b] as const].map(([path, seq]) => ({
    kind: 'put' as const,
    path,
    content: 'x\n',
    expect: version(seq),
  }));
  expect((await repo.land({ author: agent('x'), message: 'm', changes })).kind).toBe('parked');
  await repo.freeze('b', act);
  expect((await repo.thaw('a', act)).parked).toEqual([]);
  expect((await repo.thaw('b', act)).parked.map(({ outcome }) => outcome.kind)).toEqual(['landed']);
  expect(repo.stats().parkedOpen).toBe(0);
});

test('a thaw that died before it decided anything is made good at the next opening', async () => {
  const dir = tempDir();
  const first = await openRepo(dir, { create: true });
  const v1 = await put(first, 'a', lines);
  await first.freeze('a', { author: setup, reason: 'r' });
  await first.put('a', 'x\n', { author: agent('x'), expect: version(v1) });
  // The mark lands, and the process is closed before the rest.
  const thawing = first.thaw('a', { author: setup, reason: 'r' }).catch(() => undefined);
  await first.close();
  await thawing;
  const second = await tempRepo(dir);
  expect(second.stats().parkedOpen).toBe(0);
  expect(textOf(second, 'a')).toBe('x\n');
});

test('a resolution of a frozen path is refused and the conflict stays open', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'a', lines);
  await put(repo, 'a', lines.replace('one', 'ONE'), v1);
  const mine = await repo.put('a', lines.replace('one', 'eins'), { author: agent('x'), expect: version(v1) });
  const id = mine.kind === 'conflicted' ? mine.conflict : '';
  await repo.freeze('a', { author: setup, reason: 'r' });
  const results = [{ path: 'a', content: lines.replace('one', 'ONE eins') }];
  const resolution = { author: agent('m'), results, otherwise: { fate: 'transformed' } as const };
  expect(await repo.resolve(id, resolution)).toMatchObject({ kind: 'rejected', code: 'frozen' });
  await repo.thaw('a', { author: setup, reason: 'r' });
  expect((await repo.resolve(id, resolution)).kind).toBe('landed');
});

test('a stale intent sent twice at once under one operation id is one conflict', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'a', lines);
  await put(repo, 'a', lines.replace('one', 'ONE'), v1);
  const send = (): Promise<Outcome> =>
    repo.put('a', lines.replace('one', 'eins'), { author: agent('x'), expect: version(v1), operationId: 'op' });
  const [one, two] = await Promise.all([send(), send()]);
  expect(one).toEqual(two);
  expect(repo.conflicts()).toHaveLength(1);
});

test('a retry is recognised however much has changed since', async () => {
  const repo = await tempRepo();
  await put(repo, 'a', lines);
  const move: Intent = {
    author: agent('x'),
    message: 'm',
    operationId: 'op-move',
    changes: [{ kind: 'move', path: 'a', to: 'b', expect: any }],
  };
  const moved = await repo.land(move);
  expect(await repo.land(move)).toEqual(moved);
  const create: Intent = {
    author: agent('x'),
    message: 'm',
    operationId: 'op-new',
    changes: [{ kind: 'put', path: 'c', content: lines, expect: absent }],
  };
  const created = await repo.land(create);
  const chmod = { kind: 'chmod', path: 'c', mode: 'executable', expect: any } as const;
  await repo.land({ author: setup, message: 'm', changes: [chmod] });
  expect(await repo.land(create)).toEqual(created);
  expect(repo.outcome('op-new')).toEqual(created);
});

test('an unchanged outcome is found by its operation id', async () => {
  const repo = await tempRepo();
  await put(repo, 'a', lines);
  await repo.put('a', lines, { author: agent('x'), operationId: 'op' });
  expect(repo.outcome('op')).toEqual({ kind: 'unchanged', seq: 1 });
});

test('a deletion that the result undoes, and a claim of having kept, need to be true', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'a', lines);
  await put(repo, 'a', lines.replace('five', 'FIVE'), v1);
  const mine = await repo.put('a', lines.replace('five\n', ''), { author: agent('x'), expect: version(v1) });
  const id = mine.kind === 'conflicted' ? mine.conflict : '';
  const results = [{ path: 'a', content: lines.replace('five', 'FIVE') }];
  const place = { path: 'a', side: 'incoming', hunk: 0 } as const;
  expect(await repo.resolve(id, { author: agent('m'), results })).toMatchObject({ code: 'resolution-unaccounted' });
  const claimed = await repo.resolve(id, { author: agent('m'), results, accounts: [{ ...place, fate: 'kept' }] });
  expect(claimed).toMatchObject({ code: 'resolution-unaccounted' });
  const because = { kind: 'decision', id: 'D-1' } as const;
  const accounts = [{ ...place, fate: 'discarded', because } as const];
  expect((await repo.resolve(id, { author: agent('m'), results, accounts })).kind).toBe('landed');
});

test('authors that differ by an empty field are two', async () => {
  const repo = await tempRepo();
  for (const [at, email] of ['', undefined, '', undefined].entries()) {
    const author = { name: 'n', kind: 'human', ...(email !== undefined && { email }) } as const;
    await repo.put(`f${at}`, 'x\n', { author });
  }
  expect([...repo.log()].map(({ author }) => author.email).toReversed()).toEqual(['', undefined, '', undefined]);
  expect(repo.fsck().ok).toBe(true);
});

test('several processes may make one repository at the same time', async () => {
  const dir = tempDir();
  const repos = await Promise.all(Array.from({ length: 4 }, () => openRepo(dir, { create: true })));
  const outcomes = await Promise.all(repos.map((repo, i) => repo.put(`f${i}`, 'x\n', { author: setup })));
  expect(outcomes.map(({ kind }) => kind)).toEqual(repos.map(() => 'landed'));
  expect(new Set(repos.map(({ repoId }) => repoId)).size).toBe(1);
  await Promise.all(repos.map((repo) => repo.close()));
});

test('two hundred agents on one line-free-for-all file: each line is there or in a conflict', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'hot', lines);
  const rows = lines.split('\n').slice(0, -1);
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, i) => {
      const content = `${rows.toSpliced(i % rows.length, 0, `agent ${i}`).join('\n')}\n`;
      return repo.put('hot', content, { author: agent(`${i}`), expect: version(v1) });
    }),
  );
  const kept = repo.conflicts().map(({ paths }) => paths[0]?.incoming.content?.toString() ?? '');
  for (const [i, { kind }] of outcomes.entries()) {
    const isThere = textOf(repo, 'hot').split('\n').includes(`agent ${i}`);
    if (kind === 'conflicted') expect(kept.some((text) => text.split('\n').includes(`agent ${i}`))).toBe(true);
    else expect(isThere).toBe(true);
  }
});

const act = { author: setup, reason: 'r' };
const transformed = { fate: 'transformed' } as const;

test('a parked intent that cannot be decided keeps nobody from opening the repository, nor those behind it', async () => {
  const dir = tempDir();
  const repo = await openRepo(dir, { create: true });
  await repo.freeze('z', act);
  const long = 'p'.repeat(2000);
  const outcome = await repo.land({
    author: agent('x'),
    message: 'm',
    changes: ['z', long].map((path) => ({ kind: 'put' as const, path, content: 'x\n', expect: absent })),
  });
  expect(outcome).toMatchObject({ kind: 'rejected', code: 'invalid-path' });
  await repo.put('z', 'behind\n', { author: agent('y') });
  await repo.thaw('z', act);
  expect(textOf(repo, 'z')).toBe('behind\n');
  await repo.close();
  await tempRepo(dir);
});

/** f moved to g with an edit, while f got another: a conflict at g. */
async function movedAndEdited(): Promise<{ repo: Repo; id: string; f: number }> {
  const repo = await tempRepo();
  const v1 = await put(repo, 'f', lines);
  const f = await put(repo, 'f', lines.replace('five', 'FIVE'), v1);
  const content = lines.replace('five', 'fünf');
  const move = { kind: 'move', path: 'f', to: 'g', content, expect: version(v1) } as const;
  const moved = await repo.land({ author: agent('m'), message: 'm', changes: [move] });
  return { repo, f, id: moved.kind === 'conflicted' ? moved.conflict : '' };
}

test('a conflict over a move shows what its source holds by now, and needs an account of it', async () => {
  const { repo, id, f } = await movedAndEdited();
  await put(repo, 'f', lines.replace('five', 'FIVE LATER'), f);
  const view = repo.conflict(id);
  expect(view.paths.map(({ path, current }) => [path, current.content?.toString()])).toEqual([
    ['g', lines.replace('five', 'FIVE LATER')],
  ]);
  const results = [{ path: 'g', content: lines.replace('five', 'fünf') }];
  const resolution = { author: agent('r'), asOf: view.asOf, results };
  expect(await repo.resolve(id, resolution)).toMatchObject({ code: 'resolution-unaccounted' });
  // What was seen is an older text: the later one must not go with it.
  const early = await repo.resolve(id, { author: agent('r'), results, otherwise: transformed });
  expect(early).toMatchObject({ kind: 'rejected', code: 'resolution-stale' });
  expect(textOf(repo, 'f')).toContain('FIVE LATER');
  const both = [{ path: 'g', content: lines.replace('five', 'FIVE LATER fünf') }];
  expect((await repo.resolve(id, { ...resolution, results: both, otherwise: transformed })).kind).toBe('landed');
  expect(repo.snapshot().list().map(({ path }) => path)).toEqual(['g']); // prettier-ignore
  expect(repo.fsck().ok).toBe(true);
});

test('where both ends of a move changed, both are shown and both need a result', async () => {
  const { repo, id } = await movedAndEdited();
  await put(repo, 'g', 'taken\n');
  const view = repo.conflict(id);
  expect(view.paths.map(({ path }) => path)).toEqual(['g', 'f']);
  const one = {
    author: agent('r'),
    asOf: view.asOf,
    results: [{ path: 'g', content: 'taken\n' }],
    otherwise: transformed,
  };
  expect(await repo.resolve(id, one)).toMatchObject({ kind: 'rejected', paths: ['f'] });
  const both = { ...one, results: [...one.results, { path: 'f', content: lines.replace('five', 'FIVE fünf') }] };
  expect((await repo.resolve(id, both)).kind).toBe('landed');
  expect(textOf(repo, 'f')).toContain('FIVE fünf');
});

test('two edits that follow moves to one path are a conflict', async () => {
  const repo = await tempRepo();
  const [f, h] = [await put(repo, 'f', lines), await put(repo, 'h', lines)];
  const land = (...changes: NonNullable<Intent['changes']>): Promise<Outcome> =>
    repo.land({ author: agent('m'), message: 'm', changes });
  await land({ kind: 'move', path: 'f', to: 'g', expect: version(f) });
  await land({ kind: 'delete', path: 'g', expect: any });
  await land({ kind: 'move', path: 'h', to: 'g', expect: version(h) });
  const both = await land(
    { kind: 'put', path: 'f', content: lines.replace('one', 'ONE'), expect: version(f) },
    { kind: 'put', path: 'h', content: lines.replace('nine', 'NINE'), expect: version(h) },
  );
  expect(both.kind).toBe('conflicted');
});

test('a conflicted path that was moved away is shown, and resolved, where it went', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'f', lines);
  const v2 = await put(repo, 'f', lines.replace('one', 'ONE'), v1);
  const mine = await repo.put('f', lines.replace('one', 'eins'), { author: agent('x'), expect: version(v1) });
  const move = { kind: 'move', path: 'f', to: 'g', expect: version(v2) } as const;
  await repo.land({ author: agent('m'), message: 'm', changes: [move] });
  const id = mine.kind === 'conflicted' ? mine.conflict : '';
  const view = repo.conflict(id);
  expect(view.paths.map(({ path }) => path)).toEqual(['g']);
  const results = [{ path: 'g', content: lines.replace('one', 'ONE eins') }];
  const outcome = await repo.resolve(id, { author: agent('r'), asOf: view.asOf, results, otherwise: transformed });
  expect(outcome.kind).toBe('landed');
  expect(repo.snapshot().list().map(({ path }) => path)).toEqual(['g']); // prettier-ignore
});

test('a transaction that vanished is not acknowledged', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await put(repo, 'a', 'one\n');
  const { Store } = await import('../packages/vcs/src/store/store.ts');
  const lost = await Store.open(dir);
  onCleanup(() => lost.close());
  // The entry that was written is not there when it is read back.
  const { log } = lost.tables;
  const read = log.getBinary.bind(log);
  log.getBinary = (key) => (key.readUIntBE(0, 6) === 2 ? undefined : read(key));
  const write = (): void => lost.transact((counters) => lost.put('log', seqKey(++counters.lastSeq), Buffer.from('x')));
  expect(write).toThrow(/lost before it was told/);
});

test('what one side alone changed must be in the result too, or be accounted for', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'a', lines);
  await put(repo, 'a', lines.replace('one', 'ONE').replace('nine', 'NINE'), v1);
  const mine = await repo.put('a', lines.replace('one', 'eins').replace('five', 'fünf'), {
    author: agent('x'),
    expect: version(v1),
  });
  const id = mine.kind === 'conflicted' ? mine.conflict : '';
  const result = (text: string): { path: string; content: string }[] => [{ path: 'a', content: text }];
  const both = lines.replace('one', 'ONE\neins').replace('five', 'fünf').replace('nine', 'NINE');
  const author = agent('r');
  const lossy = await repo.resolve(id, { author, results: result(both.replace('NINE', 'nine')) });
  expect(lossy).toMatchObject({ code: 'resolution-unaccounted' });
  expect(lossy.kind === 'rejected' && lossy.message).toContain('current (1 lines from 9)');
  const other = await repo.resolve(id, { author, results: result(both.replace('fünf', 'five')) });
  expect(other).toMatchObject({ code: 'resolution-unaccounted' });
  expect((await repo.resolve(id, { author, results: result(both) })).kind).toBe('landed');
});

test.each([true, false])(
  'a failed creation takes back what it made, and nothing that another put there: %s',
  async (isShared) => {
    const parent = tempDir();
    const dir = join(parent, 'new', 'repo');
    const random = {
      bytes(count: number): Uint8Array {
        // The draft has its name by now; its identity is not to be had.
        if (count === 16) throw new Error('no randomness left');
        if (isShared) writeFileSync(join(dir, 'kept'), 'by another process');
        return new Uint8Array(count);
      },
    };
    await expect(initRepo(dir, { random })).rejects.toThrow('no randomness left');
    if (isShared) expect(readdirSync(dir)).toEqual(['kept']);
    else expect(readdirSync(parent)).toEqual([]);
  },
);

test('a resolution names every author of the side that it saw, not only of the one that was recorded', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'a', lines);
  const first = await repo.put('a', lines.replace('one', 'ONE'), { author: agent('first'), expect: version(v1) });
  const mine = await repo.put('a', lines.replace('one', 'eins'), { author: agent('mine'), expect: version(v1) });
  const later = { author: agent('later'), expect: version(seqOf(first)) };
  await repo.put('a', lines.replace('one', 'ONCE'), later);
  const id = mine.kind === 'conflicted' ? mine.conflict : '';
  const outcome = await repo.resolve(id, {
    author: agent('r'),
    asOf: repo.conflict(id).asOf,
    results: [{ path: 'a', content: lines.replace('one', 'ONCE\neins') }],
  });
  expect(repo.commit(seqOf(outcome)).coAuthors.map(({ name }) => name)).toEqual(['mine', 'later', 'first']);
});

test('a parked intent with an operation id that can no longer be prepared ends at the thaw', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'gone', 'x\n');
  await repo.freeze('a', { author: setup, reason: 'r' });
  const parked = await repo.land({
    author: agent('x'),
    message: 'm',
    operationId: 'op',
    changes: [
      { kind: 'put', path: 'a', content: 'x\n', expect: absent },
      { kind: 'chmod', path: 'gone', mode: 'executable', expect: any },
    ],
  });
  expect(parked.kind).toBe('parked');
  const gone = { kind: 'delete', path: 'gone', expect: version(v1) } as const;
  await repo.land({ author: setup, message: 'm', changes: [gone] });
  const thawed = await repo.thaw('a', { author: setup, reason: 'r' });
  expect(thawed.parked).toMatchObject([{ outcome: { kind: 'rejected', code: 'no-such-path' } }]);
  expect(repo.stats().parkedOpen).toBe(0);
});

test('a parked intent whose record went stale waits on while its own path is frozen', async () => {
  const repo = await tempRepo();
  const a = await put(repo, 'a', lines);
  await put(repo, 'b', lines);
  for (const path of ['a', 'b']) await repo.freeze(path, { author: setup, reason: 'split' });
  const intent = {
    author: agent('p'),
    message: 'm',
    changes: [{ kind: 'put', path: 'a', content: 'x\n', expect: version(a) }],
    records: [{ key: 'task/1', expect: absent, value: 'done' }],
  } as const;
  expect((await repo.land(intent)).kind).toBe('parked');
  const taken = { author: agent('q'), message: 'm', changes: [], records: intent.records } as const;
  expect((await repo.land(taken)).kind).toBe('landed');
  expect((await repo.thaw('b', { author: setup, reason: 'done' })).parked).toEqual([]);
  expect(repo.stats().parkedOpen).toBe(1);
  const { parked } = await repo.thaw('a', { author: setup, reason: 'done' });
  expect(parked.map(({ outcome }) => outcome)).toMatchObject([{ kind: 'rejected', code: 'record-stale' }]);
});
