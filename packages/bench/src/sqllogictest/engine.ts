/** The engine refuses an SQL text; a value, since many records expect it. */
export interface EngineError {
  readonly error: string;
}

/** Rows in the engine's order, values rendered as lines (`render.ts`) row by row. */
export interface Rows {
  readonly columns: number;
  readonly values: string[];
}

/**
 * One empty database of an engine. What breaks it (a crash, a broken protocol)
 * is thrown; the file goes on with a new one to which its statements are told again.
 */
export interface Session {
  /** Runs a script; undefined where all of it ran. */
  statement(sql: string): EngineError | undefined | Promise<EngineError | undefined>;
  /** `types`: a letter a column (T, I, R) that says how to render its values. An error while rows come ends the rows. */
  query(sql: string, types: string): Rows | EngineError | Promise<Rows | EngineError>;
  close(): void | Promise<void>;
}

export interface Engine {
  readonly name: string;
  /** What `skipif` and `onlyif` call it. */
  readonly dialect: string;
  /** Told apart in journals: its version, its command. */
  readonly identity: string;
  /** `onProcess`: told of each process that it starts as leader of a group, so that whoever ends the session can end that too. */
  open(onProcess: (pid: number) => void): Session | Promise<Session>;
}
