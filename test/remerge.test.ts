import { absent, any, openRepo, version, type Change, type Intent, type Outcome, type Repo } from '@mound/vcs';
import { describe, expect, test, vi } from 'vitest';
import { indexFaults } from './kit/indexes.ts';
import { put, seqOf } from './kit/land.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const base = 'one\ntwo\nthree\nfour\n';
const with2 = (text: string): string => base.replace('two', text);
const textOf = (repo: Repo, path: string): string | undefined => repo.snapshot().readText(path);
const write = (path: string, content: string, seq: number): Change => ({ kind: 'put', path, content, expect: seq === 0 ? absent : version(seq) }); // prettier-ignore

/** f got `current` while z asked for `incoming`, with what else is given. */
async function conflicted(
  more: Partial<Intent> = {},
  dir = tempDir(),
): Promise<{ repo: Repo; id: string; v1: number }> {
  const repo = await tempRepo(dir);
  const v1 = await put(repo, 'f', base);
  await put(repo, 'f', with2('current'), v1);
  const changes = [write('f', with2('incoming'), v1), ...(more.changes ?? [])];
  const outcome = await repo.land({ author: agent('z'), message: 'z', task: 't', operationId: 'op', ...more, changes });
  return { repo, v1, id: outcome.kind === 'conflicted' ? outcome.conflict : '' };
}

const kinds = (repo: Repo, ...wanted: string[]): unknown[] =>
  [...repo.events()].filter(({ kind }) => wanted.includes(kind)).map((event) => event);

/** The landing of an equal side is told before its conflict ends. */
async function untilClosed(repo: Repo, id: string): Promise<void> {
  while (repo.conflict(id).state === 'open') await new Promise((resolve) => setImmediate(resolve));
}

describe('a conflict whose sides become identical ends by itself', () => {
  test('with nothing to land where its intent wanted nothing else', async () => {
    const { repo, id } = await conflicted();
    await repo.put('f', with2('incoming'), { author: setup, expect: any });
    const landed = repo.snapshot().seq;
    await untilClosed(repo, id);
    expect(repo.conflict(id)).toMatchObject({ state: 'resolved', ending: 'remerge', resolvedAt: landed + 1 });
    expect(repo.outcome('op')).toEqual({ kind: 'unchanged', seq: landed });
    const ended = { conflict: id, ending: 'remerge', agent: 'z', paths: ['f'], seq: landed + 1 };
    expect(kinds(repo, 'conflict.resolved')).toMatchObject([ended]);
    // That somebody else did it is told as well.
    expect(repo.stats()).toMatchObject({ conflictsOpen: 0, seq: landed + 2 });
    expect(repo.fsck().errors).toEqual([]);
  });

  test('and lands the rest of the kept intent, records too', async () => {
    const records = [{ key: 'task/t', expect: absent, value: 'done' }];
    const { repo, id } = await conflicted({ changes: [write('rest', 'rest\n', 0)], records });
    await repo.put('f', with2('incoming'), { author: setup, expect: any });
    await untilClosed(repo, id);
    expect(textOf(repo, 'rest')).toBe('rest\n');
    expect(repo.snapshot().record('task/t')?.value.toString()).toBe('done');
    const view = repo.commit(repo.conflict(id).resolvedAt ?? 0);
    expect(view).toMatchObject({ author: agent('z'), message: 'z', task: 't', changes: [{ path: 'rest' }] });
    expect(repo.outcome('op')).toEqual({ kind: 'landed', seq: view.seq, commit: view.commit });
    expect(repo.fsck().errors).toEqual([]);
  });

  test.each([
    ['another path would not merge', { changes: [write('g', 'mine\n', 0)] }, async (repo: Repo) => put(repo, 'g', 'not mine\n')],
    ['a record is stale', { records: [{ key: 'k', expect: absent, value: 'x' }] }, async (repo: Repo) => repo.land({ author: setup, message: 'm', records: [{ key: 'k', expect: absent, value: 'y' }] })],
  ] as const)('but stays open, whole, where %s', async (_name, more, meanwhile) => {
    const { repo, id } = await conflicted(more);
    await meanwhile(repo);
    await repo.put('f', with2('incoming'), { author: setup, expect: any });
    // Behind whatever the landing set going.
    for (const path of ['tick', 'tock']) await put(repo, path, 'x\n');
    const view = repo.conflict(id);
    expect(view).toMatchObject({ state: 'open', isMergeable: false });
    expect(repo.outcome('op')?.kind).toBe('conflicted');
  }); // prettier-ignore

  test('only once all of its paths are', async () => {
    const dir = tempDir();
    const repo = await tempRepo(dir);
    const [f, g] = [await put(repo, 'f', base), await put(repo, 'g', base)];
    await put(repo, 'f', with2('current'), f);
    await repo.land({ author: setup, message: 'm', changes: [{ kind: 'delete', path: 'g', expect: version(g) }] });
    const changes = [write('f', with2('incoming'), f), write('g', with2('incoming'), g)];
    const outcome = await repo.land({ author: agent('z'), message: 'z', changes });
    const id = outcome.kind === 'conflicted' ? outcome.conflict : '';
    await repo.put('f', with2('incoming'), { author: setup, expect: any });
    await put(repo, 'tick', 'x\n');
    expect(repo.conflict(id).state).toBe('open');
    await repo.put('g', with2('incoming'), { author: setup, expect: any });
    await untilClosed(repo, id);
    await repo.close();
    expect(await indexFaults(dir)).toEqual([]);
  });

  test('though whoever landed the same died before', async () => {
    const dir = tempDir();
    const { repo, id } = await conflicted({}, dir);
    const same = await conflictAgain(repo);
    // As a process does that is killed between its landing and what follows from it.
    const { Conflicts } = await import('../packages/vcs/src/views/conflicts.ts');
    const get = vi.spyOn(Conflicts.prototype, 'get').mockImplementation(() => {
      throw new Error('killed');
    });
    await repo.put('f', with2('incoming'), { author: setup, expect: any });
    await put(repo, 'tick', 'x\n');
    get.mockRestore();
    expect(repo.conflict(id).state).toBe('open');
    await repo.close();
    const again = await openRepo(dir);
    expect([id, same].map((one) => again.conflict(one).state)).toEqual(['resolved', 'resolved']);
    await again.close();
    expect(await indexFaults(dir)).toEqual([]);
  });
});

