import sqlite from 'node-sqlite3-wasm';

import type { Engine, EngineError, Rows, Session } from '../engine.ts';
import { renderInteger, renderReal, renderText } from '../render.ts';

/**
 * The C interface under the package's classes. Its rows are objects by column
 * name, which lose one of two columns of one name and tell no 3.0 from a 3; so
 * columns are read as SQLite's own command does, with SQLite's own conversions.
 */
interface Bindings {
  cwrap(name: string, result: 'number' | 'string', args: readonly 'number'[]): unknown;
}

type OfStatement = (statement: number) => number;
type OfColumn<Value> = (statement: number, column: number) => Value;

const bindings = sqlite as unknown as Bindings;
const step = bindings.cwrap('sqlite3_step', 'number', ['number']) as OfStatement;
const columnCount = bindings.cwrap('sqlite3_column_count', 'number', ['number']) as OfStatement;
const columnType = bindings.cwrap('sqlite3_column_type', 'number', ['number', 'number']) as OfColumn<number>;
const columnDouble = bindings.cwrap('sqlite3_column_double', 'number', ['number', 'number']) as OfColumn<number>;
const columnInt64 = bindings.cwrap('sqlite3_column_int64', 'number', ['number', 'number']) as OfColumn<bigint>;
const columnText = bindings.cwrap('sqlite3_column_text', 'string', ['number', 'number']) as OfColumn<string>;

const row = 100;
const typeInteger = 1;
const typeNull = 5;

const messageOf = (error: unknown): EngineError => {
  // Anything else is the engine's own end: wasm that ran into a trap.
  if (error instanceof sqlite.SQLite3Error) return { error: error.message };
  throw error;
};

class SqliteSession implements Session {
  private readonly database = new sqlite.Database();

  statement(sql: string): EngineError | undefined {
    try {
      this.database.exec(sql);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  query(sql: string, types: string): Rows | EngineError {
    let statement: InstanceType<typeof sqlite.Statement>;
    try {
      statement = this.database.prepare(sql);
    } catch (error) {
      return messageOf(error);
    }
    try {
      return rowsOf(Reflect.get(statement, '_ptr') as number, types);
    } finally {
      try {
        statement.finalize();
      } catch (error) {
        // It gives the error that ended the rows once more.
        messageOf(error);
      }
    }
  }

  close(): void {
    this.database.close();
  }
}

function rowsOf(statement: number, types: string): Rows {
  const columns = columnCount(statement);
  const values: string[] = [];
  while (step(statement) === row) {
    for (let column = 0; column < columns; column++) values.push(valueOf(statement, column, types[column] ?? 'T'));
  }
  return { columns, values };
}

function valueOf(statement: number, column: number, type: string): string {
  const stored = columnType(statement, column);
  if (stored === typeNull) return 'NULL';
  if (type === 'R') return renderReal(columnDouble(statement, column));
  if (type === 'T') return renderText(columnText(statement, column));
  if (stored === typeInteger) {
    // Exact up to 2^53, and without a bigint.
    const double = columnDouble(statement, column);
    if (Number.isSafeInteger(double)) return renderInteger(double);
  }
  return renderInteger(columnInt64(statement, column));
}

/** SQLite in this process, as WebAssembly. */
export function sqliteEngine(): Engine {
  const database = new sqlite.Database();
  const version = database.get('select sqlite_version() as version')?.['version'] as string;
  database.close();
  return { name: 'sqlite', dialect: 'sqlite', identity: `sqlite ${version}`, open: () => new SqliteSession() };
}
