import { join } from 'node:path';

import { runGroups } from '../harness/measurement.ts';
import type { CommitOperation, FileChange, InitialFiles } from '../workloads/operation.ts';
import { faultsOfAcknowledged } from './acknowledged-faults.ts';
import { findSqliteDriver, type SqliteDatabase } from './sqlite-driver.ts';
import type { PreparedSubject, Subject } from './subject.ts';

/**
 * What a team would write itself: heads with a version that every update
 * compares, each version's whole content found by path and seq, and commits
 * found by operation id; one transaction for all that is in flight, flushed at
 * its end. It hashes nothing, so it is not content-addressed.
 */
export const sqliteWalSubject: Subject = {
  name: 'sqlite-wal',
  durability: 'flushed',
  pace: 'in-flight',
  available: async () =>
    (await findSqliteDriver()) === undefined ? { missing: 'node:sqlite, better-sqlite3 or libsql' } : true,
  prepare: async (files, dir) => {
    const driver = await findSqliteDriver();
    if (driver === undefined) throw new Error('sqlite-wal: no SQLite');
    const db = driver.open(join(dir, 'bench.db'));
    try {
      db.exec(schema);
      const { found } = db.prepare('SELECT sqlite_version() AS found').get() as { found: string };
      const store = new SqliteStore(db);
      store.seed(files);
      return prepared(
        db,
        store,
        `sqlite-wal: SQLite ${found} through ${driver.name}, WAL, synchronous=FULL, whole contents, no hashes`,
      );
    } catch (error) {
      db.close();
      throw error;
    }
  },
};

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE heads (path TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE commits (seq INTEGER PRIMARY KEY, operation TEXT UNIQUE, agent TEXT, message TEXT, rationale TEXT, time INTEGER);
  CREATE TABLE versions (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, path TEXT NOT NULL, content BLOB);
  CREATE UNIQUE INDEX versions_by_path ON versions (path, seq);
`;

class SqliteStore {
  readonly #db: SqliteDatabase;
  readonly #begin;
  readonly #end;
  readonly #create;
  readonly #update;
  readonly #remove;
  readonly #version;
  readonly #commit;
  /** What the agents have seen; the table is what decides. */
  readonly #seen = new Map<string, number>();
  #seq = 1;

  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#end = db.prepare('COMMIT');
    this.#create = db.prepare('INSERT INTO heads (path, version) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#update = db.prepare('UPDATE heads SET version = ? WHERE path = ? AND version = ?');
    this.#remove = db.prepare('DELETE FROM heads WHERE path = ? AND version = ?');
    this.#version = db.prepare('INSERT INTO versions (seq, path, content) VALUES (?, ?, ?)');
    this.#commit = db.prepare(
      'INSERT INTO commits (seq, operation, agent, message, rationale, time) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  seed(files: InitialFiles): void {
    const changes = [...files].map(([path, content]) => ({ path, content }));
    this.commitGroup([{ id: 'seed', agent: 'bench', message: 'Initial files', rationale: '', changes }]);
  }

  commitGroup(group: readonly CommitOperation[]): void {
    this.#begin.run();
    try {
      for (const operation of group) this.#land(operation);
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
    this.#end.run();
  }

  #land({ id, agent, message, rationale, changes }: CommitOperation): void {
    const seq = this.#seq++;
    for (const change of changes) {
      if (this.#compareAndSwap(change, seq) !== 1) throw new Error(`sqlite-wal: ${id} is stale on ${change.path}`);
      if (change.content !== null) this.#version.run(seq, change.path, change.content);
    }
    this.#commit.run(seq, id, agent, message, rationale, Date.now());
  }

  #compareAndSwap({ path, content }: FileChange, seq: number): number {
    const seen = this.#seen.get(path);
    if (content === null) {
      this.#seen.delete(path);
      return Number(this.#remove.run(path, seen ?? 0).changes);
    }
    this.#seen.set(path, seq);
    const { changes } = seen === undefined ? this.#create.run(path, seq) : this.#update.run(seq, path, seen);
    return Number(changes);
  }
}

/** node:sqlite gives a Uint8Array, libsql an ArrayBuffer, better-sqlite3 a Buffer. */
const bufferOf = (blob: Uint8Array | ArrayBuffer): Buffer =>
  blob instanceof ArrayBuffer ? Buffer.from(blob) : Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);

function prepared(db: SqliteDatabase, store: SqliteStore, note: string): PreparedSubject {
  return {
    notes: [note],
    run: (operations, options) => runGroups(operations, options, (group) => store.commitGroup(group)),
    verify: (acknowledged) => {
      const commits = db.prepare('SELECT operation FROM commits').all() as { operation: string }[];
      const head = db.prepare(
        'SELECT content FROM heads JOIN versions ON versions.path = heads.path AND seq = version WHERE heads.path = ?',
      );
      return faultsOfAcknowledged(
        acknowledged,
        commits.map(({ operation }) => operation),
        (path) => {
          const row = head.get(path) as { content?: Uint8Array | ArrayBuffer } | undefined;
          return row?.content === undefined ? undefined : bufferOf(row.content);
        },
      );
    },
    cleanup: () => {
      db.close();
      return Promise.resolve();
    },
  };
}
