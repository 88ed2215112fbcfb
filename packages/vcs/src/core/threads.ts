import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';

/** Threads end after this long without work; they never keep a process alive. */
const idleMsDefault = 1000;

export interface ThreadsOptions {
  /** Compiled module whose exported function the threads run. */
  readonly moduleFile: string;
  readonly name: string;
  readonly threadsMax: number;
  readonly queueMax: number;
  readonly heapMegabytesMax?: number;
  readonly idleMs?: number;
}

/** Threads that run one pure function of a module; they start with the first call. */
export class Threads {
  private readonly options: ThreadsOptions;
  private started: Promise<Piscina> | undefined;
  private isClosed = false;

  constructor(options: ThreadsOptions) {
    this.options = options;
  }

  /**
   * Runs the function on what `detach` makes; its buffers move to the thread.
   * undefined where the caller had better do the work itself: closed, or the queue is full.
   */
  async run(detach: () => { readonly input: unknown; readonly buffers: ArrayBuffer[] }): Promise<unknown> {
    const threads = await this.start();
    if (this.isClosed || threads.queueSize >= this.options.queueMax) return undefined;
    const { input, buffers } = detach();
    return threads.run(input, { transferList: buffers }) as Promise<unknown>;
  }

  /** Lets running calls end, then stops the threads. */
  async close(): Promise<void> {
    this.isClosed = true;
    await (await this.started)?.close();
  }

  private start(): Promise<Piscina> {
    this.started ??= import('piscina').then(({ Piscina: Pool }) => {
      const { moduleFile, name, threadsMax, queueMax, heapMegabytesMax, idleMs = idleMsDefault } = this.options;
      return new Pool({
        filename: moduleFile,
        name,
        minThreads: 0,
        maxThreads: threadsMax,
        maxQueue: queueMax,
        idleTimeout: idleMs,
        ...(heapMegabytesMax !== undefined && { resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } }),
      });
    });
    return this.started;
  }
}

/**
 * The compiled form of a module, given by its path below the sources (`merge/merge-file`). Node 20 cannot load a
 * source in a thread, so from sources the build's output serves; undefined where there is none.
 */
export function compiledModule(path: string): string | undefined {
  const isSource = import.meta.url.endsWith('.ts');
  const file = fileURLToPath(new URL(`${isSource ? '../../dist' : '..'}/${path}.js`, import.meta.url));
  return existsSync(file) ? file : undefined;
}