/** A second conflict with the same incoming side. */
async function conflictAgain(repo: Repo): Promise<string> {
  const outcome = await repo.put('f', with2('incoming'), { author: agent('y'), expect: version(1) });
  return outcome.kind === 'conflicted' ? outcome.conflict : '';
}

describe('a conflict whose sides merge by now', () => {
  test('is offered, and lands as it was asked on demand', async () => {
    const { repo, id } = await conflicted({ changes: [write('rest', 'rest\n', 0)] });
    expect(repo.conflict(id).isMergeable).toBe(false);
    expect(await repo.remerge(id)).toMatchObject({ kind: 'conflicted', conflict: id, paths: ['f'] });
    // What it clashed with was taken back, and something else came.
    await repo.put('f', base.replace('four', 'FOUR'), { author: setup, expect: any });
    const view = repo.conflict(id);
    expect(view).toMatchObject({ state: 'open', isMergeable: true, paths: [{ path: 'f', hunks: [] }] });
    const outcome = await repo.remerge(id);
    expect(outcome).toMatchObject({ kind: 'merged', merged: [{ path: 'f' }] });
    expect(textOf(repo, 'f')).toBe(with2('incoming').replace('four', 'FOUR'));
    expect(textOf(repo, 'rest')).toBe('rest\n');
    expect(repo.outcome('op')).toEqual(outcome);
    expect(repo.conflict(id)).toMatchObject({ state: 'resolved', ending: 'remerge', isMergeable: false });
    expect(await repo.remerge(id)).toMatchObject({ kind: 'rejected', code: 'no-such-conflict' });
    expect(repo.fsck().errors).toEqual([]);
  });

  test('stays where a path is frozen', async () => {
    const { repo, id } = await conflicted();
    await repo.put('f', base, { author: setup, expect: any });
    await repo.freeze('f', { author: setup, reason: 'split' });
    expect(repo.conflict(id).isMergeable).toBe(false);
    expect(await repo.remerge(id)).toMatchObject({ kind: 'rejected', code: 'frozen' });
    await repo.thaw('f', { author: setup, reason: 'done' });
    expect((await repo.remerge(id)).kind).toBe('landed');
  });
});

