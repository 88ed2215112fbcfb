import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { absent, any, openRepo, ruleRecord, seededRandom, steppingClock, version, type Repo } from '@mound/vcs';
import { open, type Database } from 'lmdb';
import { expect, test } from 'vitest';
import { projectDir } from './kit/process.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

/** Every table's rows, keys and values in hex. */
type Tables = Record<string, [key: string, value: string][]>;

const newest = 2;
const goldenOf = (format: number): string => join(projectDir, `test/golden/format-${format}.json`);
const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
const environment = (dir: string): ReturnType<typeof open<Buffer, Buffer>> =>
  open<Buffer, Buffer>({
    path: join(dir, '.mound/store'),
    noSubdir: false,
    encoding: 'binary',
    maxDbs: 64,
    overlappingSync: false,
  });

/** One entry of each kind, with a delta, a move, a merge, a conflict and its resolution, a parked intent, records; a wide landing. */
async function scenario(dir: string): Promise<void> {
  const ports = { clock: steppingClock(1_700_000_000_000, 1000), random: seededRandom(7) };
  const repo = await openRepo(dir, { create: true, ...ports });
  const text = Array.from({ length: 30 }, (_, i) => `line ${i}\n`);
  await repo.put('a.txt', text.join(''), { author: setup, message: 'whole' });
  await repo.put('a.txt', text.with(3, 'three\n').join(''), {
    author: agent('x'),
    expect: version(1),
    operationId: 'op-1',
  });
  await repo.put('a.txt', text.with(20, 'twenty\n').join(''), { author: agent('y'), expect: version(1) });
  const conflict = await repo.put('a.txt', text.with(3, 'drei\n').join(''), { author: agent('z'), expect: version(1) });
  await repo.resolve(conflict.kind === 'conflicted' ? conflict.conflict : '', {
    author: { name: 'm', kind: 'agent', role: 'merger', model: 'scripted' },
    results: [{ path: 'a.txt', content: text.with(3, 'three drei\n').join('') }],
    accounts: [{ path: 'a.txt', side: 'current', hunk: 0, fate: 'transformed' }],
    otherwise: { fate: 'discarded', reason: 'settled', because: { kind: 'decision', id: 'D-1' } },
  });
  const moved = await repo.land({
    author: setup,
    message: 'move',
    rationale: 'why',
    task: 't-1',
    changes: [{ kind: 'move', path: 'a.txt', to: 'b/ä.txt', expect: any }],
    reads: [{ path: 'a.txt', version: 1 }],
    records: [{ key: 'task/1', expect: absent, value: 'done' }],
  });
  expect(moved.kind).toBe('landed');
  await repo.flag('b/ä.txt', { author: agent('x'), reason: 'large' });
  await repo.freeze('b/ä.txt', { author: setup, reason: 'split' });
  await repo.put('b/ä.txt', 'parked\n', { author: agent('p'), expect: any });
  await repo.thaw('b/ä.txt', { author: setup, reason: 'done' });
  await repo.fork('side', { at: 3 });
  await repo.tag('v1', 5);
  await repo.put('large.bin', Buffer.alloc(20_000, 'ab\0cd'), { author: setup, mode: 'executable', branch: 'side' });
  const rule = { kind: 'references', paths: ['*'], bad: 'flag' } as const;
  await repo.land({ author: setup, message: 'rule', records: [ruleRecord('references', rule, absent)] });
  await repo.land({
    author: setup,
    message: 'cite',
    breakage: 'D-9 comes next',
    changes: [{ kind: 'put', path: 'cites.ts', content: '// @decision D-9@00000000\n', expect: absent }],
  });
  await splitAndClose(repo);
  const wide = Array.from({ length: 20 }, (_, at) => {
    const content = Buffer.from(ports.random.bytes(850 + at));
    return { kind: 'put', path: `wide/${at}.bin`, content, expect: absent } as const;
  });
  await repo.land({ author: setup, message: 'wide', branch: 'side', changes: wide });
  await repo.close();
}

/** A conflict that closes itself, the same asked for twice, a split and a freeze that ends. */
async function splitAndClose(repo: Repo): Promise<void> {
  await repo.put('c.txt', 'base\n', { author: setup });
  const base = version(repo.snapshot().seq);
  await repo.put('c.txt', 'one\n', { author: agent('x'), expect: base });
  await repo.put('c.txt', 'one\n', { author: agent('y'), expect: base });
  const kept = await repo.put('c.txt', 'two\n', { author: agent('z'), expect: base });
  await repo.put('c.txt', 'two\n', { author: agent('x'), expect: any });
  const conflict = kept.kind === 'conflicted' ? kept.conflict : '';
  await expect.poll(() => repo.conflict(conflict).state).toBe('resolved');
  await repo.put('d.txt', 'one\ntwo\nthree\n', { author: setup });
  await repo.split('d.txt', {
    author: setup,
    modules: [{ path: 'd/two.txt', content: 'two\nthree\n' }],
    remains: 'one\n',
  });
  await repo.freeze('d.txt', { author: setup, reason: 'large', owner: 'x', ms: 60_000 });
}

