import { join } from 'node:path';

import { runGroups } from '../harness/measurement.ts';
import { faultsOfAcknowledged } from './acknowledged-faults.ts';
import { findSqliteDriver, type SqliteDatabase, type SqliteDriver } from './sqlite/driver.ts';
import { SqliteStore, sqliteSchema } from './sqlite/store.ts';
import type { PreparedSubject, Subject } from './subject.ts';

export interface SqliteWalOptions {
  readonly name: string;
  /** Stores an edit as a delta against the version that it replaces, as Mound does. */
  readonly deltas: boolean;
}

/**
 * What a team would write itself: heads with a version that every update
 * compares, each version's content found by path and seq, and commits found by
 * operation id; one transaction for all that is in flight, flushed at its end.
 * It hashes nothing, so it is not content-addressed.
 */
function sqliteWal({ name, deltas }: SqliteWalOptions): Subject {
  return {
    name,
    durability: 'flushed',
    pace: 'in-flight',
    available: async () =>
      (await findSqliteDriver()) === undefined ? { missing: 'node:sqlite, better-sqlite3 or libsql' } : true,
    version: sqliteVersion,
    prepare: async (files, dir) => {
      const driver = await mustFindDriver(name);
      const db = driver.open(databaseIn(dir));
      try {
        db.exec(sqliteSchema);
        const store = new SqliteStore(db, deltas);
        store.seed(files);
        const contents = deltas ? 'edits as deltas in chains as long as Mound’s' : 'whole contents';
        const note = `${name}: SQLite ${versionIn(db)} through ${driver.name}, WAL, synchronous=FULL, ${contents}, no hashes`;
        return { ...prepared(db, store), notes: [note] };
      } catch (error) {
        db.close();
        throw error;
      }
    },
    attach: async (dir) => {
      const db = (await mustFindDriver(name)).open(databaseIn(dir));
      const store = new SqliteStore(db, deltas);
      store.look();
      return prepared(db, store);
    },
  };
}

async function sqliteVersion(): Promise<string | undefined> {
  const driver = await findSqliteDriver();
  if (driver === undefined) return undefined;
  const db = driver.open(':memory:');
  try {
    return versionIn(db);
  } finally {
    db.close();
  }
}

const versionIn = (db: SqliteDatabase): string =>
  (db.prepare('SELECT sqlite_version() AS found').get() as { found: string }).found;

const databaseIn = (dir: string): string => join(dir, 'bench.db');

async function mustFindDriver(name: string): Promise<SqliteDriver> {
  const driver = await findSqliteDriver();
  if (driver === undefined) throw new Error(`${name}: no SQLite`);
  return driver;
}

export const sqliteWalSubject = sqliteWal({ name: 'sqlite-wal', deltas: false });
export const sqliteDeltasSubject = sqliteWal({ name: 'sqlite-wal-deltas', deltas: true });

function prepared(db: SqliteDatabase, store: SqliteStore): Omit<PreparedSubject, 'notes'> {
  return {
    run: (operations, options) => runGroups(operations, options, (group) => store.commitGroup(group)),
    verify: (acknowledged) => faultsOfAcknowledged(acknowledged, store.operationIds(), (path) => store.readHead(path)),
    cleanup: () => {
      db.close();
      return Promise.resolve();
    },
  };
}
