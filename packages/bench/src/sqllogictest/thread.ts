import { readFile } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';

import type { Engine } from './engine.ts';
import { makeEngine, type EngineSpec } from './engines/index.ts';
import { Ledger, type LedgerMemory } from './ledger.ts';
import type { Failure } from './outcome.ts';
import { runFile } from './run-file.ts';

export interface ThreadRequest {
  readonly spec: EngineSpec;
  /** Absolute. */
  readonly file: string;
  readonly memory: LedgerMemory;
}

export type ThreadReply =
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'done' }
  | { readonly kind: 'broken'; readonly reason: string };

/** A thread that runs files, one after another, until it is ended. */
export function serveFiles(): void {
  if (parentPort === null) throw new Error('this module is run as a thread');
  const port = parentPort;
  const reply = (message: ThreadReply): void => port.postMessage(message);
  const engines = new Map<string, Engine>();

  const run = async ({ spec, file, memory }: ThreadRequest): Promise<void> => {
    const key = JSON.stringify(spec);
    const engine = engines.get(key) ?? (await makeEngine(spec));
    engines.set(key, engine);
    const text = (await readFile(file)).toString('utf8');
    await runFile(text, engine, new Ledger(memory), (failure) => reply({ kind: 'failure', failure }));
  };
  port.on('message', (request: ThreadRequest) => {
    run(request).then(
      () => reply({ kind: 'done' }),
      (error: unknown) => reply({ kind: 'broken', reason: error instanceof Error ? error.message : String(error) }),
    );
  });
}
