import { commitSpec } from '../land/lagging-index.ts';
import type { LogReader } from '../log/log-reader.ts';
import { decodeCounters, encodeCounters, type Counters } from '../store/counters.ts';
import type { TableName } from '../store/tables.ts';
import { countersKey, type Indexes, type Rows } from './rebuild-indexes.ts';

/** A row of a derived table that is not what the log says. */
export interface IndexFault {
  readonly table: TableName;
  /** In hex. */
  readonly key: string;
  readonly fault: 'missing' | 'extra' | 'different';
  /** In hex; undefined: no row. */
  readonly found: string | undefined;
  readonly expected: string | undefined;
}

/** Compares the store's derived tables with what `rebuildIndexes` made of the same committed state. */
export function compareIndexes(reader: LogReader, indexes: Indexes): IndexFault[] {
  const { counters } = reader.store;
  return [...indexes].flatMap(([table, rows]) => {
    if (table === 'meta') return compareCounters(counters, rows);
    // The lagging tables hold every key up to their counter; what they lack behind it stands in the log.
    if (table === 'operations') return compareRows(reader, table, rows, counters.operationsSeq);
    if (table === 'commits') return compareRows(reader, table, rows, counters.commitsSeq);
    return compareRows(reader, table, rows, Number.MAX_SAFE_INTEGER);
  });
}

function compareRows(reader: LogReader, table: TableName, rows: Rows, completeTo: number): IndexFault[] {
  const faults: IndexFault[] = [];
  const missing = new Map(rows);
  const isLagging = table === 'operations' || table === 'commits';
  for (const row of reader.store.tables[table].getRange({})) {
    const key = Buffer.from(row.key).toString('hex');
    const found = Buffer.from(row.value).toString('hex');
    const expected = rows.get(key)?.toString('hex');
    missing.delete(key);
    // Commits of one content on two branches at one time have one id: either entry is the one.
    if (table === 'commits' && expected !== undefined && commitKeyAt(reader, row.value) === key) continue;
    if (expected === undefined) faults.push({ table, key, fault: 'extra', found, expected });
    else if (expected !== found) faults.push({ table, key, fault: 'different', found, expected });
  }
  for (const [key, value] of missing) {
    if (isLagging && value.readUIntBE(0, 6) > completeTo) continue;
    faults.push({ table, key, fault: 'missing', found: undefined, expected: value.toString('hex') });
  }
  return faults;
}

/** Key of the commit that a row leads to. */
function commitKeyAt(reader: LogReader, place: Buffer): string | undefined {
  const entry = reader.getEntry(place.readUIntBE(0, 6));
  const key = entry && commitSpec.keyOf(entry);
  return key === undefined ? undefined : commitSpec.bytesOf(key).toString('hex');
}

function compareCounters(counters: Counters, rows: Rows): IndexFault[] {
  const bytes = rows.get(countersKey);
  if (bytes === undefined) return [];
  const rebuilt = decodeCounters(bytes);
  const { lastSeq } = rebuilt;
  const lagging = {
    operationsSeq: Math.min(counters.operationsSeq, lastSeq),
    commitsSeq: Math.min(counters.commitsSeq, lastSeq),
    // Not of the log: it only tells processes to forget what they remember of it.
    rewrites: counters.rewrites,
    drainer: counters.drainer,
  };
  const expected = encodeCounters({ ...rebuilt, ...lagging }).toString('hex');
  const found = encodeCounters(counters).toString('hex');
  return expected === found ? [] : [{ table: 'meta', key: countersKey, fault: 'different', found, expected }];
}
