import { youngCount } from '../store/page-zeroing.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { TableName } from '../store/tables.ts';
import type { Lander } from './lander.ts';

/** Pages that one transaction overwrites. */
const pagesPerTransaction = 1024;
/** Rows that one transaction writes anew as they are. */
const touchedCount = 256;

/**
 * Overwrites what removed rows left behind in LMDB's file: rows that stand
 * beside them are written again, so that their pages are made anew without the
 * remains, then free pages are overwritten. Gives how many could not be.
 */
export async function scrub(reader: LogReader, lander: Lander): Promise<number> {
  const { store } = reader;
  store.freeDeadReaders();
  for (const table of ['log', 'segments', 'parts', 'objects'] as const) await touch(reader, lander, table);
  // The newest free pages are those of the last transactions, which touched no row but the counters.
  for (let turn = 0; turn <= youngCount; turn++) await age(reader, lander);
  for (;;) {
    const { done, left } = await lander.act(() => store.zeroFreePages(pagesPerTransaction));
    // Each of these transactions frees a page or two of its own: nothing is left where it found fewer than it may take.
    if (done < pagesPerTransaction) return left;
  }
}

/** A transaction of its own, with what this process reads let go. */
async function age(reader: LogReader, lander: Lander): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  reader.store.refresh();
  await lander.act(() => undefined);
}

async function touch(reader: LogReader, lander: Lander, table: TableName): Promise<void> {
  const { store } = reader;
  let start: Buffer | undefined = Buffer.of(0);
  while (start !== undefined) {
    const from: Buffer = start;
    start = await lander.act(() => {
      const rows = [...store.tables[table].getRange({ start: from, limit: touchedCount + 1 })].map(
        ({ key, value }) => ({
          key: Buffer.from(key),
          value: Buffer.from(value),
        }),
      );
      for (const { key, value } of rows.slice(0, touchedCount)) store.put(table, key, value);
      return rows[touchedCount]?.key;
    });
  }
}
