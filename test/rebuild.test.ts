import { openRepo, seededRandom, steppingClock } from '@mound/vcs';
import { expect, test } from 'vitest';
import { seqKey } from '../packages/vcs/src/format/keys.ts';
import { LogReader } from '../packages/vcs/src/log/log-reader.ts';
import { encodeCounters, firstCounters } from '../packages/vcs/src/store/counters.ts';
import { Store } from '../packages/vcs/src/store/store.ts';
import type { TableName } from '../packages/vcs/src/store/tables.ts';
import { compareIndexes } from '../packages/vcs/src/views/compare-indexes.ts';
import { countersKey, rebuildIndexes, type Indexes, type Rows } from '../packages/vcs/src/views/rebuild-indexes.ts';
import { indexFaults } from './kit/indexes.ts';
import { RandomHistory } from './kit/random-history.ts';
import { scale, seed } from './kit/seed.ts';
import { onCleanup, tempDir } from './kit/temp.ts';

async function historyIn(dir: string, historySeed: number, steps: number): Promise<RandomHistory> {
  const repo = await openRepo(dir, { create: true, clock: steppingClock(1_700_000_000_000, 1000) });
  const history = new RandomHistory(repo, seededRandom(historySeed));
  try {
    await history.run(steps);
    // Some of the log stands in segments.
    await repo.compact({ keep: 20 });
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  } finally {
    await repo.close();
  }
  return history;
}

test.each([0, 1].map((at) => seed * 100 + at))(
  'every index is what the log says after a random history (seed %i)',
  async (historySeed) => {
    const dir = tempDir();
    const { outcomes } = await historyIn(dir, historySeed, 250 * scale);
    // A history that met nothing would prove nothing.
    expect([...outcomes.keys()].toSorted()).toEqual([
      'conflicted',
      'landed',
      'merged',
      'parked',
      'rejected',
      'unchanged',
    ]);
    expect(await indexFaults(dir)).toEqual([]);
  },
);

test('a fault in any derived table is found', async () => {
  const dir = tempDir();
  await historyIn(dir, 4, 160);
  const repo = await openRepo(dir);
  const [old] = [...repo.log()].toReversed().flatMap(({ changes }) => changes.flatMap(({ blob }) => blob ?? []));
  await repo.purge({ author: { name: 'keeper', kind: 'system' }, reason: 'leaked', blobs: old ? [old] : [] });
  await repo.close();
  const store = await Store.open(dir);
  onCleanup(() => store.close());
  const reader = new LogReader(store);
  const complete = rebuildIndexes(reader);
  // As if the lagging indexes had been drained, and one commit exported to git.
  store.transact((counters) => {
    for (const table of ['operations', 'commits'] as const) {
      for (const [key, value] of complete.get(table) ?? []) store.put(table, Buffer.from(key, 'hex'), value);
      counters[`${table}Seq`] = counters.lastSeq;
    }
    store.put('seqByGit', Buffer.alloc(20, 1), seqKey(1));
    store.put('gitBySeq', seqKey(1), Buffer.alloc(20, 1));
  });
  const rebuilt = rebuildIndexes(reader);
  expect(compareIndexes(reader, rebuilt)).toEqual([]);
  const faultsOf = (table: TableName, rows: Rows): string[] =>
    compareIndexes(reader, new Map([...rebuilt, [table, rows]])).map((found) => `${found.table} ${found.fault}`);
  const { lastSeq } = store.counters;
  expect(faultsOf('meta', new Map([[countersKey, encodeCounters({ ...firstCounters, lastSeq })]]))).toEqual([
    'meta different',
  ]);
  for (const [table, rows] of rebuilt) {
    if (table === 'meta') continue;
    const [first, ...rest] = rows;
    expect(first, `${table} has a row`).toBeDefined();
    const [key, value] = first ?? ['', Buffer.alloc(0)];
    expect(faultsOf(table, new Map(rest))).toEqual([`${table} extra`]);
    // A row of `commits` is right where it leads to an entry of that commit, whichever the rebuilt one names.
    const different = table === 'commits' ? [] : [`${table} different`];
    expect(faultsOf(table, new Map([...rows, [key, Buffer.concat([value, value])]]))).toEqual(different);
    expect(faultsOf(table, new Map([...rows, ['ff00ff', value]]))).toEqual([`${table} missing`]);
  }
});

const textOf = (indexes: Indexes): string[] =>
  [...indexes].flatMap(([table, rows]) =>
    [...rows].map(([key, value]) => `${table} ${key} ${value.toString('hex')}`).toSorted(),
  );

test('a name that one of its two tables has lost is taken from the other', async () => {
  const dir = tempDir();
  await historyIn(dir, 5, 60);
  const store = await Store.open(dir);
  onCleanup(() => store.close());
  const { pathNames, paths, authors, authorIds } = store.tables;
  const reader = new LogReader(store);
  const whole = rebuildIndexes(reader);
  for (const table of [pathNames, authors, paths, authorIds]) {
    const [key] = [...table.getKeys({ limit: 1 })];
    const value = key && table.getBinary(key);
    if (key === undefined || value === undefined) throw new Error('no row to lose');
    await table.remove(key);
    expect(textOf(rebuildIndexes(reader))).toEqual(textOf(whole));
    expect(compareIndexes(reader, whole)).toMatchObject([{ fault: 'missing', key: key.toString('hex') }]);
    await table.put(key, value);
  }
});
