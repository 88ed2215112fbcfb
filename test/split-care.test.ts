import { join } from 'node:path';
import { any, openRepo, version, type Outcome, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { onCleanup, agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const secret = 'AKIA-9f8e7d6c5b4a-not-for-anyone';
const big = Array.from({ length: 60 }, (_, i) => `line ${i}\n`);
const at = (edits: Readonly<Record<number, string>>): string =>
  big.map((line, i) => (edits[i] === undefined ? line : `${edits[i]}\n`)).join('');
const owner = agent('decomposer');
const halves = (header = '// one'): Parameters<Repo['split']>[1] => ({
  author: owner,
  modules: [
    { path: 'big/one.ts', content: `${header}\n${big.slice(0, 30).join('')}` },
    { path: 'big/two.ts', content: `// two\n${big.slice(30).join('')}` },
  ],
  remains: null,
});
const act = { author: setup, reason: 'large' };
const leak = { author: setup, reason: 'leaked', containing: Buffer.from(secret) };
const idOf = (outcome: Outcome): string => (outcome.kind === 'conflicted' ? outcome.conflict : '');

test('after a purge of the file as it was, an edit of it is a conflict, and one of a later version goes to its module', async () => {
  const repo = await tempRepo();
  await repo.put('big.ts', at({ 10: secret }), { author: setup });
  await repo.put('big.ts', big.join(''), { author: setup, expect: version(1) });
  await repo.split('big.ts', halves());
  const redirects = repo.redirects('big.ts');
  await repo.purge(leak);
  expect(repo.redirects('big.ts')).toEqual(redirects);
  const clean = await repo.put('big.ts', at({ 40: 'forty' }), { author: agent('a'), expect: version(2) });
  expect(clean).toMatchObject({ kind: 'merged', merged: [{ path: 'big/two.ts' }] });
  const before = repo.snapshot().list();
  const stale = await repo.put('big.ts', at({ 3: 'three' }), { author: agent('b'), expect: version(1) });
  expect(stale.kind).toBe('conflicted');
  expect(repo.snapshot().list()).toEqual(before);
  const [row, ...others] = repo.conflict(idOf(stale)).paths;
  expect([row?.path, row?.incoming.content?.toString(), others]).toEqual(['big.ts', at({ 3: 'three' }), []]);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('after a purge of a module nothing is added to what is gone', async () => {
  const repo = await tempRepo();
  await repo.put('big.ts', big.join(''), { author: setup });
  await repo.split('big.ts', halves(`// ${secret}`));
  await repo.purge(leak);
  const text = big.toSpliced(3, 0, 'more\n').join('');
  const outcome = await repo.put('big.ts', text, { author: agent('a'), expect: version(1) });
  expect(outcome.kind).toBe('conflicted');
  expect(repo.conflict(idOf(outcome)).paths.map(({ path, reason }) => [path, reason])).toEqual([['big.ts', 'split']]);
  expect(() => repo.snapshot().readText('big/one.ts')).toThrow(expect.objectContaining({ code: 'purged' }));
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('a parked intent that a purge took from becomes a conflict, and those beside it go to the modules', async () => {
  const repo = await tempRepo();
  await repo.put('big.ts', big.join(''), { author: setup });
  await repo.put('other', 'other\n', { author: setup });
  await repo.freeze('big.ts', { ...act, owner: 'decomposer' });
  await repo.freeze('other', act);
  const edit = (name: string, path: string, content: string): Promise<Outcome> =>
    repo.put(path, content, { author: agent(name), expect: version(2), operationId: name });
  await edit('leaky', 'big.ts', at({ 3: secret }));
  await edit('clean', 'big.ts', at({ 40: 'forty' }));
  await edit('alone', 'other', `${secret}\n`);
  await repo.purge(leak);
  await repo.split('big.ts', halves());
  await repo.thaw('other', act);
  expect(repo.outcome('clean')).toMatchObject({ kind: 'merged', merged: [{ path: 'big/two.ts' }] });
  for (const name of ['leaky', 'alone']) {
    const now = repo.outcome(name);
    expect(now?.kind).toBe('conflicted');
    expect(repo.conflict(now === undefined ? '' : idOf(now)).paths).toMatchObject([{ kind: 'purged' }]);
  }
  expect(repo.snapshot().readText('other')).toBe('other\n');
  expect(repo.snapshot().readText('big/one.ts')).not.toContain('purged');
  expect(repo.stats().parkedOpen).toBe(0);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('what a purge took from a kept intent beside its conflict has to be given anew', async () => {
  const repo = await tempRepo();
  await repo.put('a', 'a\n', { author: setup });
  await repo.put('a', 'b\n', { author: setup, expect: any });
  const kept = await repo.land({
    author: agent('x'),
    message: 'm',
    changes: [
      { kind: 'put', path: 'a', content: 'c\n', expect: version(1) },
      { kind: 'put', path: 'new', content: `${secret}\n`, expect: { kind: 'absent' } },
    ],
  });
  const id = idOf(kept);
  expect(repo.conflict(id).paths.map(({ path }) => path)).toEqual(['a']);
  await repo.purge(leak);
  expect(repo.conflict(id).paths.map(({ path }) => path)).toEqual(['a', 'new']);
  await repo.put('a', 'a\n', { author: setup, expect: any });
  expect(repo.conflict(id).isMergeable).toBe(false);
  expect(await repo.remerge(id)).toMatchObject({ kind: 'conflicted', conflict: id });
  const { asOf } = repo.conflict(id);
  const results = [
    { path: 'a', content: 'c\n' },
    { path: 'new', content: 'clean\n' },
  ];
  const outcome = await repo.resolve(id, { author: setup, asOf, results, otherwise: { fate: 'transformed' } });
  expect(outcome.kind).toBe('landed');
  expect(repo.snapshot().readText('new')).toBe('clean\n');
});

test('a backup holds freezes, parked intents and redirects, and both go their own way from there', async () => {
  const dir = tempDir();
  const repo = await tempRepo(join(dir, 'r'));
  await repo.put('big.ts', big.join(''), { author: setup });
  await repo.put('old.ts', big.join(''), { author: setup });
  await repo.split('old.ts', {
    author: owner,
    modules: [{ path: 'old/two.ts', content: big.slice(30).join('') }],
    remains: big.slice(0, 30).join(''),
  });
  await repo.freeze('big.ts', { ...act, owner: 'decomposer' });
  const parked = { author: agent('a'), expect: version(1), operationId: 'parked' };
  await repo.put('big.ts', at({ 40: 'forty' }), parked);
  await repo.backup(join(dir, 'b'));
  const copy = await openRepo(join(dir, 'b'));
  onCleanup(() => copy.close());
  expect(copy.redirects('old.ts')).toEqual(repo.redirects('old.ts'));
  expect(copy.freezes()).toEqual(repo.freezes());
  expect(copy.stats().parkedOpen).toBe(1);
  expect((await copy.split('big.ts', halves())).outcome.kind).toBe('landed');
  expect(copy.outcome('parked')).toMatchObject({ kind: 'merged', merged: [{ path: 'big/two.ts' }] });
  const stale = { author: agent('b'), expect: version(2) };
  expect(await copy.put('old.ts', at({ 50: 'fifty' }), stale)).toMatchObject({ merged: [{ path: 'old/two.ts' }] });
  expect(copy.fsck()).toMatchObject({ ok: true, errors: [] });
  expect(repo.outcome('parked')?.kind).toBe('parked');
  await repo.thaw('big.ts', act);
  expect(repo.outcome('parked')?.kind).toBe('landed');
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});
