import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { seededRandom } from '../core/ports.ts';
import { seqKey } from '../format/keys.ts';
import { LockFile } from './lock-file.ts';
import { MetaPages } from './meta-pages.ts';
import { Store } from './store.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

interface Hidden {
  readonly store: Store;
  readonly land: () => number;
  /** What LMDB does in each process that opens the store: writes a number it has read earlier. */
  readonly hide: (count: number) => void;
}

async function setup(): Promise<Hidden> {
  const dir = mkdtempSync(join(tmpdir(), 'mound-hidden-'));
  cleanups.push(() => rmSync(dir, { recursive: true }));
  const store = await Store.create(dir, seededRandom(1));
  cleanups.push(() => store.close());
  const path = join(dir, '.mound', 'store');
  const lockFile = new LockFile(join(path, 'lock.mdb'));
  lockFile.adopt();
  const metaPages = new MetaPages(join(path, 'data.mdb'));
  cleanups.push(() => metaPages.close());
  const land = (): number =>
    store.transact((counters) => {
      store.put('log', seqKey(++counters.lastSeq), Buffer.from(`entry ${counters.lastSeq}`));
      return counters.lastSeq;
    });
  const hide = (count: number): void => {
    expect(lockFile.setTxnId(metaPages.newestTxnId() - count)).toBe(true);
    store.refresh();
  };
  return { store, land, hide };
}

const isLinux = process.platform === 'linux';

test.runIf(isLinux).each([1, 2, 3])('a landing hidden by %i transactions is not overwritten', async (count) => {
  const { store, land, hide } = await setup();
  for (let seq = 1; seq <= 5; seq++) expect(land()).toBe(seq);
  hide(count);
  expect(land()).toBe(6);
  expect(land()).toBe(7);
  const seqs = [...store.tables.log.getKeys({})].map((key) => key.readUIntBE(0, 6));
  expect(seqs).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test.runIf(isLinux)('what a process has seen is seen again at once', async () => {
  const { store, land, hide } = await setup();
  land();
  land();
  hide(1);
  expect(store.counters.lastSeq).toBe(2);
  expect(store.tables.log.getBinary(seqKey(2))?.toString()).toBe('entry 2');
});

test.runIf(isLinux)('a write that fails leaves nothing and the next one goes on', async () => {
  const { store, land, hide } = await setup();
  land();
  hide(1);
  const failing = (): unknown =>
    store.transact((counters) => {
      store.put('log', seqKey(++counters.lastSeq), Buffer.from('never'));
      throw new RangeError('no');
    });
  expect(failing).toThrow(RangeError);
  expect(land()).toBe(2);
  expect(store.tables.log.getBinary(seqKey(2))?.toString()).toBe('entry 2');
});
