import { join } from 'node:path';
import { absent, openRepo, version, type Repo } from '@mound/vcs';
import { open, type Database } from 'lmdb';
import { expect, test } from 'vitest';
import { encodeHold } from '../packages/vcs/src/format/hold.ts';
import { headKey } from '../packages/vcs/src/format/keys.ts';
import { decodeCounters, encodeCounters } from '../packages/vcs/src/store/counters.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

/** 50,000 lines, more than is merged under the writer mutex. */
const megafile = Array.from({ length: 50_000 }, (_, i) => `line ${i} of a very large file\n`);
const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;

const seqOf = async (repo: Repo, path: string, text: string): Promise<number> => {
  const outcome = await repo.put(path, text, { author: setup, expect: absent });
  return 'seq' in outcome ? outcome.seq : 0;
};

type Root = ReturnType<typeof open<Buffer, Buffer>>;

async function inStore<T>(
  dir: string,
  use: (root: Root, tableOf: (name: string) => Database<Buffer, Buffer>) => T,
): Promise<T> {
  const path = join(dir, '.mound/store');
  const root = open<Buffer, Buffer>({ path, noSubdir: false, encoding: 'binary', maxDbs: 64 });
  try {
    return use(root, (name) => root.openDB<Buffer, Buffer>({ name, ...binary }));
  } finally {
    await root.close();
  }
}

const holdsOf = (dir: string): Promise<Buffer[]> => inStore(dir, (_root, tableOf) => [...tableOf('holds').getKeys({})]);

/** As a process leaves it that dies between taking a hold on the first path and landing its merge. */
const leaveHold = (dir: string, until: number): Promise<void> =>
  inStore(dir, (root, tableOf) => {
    const [holds, meta] = [tableOf('holds'), tableOf('meta')];
    const key = Buffer.from('counters');
    root.transactionSync(() => {
      const counters = decodeCounters(meta.getBinary(key) ?? Buffer.alloc(0));
      holds.putSync(headKey(0, 1), encodeHold({ token: 'gone', until }));
      meta.putSync(key, encodeCounters({ ...counters, holds: 1 }));
    });
  });

test('two processes with many agents on one megafile: every edit lands, no hold is left', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const base = await seqOf(repo, 'big.txt', megafile.join(''));
  const other = await openRepo(dir);
  const edit = (i: number): string => megafile.with(i * 1000 + 3, `edit ${i}\n`).join('');
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      (i % 2 === 0 ? repo : other).put('big.txt', edit(i), { author: agent(`a${i}`), expect: version(base) }),
    ),
  );
  expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['landed', ...Array<string>(11).fill('merged')]);
  const text = repo.snapshot().readText('big.txt') ?? '';
  for (let i = 0; i < 12; i++) expect(text).toContain(`\nedit ${i}\n`);
  await other.close();
  await repo.close();
  expect(await holdsOf(dir)).toEqual([]);
});

test('a path that is held for another merge waits until the hold is over; other paths do not', async () => {
  const dir = tempDir();
  let repo = await tempRepo(dir);
  const a = await seqOf(repo, 'a', 'one\n');
  const b = await seqOf(repo, 'b', 'one\n');
  await repo.close();
  const until = Date.now() + 1500;
  await leaveHold(dir, until);
  repo = await openRepo(dir);
  const onA = repo
    .put('a', 'two\n', { author: setup, expect: version(a) })
    .then((outcome) => [outcome.kind, Date.now()]);
  expect((await repo.put('b', 'two\n', { author: setup, expect: version(b) })).kind).toBe('landed');
  expect(Date.now()).toBeLessThan(until);
  const [kind, at] = await onA;
  expect(kind).toBe('landed');
  expect(at).toBeGreaterThanOrEqual(until);
  await repo.close();
  expect(await holdsOf(dir)).toEqual([]);
});

test('how long intents waited is counted', async () => {
  const repo = await tempRepo();
  expect(repo.waits()).toEqual({ count: 0, stale: 0, msP50: 0, msP99: 0, msP999: 0, msMax: 0 });
  await Promise.all(Array.from({ length: 50 }, (_, i) => repo.put(`f${i}`, 'x\n', { author: setup })));
  const { count, msP50, msP999, msMax } = repo.waits();
  expect(count).toBe(50);
  expect(msP50).toBeGreaterThan(0);
  expect(msP50).toBeLessThanOrEqual(msP999);
  expect(msP999).toBeLessThanOrEqual(msMax * 1.001);
});