async function readTables(dir: string): Promise<Tables> {
  const root = environment(dir);
  try {
    const names = [...root.getKeys({})].map((key) => key.toString('utf8').replaceAll('\0', ''));
    return Object.fromEntries(
      names.map((name) => {
        const table: Database<Buffer, Buffer> = root.openDB({ name, ...binary });
        const rows = [...table.getRange({})].map(({ key, value }): [string, string] => [
          key.toString('hex'),
          Buffer.from(value).toString('hex'),
        ]);
        return [name, rows];
      }),
    );
  } finally {
    await root.close();
  }
}

test(`the bytes of format ${newest} are what they were`, async () => {
  const dir = tempDir();
  await scenario(dir);
  const tables = await readTables(dir);
  expect(Object.keys(tables).length).toBeGreaterThan(15);
  if (process.env['MOUND_WRITE_GOLDEN'] !== undefined)
    writeFileSync(goldenOf(newest), `${JSON.stringify(tables, null, 1)}\n`);
  const golden = JSON.parse(readFileSync(goldenOf(newest), 'utf8')) as Tables;
  // Other bytes mean a new format version: a new golden file beside this one, and a line in version.ts.
  expect(tables).toEqual(golden);
});

test.each([1, 2])('a store of format %i is still read', async (format) => {
  const dir = tempDir();
  mkdirSync(join(dir, '.mound/store'), { recursive: true });
  const root = environment(dir);
  for (const [name, rows] of Object.entries(JSON.parse(readFileSync(goldenOf(format), 'utf8')) as Tables)) {
    const table: Database<Buffer, Buffer> = root.openDB({ name, ...binary });
    root.transactionSync(() => {
      for (const [key, value] of rows) table.putSync(Buffer.from(key, 'hex'), Buffer.from(value, 'hex'));
    });
  }
  await root.close();
  const repo = await tempRepo(dir);
  expect(repo.fsck()).toMatchObject({ errors: [], ok: true });
  expect(
    repo
      .snapshot()
      .list()
      .map(({ path }) => path),
  ).toEqual(['b/ä.txt', 'c.txt', 'cites.ts', 'd.txt', 'd/two.txt']);
  expect(repo.snapshot().readText('b/ä.txt')).toBe('parked\n');
  expect(repo.snapshot(6).readText('b/ä.txt')).toContain('three drei\n');
  expect(repo.snapshot(undefined, 'side').read('large.bin')).toHaveLength(20_000);
  expect(repo.references({ decision: 'D-9' })).toMatchObject([{ path: 'cites.ts', line: 1, standing: 'missing' }]);
  expect(repo.outcome('op-1')).toMatchObject({ kind: 'landed', seq: 2 });
  expect(repo.redirects('d.txt')).toMatchObject([{ modules: ['d.txt', 'd/two.txt'] }]);
  // It was over long ago.
  expect(repo.freezes()).toEqual([]);
  const kinds = [...repo.events()].map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(['file.piled-on', 'file.split', 'conflict.resolved', 'file.thawed']));
  expect(new Set(kinds).size).toBeGreaterThan(15);
  const { state, paths } = repo.conflict('c4');
  expect(state).toBe('resolved');
  expect(paths.map(({ incoming }) => incoming.content?.toString().split('\n')[3])).toEqual(['drei']);
  // Written to, it is of the newest format: an older Mound must not take it for its own.
  await repo.put('new.txt', 'new', { author: setup });
  expect(repo.formatVersion).toBe(newest);
  await repo.close();
  expect((await tempRepo(dir)).formatVersion).toBe(newest);
});

test('a newer format is refused and left as it is', async () => {
  const dir = tempDir();
  await (await openRepo(dir, { create: true })).close();
  const root = environment(dir);
  const meta: Database<Buffer, Buffer> = root.openDB({ name: 'meta', ...binary });
  // ['mound', 99, 'x'] in MessagePack.
  const newer = Buffer.from('93a56d6f756e6463a178', 'hex');
  await meta.put(Buffer.from('format'), newer);
  await root.close();
  await expect(openRepo(dir)).rejects.toMatchObject({ code: 'format-newer', fields: { found: 99, supported: newest } });
  await expect(openRepo(dir, { create: true })).rejects.toMatchObject({ code: 'format-newer' });
});
