import type { Engine } from '../engine.ts';
import { commandEngine } from './command.ts';

/** What a thread needs to make an engine: plain values. */
export interface EngineSpec {
  /** The name of an engine in this process, or a command line. */
  readonly engine: string;
  /** Of `skipif` and `onlyif`; default: the engine's own, `sqlite` for a command. */
  readonly dialect?: string;
}

const inProcess: Readonly<Record<string, () => Promise<Engine>>> = {
  sqlite: async () => (await import('./sqlite.ts')).sqliteEngine(),
  duckdb: async () => (await import('./duckdb.ts')).duckdbEngine(),
  pglite: async () => (await import('./pglite.ts')).pgliteEngine(),
};

export const engineNames = Object.keys(inProcess);

/** Errors: what the import gives where an engine's package is not installed. */
export async function makeEngine({ engine, dialect }: EngineSpec): Promise<Engine> {
  const make = inProcess[engine];
  if (make === undefined) return commandEngine(engine, dialect ?? 'sqlite');
  const made = await make();
  return dialect === undefined ? made : { ...made, dialect };
}
