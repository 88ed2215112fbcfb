import type { Engine, EngineError, Rows, Session } from '../engine.ts';
import { importPackage } from './import-package.ts';
import { renderTyped } from './typed-value.ts';

/** What is used of `@duckdb/node-api`; it is not a dependency, so its types are not there. */
interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ columnNames(): string[]; getRows(): unknown[][] }>;
  closeSync(): void;
}

interface DuckDbModule {
  readonly DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection>; closeSync(): void }> };
  version(): string;
}

const packageName = '@duckdb/node-api';

const errorOf = (error: unknown): EngineError => ({ error: error instanceof Error ? error.message : String(error) });

/** DuckDB in this process, where its package is installed. */
export async function duckdbEngine(): Promise<Engine> {
  const duckdb = (await importPackage(packageName)) as DuckDbModule;
  const open = async (): Promise<Session> => {
    const instance = await duckdb.DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    return {
      statement: (sql) => connection.run(sql).then(() => undefined, errorOf),
      query: (sql, types): Promise<Rows | EngineError> =>
        connection.runAndReadAll(sql).then((result) => {
          const columns = result.columnNames().length;
          const values = result
            .getRows()
            .flatMap((row) => row.map((value, at) => renderTyped(value, types[at] ?? 'T')));
          return { columns, values };
        }, errorOf),
      close: () => {
        connection.closeSync();
        instance.closeSync();
      },
    };
  };
  return { name: 'duckdb', dialect: 'duckdb', identity: `duckdb ${duckdb.version()}`, open };
}
