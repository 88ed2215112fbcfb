import type { CommitOperation, FileChange, InitialFiles } from '../../workloads/operation.ts';
import { applySqliteDelta, encodeSqliteDelta } from './delta.ts';
import type { SqliteDatabase, SqliteStatement } from './driver.ts';

/** As Mound's: deltas to apply at most for a read, and bytes of newest contents that are kept in memory. */
const chainMax = 48;
const contentBytesMax = 192 * 1024 * 1024;

export const sqliteSchema = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE heads (path TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE commits (seq INTEGER PRIMARY KEY, operation TEXT UNIQUE, agent TEXT, message TEXT, rationale TEXT, time INTEGER);
  CREATE TABLE versions (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, path TEXT NOT NULL, chain INTEGER NOT NULL, base INTEGER, content BLOB);
  CREATE UNIQUE INDEX versions_by_path ON versions (path, seq);
`;

interface Version {
  readonly content: Buffer;
  readonly chain: number;
}

interface VersionRow {
  readonly chain: number;
  readonly base: number | null;
  readonly content: Uint8Array | ArrayBuffer;
}

/** node:sqlite gives a Uint8Array, libsql an ArrayBuffer, better-sqlite3 a Buffer. */
const bufferOf = (blob: Uint8Array | ArrayBuffer): Buffer =>
  blob instanceof ArrayBuffer ? Buffer.from(blob) : Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);

/** Heads, commits and versions in a database that several processes may use. */
export class SqliteStore {
  readonly #db: SqliteDatabase;
  readonly #deltas: boolean;
  readonly #begin: SqliteStatement;
  readonly #end: SqliteStatement;
  readonly #lastSeq: SqliteStatement;
  readonly #create: SqliteStatement;
  readonly #update: SqliteStatement;
  readonly #remove: SqliteStatement;
  readonly #version: SqliteStatement;
  readonly #commit: SqliteStatement;
  readonly #row: SqliteStatement;
  /** What the agents have seen; the table is what decides. */
  readonly #seen = new Map<string, number>();
  /** Newest contents, to make deltas against. */
  readonly #newest = new Map<string, Version>();
  #newestBytes = 0;

  constructor(db: SqliteDatabase, deltas: boolean) {
    this.#db = db;
    this.#deltas = deltas;
    db.exec('PRAGMA synchronous = FULL; PRAGMA busy_timeout = 60000');
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#end = db.prepare('COMMIT');
    this.#lastSeq = db.prepare('SELECT coalesce(max(seq), 0) AS last FROM commits');
    this.#create = db.prepare('INSERT INTO heads (path, version) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#update = db.prepare('UPDATE heads SET version = ? WHERE path = ? AND version = ?');
    this.#remove = db.prepare('DELETE FROM heads WHERE path = ? AND version = ?');
    this.#version = db.prepare('INSERT INTO versions (seq, path, chain, base, content) VALUES (?, ?, ?, ?, ?)');
    this.#commit = db.prepare(
      'INSERT INTO commits (seq, operation, agent, message, rationale, time) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#row = db.prepare('SELECT chain, base, content FROM versions WHERE path = ? AND seq = ?');
  }

  /** Learns the heads that another process has made. */
  look(): void {
    const heads = this.#db.prepare('SELECT path, version FROM heads').all() as { path: string; version: number }[];
    for (const { path, version } of heads) this.#seen.set(path, version);
  }

  seed(files: InitialFiles): void {
    const changes = [...files].map(([path, content]) => ({ path, content }));
    this.commitGroup([{ id: 'seed', agent: 'bench', message: 'Initial files', rationale: '', changes }]);
  }

  commitGroup(group: readonly CommitOperation[]): void {
    this.#begin.run();
    try {
      let { last: seq } = this.#lastSeq.get() as { last: number };
      for (const operation of group) this.#land(operation, ++seq);
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
    this.#end.run();
  }

  operationIds(): string[] {
    const commits = this.#db.prepare('SELECT operation FROM commits').all() as { operation: string }[];
    return commits.map(({ operation }) => operation);
  }

  /** From the tables alone. */
  readHead(path: string): Buffer | undefined {
    const head = this.#db.prepare('SELECT version FROM heads WHERE path = ?').get(path) as
      { version: number } | undefined;
    return head === undefined ? undefined : this.#read(path, head.version).content;
  }

  #land({ id, agent, message, rationale, changes }: CommitOperation, seq: number): void {
    for (const change of changes) {
      const seen = this.#seen.get(change.path);
      if (this.#compareAndSwap(change, seen, seq) !== 1) throw new Error(`sqlite: ${id} is stale on ${change.path}`);
      if (change.content !== null) this.#store(change.path, change.content, seen, seq);
    }
    this.#commit.run(seq, id, agent, message, rationale, Date.now());
  }

  #compareAndSwap({ path, content }: FileChange, seen: number | undefined, seq: number): number {
    if (content === null) {
      this.#seen.delete(path);
      return Number(this.#remove.run(path, seen ?? 0).changes);
    }
    this.#seen.set(path, seq);
    const { changes } = seen === undefined ? this.#create.run(path, seq) : this.#update.run(seq, path, seen);
    return Number(changes);
  }

  #store(path: string, content: Buffer, seen: number | undefined, seq: number): void {
    const base = this.#deltas && seen !== undefined ? (this.#newest.get(path) ?? this.#read(path, seen)) : undefined;
    if (base === undefined || seen === undefined || base.chain >= chainMax) {
      this.#version.run(seq, path, 0, null, content);
      this.#remember(path, { content, chain: 0 });
      return;
    }
    this.#version.run(seq, path, base.chain + 1, seen, encodeSqliteDelta(base.content, content));
    this.#remember(path, { content, chain: base.chain + 1 });
  }

  #remember(path: string, version: Version): void {
    if (!this.#deltas) return;
    this.#newestBytes += version.content.length - (this.#newest.get(path)?.content.length ?? 0);
    this.#newest.set(path, version);
    if (this.#newestBytes <= contentBytesMax) return;
    this.#newest.clear();
    this.#newestBytes = 0;
  }

  #read(path: string, seq: number): Version {
    const row = this.#row.get(path, seq) as VersionRow | undefined;
    if (row === undefined) throw new Error(`sqlite: no version ${seq} of ${path}`);
    const stored = bufferOf(row.content);
    if (row.base === null) return { content: stored, chain: row.chain };
    return { content: applySqliteDelta(this.#read(path, row.base).content, stored), chain: row.chain };
  }
}
