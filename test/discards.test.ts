import { version, type HunkAccount, type Repo, type RepoEvent, type Resolution } from '@mound/vcs';
import { expect, test } from 'vitest';
import { put, seqOf } from './kit/land.ts';
import { agent, setup, tempRepo } from './kit/temp.ts';

const base = 'one\ntwo\nthree\nfour\nfive\n';
const merger = agent('merger');

/** One line set by x and then by y, and by z from the base. */
async function conflicted(): Promise<{ repo: Repo; id: string; incoming: number }> {
  const repo = await tempRepo();
  const v1 = await put(repo, 'f', base);
  await put(repo, 'other', 'mine two\nmore\n');
  const change = (text: string, expect_: number): object => ({
    changes: [{ kind: 'put', path: 'f', content: text, expect: version(expect_) }],
  });
  const land = async (name: string, text: string, expect_: number): Promise<number> => {
    const intent = { author: agent(name), message: name, task: `task-${name}`, ...change(text, expect_) };
    return seqOf(await repo.land(intent));
  };
  const v2 = await land('x', base.replace('two', 'x two').replace('five', 'x five'), v1);
  await land('y', base.replace('two', 'x two\ny two').replace('five', 'x five'), v2);
  const incoming = await land('z', base.replace('two', 'mine two').replace('five', 'z five'), v1);
  return { repo, id: `c${incoming}`, incoming };
}

const result = (text: string): Resolution['results'] => [{ path: 'f', content: text }];
const ofHunk = (hunk: number, side: 'current' | 'incoming', more: Omit<HunkAccount, 'path' | 'side' | 'hunk'>): HunkAccount => ({ path: 'f', side, hunk, ...more }); // prettier-ignore
const discarded = (repo: Repo): (RepoEvent & { kind: 'hunk.discarded' })[] =>
  [...repo.events()].flatMap((event) => (event.kind === 'hunk.discarded' ? [event] : []));

/** x's second hunk and y's line go; z's stand. */
const taken = base.replace('two', 'mine two').replace('five', 'z five');

test("an agent cites what a discard of another's hunk rests on, and its authors are told", async () => {
  const { repo, id, incoming } = await conflicted();
  const results = result(taken);
  const otherwise = { fate: 'discarded', reason: 'z is right' } as const;
  const bare = await repo.resolve(id, { author: merger, results, otherwise });
  expect(bare).toMatchObject({ kind: 'rejected', code: 'resolution-unaccounted', paths: ['f'] });
  expect(bare.kind === 'rejected' && bare.message).toContain('f hunk 0 current (it is another');
  const check = { kind: 'check', command: 'npm test', finding: 'expected mine two' } as const;
  const accounts = [
    ofHunk(0, 'current', { fate: 'discarded', because: check }),
    ofHunk(1, 'current', { fate: 'discarded', reason: 'settled', because: { kind: 'decision', id: 'D-3' } }),
  ];
  const outcome = await repo.resolve(id, { author: merger, results, accounts });
  expect(outcome.kind).toBe('landed');
  expect(discarded(repo)).toMatchObject([
    {
      seq: seqOf(outcome),
      agent: 'merger',
      conflict: `c${incoming}`,
      path: 'f',
      side: 'current',
      hunk: 0,
      because: check,
      wroteBy: [
        { agent: 'y', task: 'task-y', seq: 4 },
        { agent: 'x', task: 'task-x', seq: 3 },
      ],
    },
    // y never touched the last line.
    { hunk: 1, reason: 'settled', because: { kind: 'decision', id: 'D-3' }, wroteBy: [{ agent: 'x', seq: 3 }] },
  ]);
  expect(repo.stats().hunks).toEqual({ kept: 2, transformed: 0, discarded: 2 });
  expect(repo.conflict(id).accounts).toHaveLength(4);
  expect(repo.commit(seqOf(outcome)).coAuthors.map(({ name }) => name)).toEqual(['z', 'y', 'x']);
  expect(repo.fsck().errors).toEqual([]);
});

test('every agent that wrote a side is named, when the conflict opens and in its view', async () => {
  const { repo, id } = await conflicted();
  const opened = [...repo.events()].find(({ kind }) => kind === 'conflict.opened');
  const met = [
    { author: 'y', authorKind: 'agent', agent: 'y', task: 'task-y', seq: 4 },
    { author: 'x', authorKind: 'agent', agent: 'x', task: 'task-x', seq: 3 },
  ];
  expect(opened).toMatchObject({ agent: 'z', task: 'task-z', met });
  expect(repo.conflict(id).paths[0]?.currentBy).toEqual(met);
});

