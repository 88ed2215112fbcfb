import { decodeCounters, type Counters } from '../store/counters.ts';
import type { LogReader } from '../log/log-reader.ts';
import { countersKey, rebuildIndexes } from './rebuild-indexes.ts';

/**
 * Writes every derived table as the log says it must be, in one transaction:
 * all of it or nothing. Other writers wait meanwhile. Gives the number of rows
 * that were wrong. Errors: `corrupt-store` where the log itself is damaged.
 */
export function repairIndexes(reader: LogReader): number {
  const { store } = reader;
  const counted: Counters = { ...decodeCounters(Buffer.of(0x90)) };
  const rows = store.transact((counters) => {
    const indexes = rebuildIndexes(reader);
    let changed = 0;
    for (const [table, expected] of indexes) {
      if (table === 'meta') continue;
      const missing = new Map(expected);
      const extra: Buffer[] = [];
      for (const row of store.tables[table].getRange({})) {
        const key = Buffer.from(row.key);
        const right = missing.get(key.toString('hex'));
        if (right === undefined) extra.push(key);
        else if (right.equals(row.value)) missing.delete(key.toString('hex'));
      }
      for (const key of extra) store.remove(table, key);
      for (const [key, value] of missing) store.put(table, Buffer.from(key, 'hex'), value);
      changed += extra.length + missing.size;
    }
    const right = indexes.get('meta')?.get(countersKey);
    if (right !== undefined) Object.assign(counters, decodeCounters(right));
    return changed;
  }, counted);
  reader.forget();
  return rows;
}
