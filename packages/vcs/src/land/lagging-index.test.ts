import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Seq } from '../core/ids.ts';
import { systemRandom } from '../core/ports.ts';
import type { LogEntry, ParkedEntry } from '../format/entry.ts';
import { LogReader } from '../log/log-reader.ts';
import { Store } from '../store/store.ts';
import { LaggingIndex, operationSpec } from './lagging-index.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function tempStore(): Promise<Store> {
  const dir = mkdtempSync(join(tmpdir(), 'mound-lagging-'));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  const store = await Store.create(dir, systemRandom);
  cleanups.push(() => store.close());
  return store;
}

const head = { time: 0, branchId: 0, authorId: 1, asked: Buffer.alloc(8), task: undefined };
const kept = { kept: Buffer.alloc(0), keptParts: 0 };

const parked = (seq: number, operationId: string): ParkedEntry => ({
  ...head,
  kind: 'parked',
  seq: seq as Seq,
  operationId,
  paths: [],
  replaces: 0,
  ...kept,
});

test('an operation id keeps its first entry, whatever carries it on later, before and after the table holds it', async () => {
  const store = await tempStore();
  const index = new LaggingIndex(new LogReader(store), operationSpec);
  const entries = Array.from({ length: 8192 }, (_, at) => parked(at + 1, `op-${at + 1}`));
  index.learn(entries);
  const carriedOn: LogEntry = {
    ...head,
    kind: 'conflict',
    seq: 9000 as Seq,
    operationId: 'op-1',
    comparedAt: 0,
    paths: [],
    ...kept,
    unparks: 1,
    replaces: 0,
  };
  const drain = (): void => {
    for (let round = 0; round < 10; round++) {
      store.transact((counters) => {
        counters.lastSeq = 9000;
        index.drain(counters);
      });
    }
  };
  drain();
  expect(store.counters.operationsSeq).toBe(8192);
  // As another process does that reads on behind what the table holds.
  const other = new LaggingIndex(new LogReader(store), operationSpec);
  other.learn([carriedOn]);
  expect(other.seqOf('op-1')).toBe(1);
  expect(other.seqOf('op-8192')).toBe(8192);
});