test('its own work an agent may discard for a reason, and a person any', async () => {
  const lost = result(base.replace('two', 'x two\ny two').replace('five', 'x five'));
  const otherwise = { fate: 'discarded', reason: 'x and y are right' } as const;
  for (const author of [agent('z'), { name: 'eve', kind: 'human' } as const]) {
    const { repo, id } = await conflicted();
    expect((await repo.resolve(id, { author, results: lost, otherwise })).kind).toBe('landed');
    expect(discarded(repo).map(({ side, wroteBy }) => [side, wroteBy[0]?.agent])).toEqual([
      ['incoming', 'z'],
      ['incoming', 'z'],
    ]);
  }
  const { repo, id } = await conflicted();
  expect(await repo.resolve(id, { author: agent('x'), results: lost, otherwise })).toMatchObject({
    code: 'resolution-unaccounted',
  });
});

test('that the same stands elsewhere is looked up', async () => {
  const { repo, id } = await conflicted();
  const results = result(base.replace('two', 'x two\ny two').replace('five', 'x five\nz five'));
  const resolution = (path: string): Resolution => ({
    author: merger,
    results,
    accounts: [ofHunk(0, 'incoming', { fate: 'discarded', because: { kind: 'identical', path } })],
  });
  for (const path of ['f', 'nowhere']) {
    const refused = await repo.resolve(id, resolution(path));
    expect(refused.kind === 'rejected' && refused.message).toContain(`is not what stands in ${path}`);
  }
  expect((await repo.resolve(id, resolution('other'))).kind).toBe('landed');
});

test.each([
  ['no such fate', [ofHunk(0, 'incoming', { fate: 'gone' as 'kept' })], 'invalid-intent'],
  ['a cause of no kind', [ofHunk(0, 'incoming', { fate: 'discarded', because: { kind: 'x' } as never })], 'invalid-intent'], // prettier-ignore
  ['a finding that is no text', [ofHunk(0, 'incoming', { fate: 'discarded', because: { kind: 'check', command: 'x', finding: 1 } as never })], 'invalid-intent'], // prettier-ignore
  ['an empty decision', [ofHunk(0, 'incoming', { fate: 'discarded', because: { kind: 'decision', id: ' ' } })], 'resolution-unaccounted'], // prettier-ignore
  ['a hunk that is not there', [ofHunk(9, 'incoming', { fate: 'transformed' })], 'invalid-intent'],
])('an account with %s is refused and the conflict stays open', async (_name, accounts, code) => {
  const { repo, id } = await conflicted();
  const fine = { author: merger, results: result(taken), otherwise: { fate: 'transformed' } as const };
  expect(await repo.resolve(id, { ...fine, accounts })).toMatchObject({ kind: 'rejected', code });
  expect(repo.conflict(id).state).toBe('open');
  expect((await repo.resolve(id, fine)).kind).toBe('landed');
});

test('a resolution under the operation id of another one is an error, the same one is answered again', async () => {
  const { repo, id } = await conflicted();
  const otherwise = { fate: 'transformed' } as const;
  const resolution = { author: merger, operationId: 'op', results: result(taken), otherwise };
  const first = await repo.resolve(id, resolution);
  expect(first.kind).toBe('landed');
  expect(await repo.resolve(id, resolution)).toEqual(first);
  const other = repo.resolve(id, { ...resolution, results: result(`${taken}more\n`) });
  await expect(other).rejects.toMatchObject({ code: 'operation-mismatch' });
  await put(repo, 'later', 'x\n');
  await repo.land({ author: setup, message: 'm', changes: [{ kind: 'delete', path: 'f', expect: version(repo.stats().seq) }] }); // prettier-ignore
  expect(await repo.resolve(id, resolution)).toEqual(first);
});

test('modes and line ends stand beside the contents of each side', async () => {
  const repo = await tempRepo();
  const v1 = await put(repo, 'f', 'a\r\nb\r\n');
  await put(repo, 'f', 'a\r\nx', v1);
  const change = { kind: 'put', path: 'f', content: 'a\nb\r\ny\n', mode: 'executable', expect: version(v1) } as const;
  const outcome = await repo.land({ author: agent('z'), message: 'm', changes: [change] });
  const [path] = repo.conflict(outcome.kind === 'conflicted' ? outcome.conflict : '').paths;
  expect(path?.base).toMatchObject({ mode: 'file', lineEnd: 'crlf', isLastLineEnded: true });
  expect(path?.current).toMatchObject({ mode: 'file', lineEnd: 'crlf', isLastLineEnded: false });
  expect(path?.incoming).toMatchObject({ mode: 'executable', lineEnd: 'mixed', isLastLineEnded: true });
});
