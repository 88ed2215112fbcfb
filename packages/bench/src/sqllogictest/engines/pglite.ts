import type { Engine, EngineError, Rows, Session } from '../engine.ts';
import { importPackage } from './import-package.ts';
import { renderTyped } from './typed-value.ts';

/** What is used of `@electric-sql/pglite`; it is not a dependency, so its types are not there. */
interface Result {
  readonly rows: unknown[][];
  readonly fields: readonly unknown[];
}

interface Database {
  query(sql: string, parameters: unknown[], options: { rowMode: 'array' }): Promise<Result>;
  exec(sql: string): Promise<unknown>;
  close(): Promise<void>;
}

interface PgliteModule {
  readonly PGlite: { create(): Promise<Database> };
}

const packageName = '@electric-sql/pglite';

const errorOf = (error: unknown): EngineError => ({ error: error instanceof Error ? error.message : String(error) });

/** `PostgreSQL 18.7 (PGlite 0.5.17) on wasm32…, compiled by …`: the first part is what one asks for. */
const versionOf = (text: string): string => text.split(' on ')[0] ?? text;

/** PostgreSQL in this process, as WebAssembly, where its package is installed. */
export async function pgliteEngine(): Promise<Engine> {
  const { PGlite } = (await importPackage(packageName)) as PgliteModule;
  const first = await PGlite.create();
  const { rows } = await first.query('select version()', [], { rowMode: 'array' });
  await first.close();
  const open = async (): Promise<Session> => {
    const database = await PGlite.create();
    return {
      statement: (sql) => database.exec(sql).then(() => undefined, errorOf),
      query: (sql, types): Promise<Rows | EngineError> =>
        database.query(sql, [], { rowMode: 'array' }).then((result) => {
          const values = result.rows.flatMap((row) => row.map((value, at) => renderTyped(value, types[at] ?? 'T')));
          return { columns: result.fields.length, values };
        }, errorOf),
      close: () => database.close(),
    };
  };
  return { name: 'pglite', dialect: 'postgresql', identity: `pglite ${versionOf(String(rows[0]?.[0]))}`, open };
}