describe('an intent of the same agent that names the conflict takes its place', () => {
  const replace = (repo: Repo, id: string, content: string, seq: number, more: Partial<Intent> = {}): Promise<Outcome> =>
    repo.land({ author: agent('z'), message: 'again', replaces: id, changes: [write('f', content, seq)], ...more }); // prettier-ignore

  test('and ends it where it lands', async () => {
    const { repo, id } = await conflicted({ changes: [write('rest', 'rest\n', 0)] });
    const outcome = await replace(repo, id, with2('both'), repo.snapshot().seq, { operationId: 'op-2' });
    expect(outcome.kind).toBe('landed');
    expect(repo.conflict(id)).toMatchObject({ state: 'resolved', ending: 'replacement', resolvedAt: seqOf(outcome) });
    expect([repo.outcome('op'), repo.outcome('op-2')]).toEqual([outcome, outcome]);
    // It stands in for all of the kept intent.
    expect(textOf(repo, 'rest')).toBeUndefined();
    expect(kinds(repo, 'conflict.resolved')).toMatchObject([{ conflict: id, ending: 'replacement' }]);
    expect(repo.fsck().errors).toEqual([]);
  });

  test('in conflict again, it is the conflict', async () => {
    const { repo, id, v1 } = await conflicted();
    const intent = { operationId: 'op-2' };
    const outcome = await replace(repo, id, with2('another'), v1, intent);
    const next = outcome.kind === 'conflicted' ? outcome.conflict : '';
    expect(repo.conflict(id)).toMatchObject({ state: 'replaced', replacedBy: next });
    expect(repo.conflicts().map((view) => [view.id, view.paths[0]?.incoming.content?.toString()])).toEqual([
      [next, with2('another')],
    ]);
    expect(repo.outcome('op')).toEqual(outcome);
    expect(await replace(repo, id, with2('another'), v1, intent)).toEqual(outcome);
    expect(await replace(repo, id, with2('third'), v1)).toMatchObject({ code: 'no-such-conflict' });
    expect(kinds(repo, 'conflict.replaced')).toMatchObject([{ conflict: id, by: next, agent: 'z' }]);
    const results = [{ path: 'f', content: with2('current\nanother') }];
    expect((await repo.resolve(next, { author: agent('m'), results })).kind).toBe('landed');
    expect(repo.stats().conflictsOpen).toBe(0);
    expect(repo.fsck().errors).toEqual([]);
  });

  test('parked, it waits in its place; unchanged, it ends it', async () => {
    const { repo, id } = await conflicted();
    await repo.freeze('f', { author: setup, reason: 'split' });
    const parked = await replace(repo, id, with2('both'), repo.snapshot().seq);
    expect(parked.kind).toBe('parked');
    expect(repo.conflict(id)).toMatchObject({
      state: 'replaced',
      replacedBy: parked.kind === 'parked' && parked.parked,
    });
    expect((await repo.thaw('f', { author: setup, reason: 'done' })).parked).toMatchObject([{ outcome: { kind: 'landed' } }]); // prettier-ignore
    expect(repo.outcome('op')?.kind).toBe('landed');
    const other = await conflicted();
    const operationId = 'op-same';
    const same = (): Promise<Outcome> => replace(other.repo, other.id, with2('current'), 2, { operationId });
    const unchanged = await same();
    expect(unchanged).toEqual({ kind: 'unchanged', seq: 2 });
    expect(other.repo.conflict(other.id)).toMatchObject({ state: 'resolved', ending: 'replacement' });
    expect([await same(), other.repo.outcome(operationId), other.repo.outcome('op')]).toEqual([unchanged, unchanged, unchanged]); // prettier-ignore
    expect([...repo.fsck().errors, ...other.repo.fsck().errors]).toEqual([]);
  });

  test('another agent, another branch, no such conflict: refused, and it stays open', async () => {
    const { repo, id, v1 } = await conflicted();
    await repo.fork('side');
    const foreign = { kind: 'rejected', code: 'conflict-foreign' };
    expect(await replace(repo, id, base, v1, { author: agent('y') })).toMatchObject(foreign);
    expect(await replace(repo, id, base, v1, { branch: 'side' })).toMatchObject(foreign);
    expect(await replace(repo, 'c99', base, v1)).toMatchObject({ kind: 'rejected', code: 'no-such-conflict' });
    expect(await replace(repo, 'x', base, v1)).toMatchObject({ kind: 'rejected', code: 'invalid-intent' });
    expect(await replace(repo, id, base, v1, { onStale: 'reject' })).toMatchObject({ code: 'stale' });
    expect(repo.conflict(id).state).toBe('open');
  });
});

describe('a kept path that does not fit the tree any more', () => {
  const otherwise = { fate: 'transformed' } as const;
  async function clashing(path: string, taken: string): Promise<{ repo: Repo; id: string }> {
    const { repo, id } = await conflicted({ changes: [write(path, 'kept\n', 0)] });
    await put(repo, taken, 'taken\n');
    return { repo, id };
  }

  test.each([
    ['a', 'a/b', 'file/directory'],
    ['a/b', 'a', 'file/directory'],
    ['readme', 'README', 'path-collision'],
  ])('%s beside %s is shown, and given up with an account or set elsewhere', async (path, taken, reason) => {
    for (const at of [undefined, 'elsewhere']) {
      const { repo, id } = await clashing(path, taken);
      const view = repo.conflict(id);
      expect(view.paths.map((row) => [row.path, row.reason])).toEqual([
        ['f', 'content'],
        [path, reason],
      ]);
      const results = [
        { path: 'f', content: with2('current\nincoming') },
        at === undefined ? { path, content: null } : { path, content: 'kept\n', at },
      ];
      const resolution = { author: agent('z'), asOf: view.asOf, results };
      if (at === undefined) expect(await repo.resolve(id, resolution)).toMatchObject({ code: 'resolution-unaccounted', message: `no account of ${path} hunk 0 incoming (all of it)` }); // prettier-ignore
      const outcome = await repo.resolve(id, at === undefined ? { ...resolution, otherwise } : resolution);
      expect(outcome.kind).toBe('landed');
      expect(repo.snapshot().list().map((head) => head.path as string)).toEqual(['f', taken, ...(at === undefined ? [] : [at])].toSorted()); // prettier-ignore
      expect(repo.conflicts()).toEqual([]);
    }
  });

  test('a result may not stand where the rest of the intent does', async () => {
    const { repo, id } = await conflicted({ changes: [write('rest', 'rest\n', 0)] });
    const results = [{ path: 'f', content: with2('current\nincoming'), at: 'rest' }];
    expect(await repo.resolve(id, { author: agent('m'), results })).toMatchObject({ code: 'invalid-intent' });
  });
});
