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
const columnBlob = bindings.cwrap('sqlite3_column_blob', 'number', ['number', 'number']) as OfColumn<number>;
const columnBytes = bindings.cwrap('sqlite3_column_bytes', 'number', ['number', 'number']) as OfColumn<number>;
const reset = bindings.cwrap('sqlite3_reset', 'number', ['number']) as OfStatement;
type BindBlob = (statement: number, at: number, bytes: number, count: number, lifetime: number) => number;
const bindBlob = bindings.cwrap('sqlite3_bind_blob', 'number', Array<'number'>(5).fill('number')) as BindBlob;

const row = 100;
const typeInteger = 1;
const typeBlob = 4;
const typeNull = 5;
const transient = -1;

const pointerOf = (statement: InstanceType<typeof sqlite.Statement>): number =>
  Reflect.get(statement, '_ptr') as number;

/**
 * Bytes of a value that is no plain text. The package's memory cannot be read
 * from here, and what it makes of bytes that are no UTF-8 is another text, so
 * SQLite itself is asked for them.
 */
class BytesOf {
  private readonly hex = new sqlite.Database().prepare('select hex(?)');

  of(statement: number, column: number): Uint8Array {
    const hex = pointerOf(this.hex);
    bindBlob(hex, 1, columnBlob(statement, column), columnBytes(statement, column), transient);
    step(hex);
    const bytes = Buffer.from(columnText(hex, 0), 'hex');
    reset(hex);
    return bytes;
  }
}

let bytesOf: BytesOf | undefined;

function textOf(statement: number, column: number, stored: number): string {
  if (stored !== typeBlob) {
    const text = columnText(statement, column);
    if (/^[\x20-\x7e]*$/.test(text)) return renderText(text);
  }
  bytesOf ??= new BytesOf();
  return renderText(bytesOf.of(statement, column));
}

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
      return rowsOf(pointerOf(statement), types);
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
  // As in the suite's runner it is not begun: what changes the database and gives no rows changes nothing.
  if (columns !== types.length) return { columns, values };
  while (step(statement) === row) {
    for (let column = 0; column < columns; column++) values.push(valueOf(statement, column, types[column] ?? 'T'));
  }
  return { columns, values };
}

function valueOf(statement: number, column: number, type: string): string {
  const stored = columnType(statement, column);
  if (stored === typeNull) return 'NULL';
  if (type === 'R') return renderReal(columnDouble(statement, column));
  if (type === 'T') return textOf(statement, column, stored);
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
