type SqliteValue = string | number | Uint8Array | null;

/** The part of SQLite's JavaScript bindings that they all share. */
export interface SqliteStatement {
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqliteValue[]): unknown;
  all(...values: readonly SqliteValue[]): unknown[];
}

export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

export interface SqliteDriver {
  readonly name: string;
  open(path: string): SqliteDatabase;
}

type DatabaseClass = new (path: string) => SqliteDatabase;

/** In order of preference: the one that comes with Node, the usual one, the one that needs no compiler. */
const candidates: readonly { readonly module: string; readonly exported: string }[] = [
  { module: 'node:sqlite', exported: 'DatabaseSync' },
  { module: 'better-sqlite3', exported: 'default' },
  { module: 'libsql', exported: 'default' },
];

/** The first binding that this machine has. */
export async function findSqliteDriver(): Promise<SqliteDriver | undefined> {
  for (const { module, exported } of candidates) {
    try {
      const loaded = (await import(module)) as Record<string, unknown>;
      const Database = loaded[exported] as DatabaseClass;
      new Database(':memory:').close();
      return { name: module, open: (path) => new Database(path) };
    } catch {
      // Not installed, or its binary does not load here: the next one may.
    }
  }
  return undefined;
}
