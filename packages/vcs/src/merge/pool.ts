import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import { mergeFile, mergeWhole } from './merge-file.ts';
import type { FileState, MergeInput } from './merge-input.ts';
import type { MergeResult } from './merge-result.ts';

export interface MergePoolOptions {
  readonly threadsMax?: number;
  /** Bytes of the three contents together up to which a merge runs inline. */
  readonly inlineBytesMax?: number;
  /** The compiled `merge-file` module, for a program that runs from sources. */
  readonly moduleFile?: string;
}

/**
 * Measured on two cores with Node 20: a merge costs some 12 us a KiB inline, a trip
 * to a thread 0.2 to 0.4 ms whatever the size. At 64 KiB a merge holds the caller up
 * for 0.8 ms; from there on the trip costs less than half of what it frees.
 */
const inlineBytesMaxDefault = 64 * 1024;

const queuedMergesMax = 64;
const idleMs = 1000;
/** Of one thread's heap; a merge of three texts at the bound of `mergeFile` stays well below. */
const threadHeapMegabytesMax = 2048;

/**
 * Merges off the caller's thread where that is worth its overhead, and inline
 * otherwise: small inputs, those decided without comparing lines, all where there
 * is no compiled module to run in a thread, and when the queue is full, which
 * slows the producer instead of growing. The code is the same in both places.
 * Threads start with the first large merge and never keep a process alive.
 */
export class MergePool {
  /** Merges that went to a thread. */
  pooled = 0;
  readonly #threadsMax: number;
  readonly #inlineBytesMax: number;
  readonly #moduleFile: string | undefined;
  #threads: Promise<Piscina> | undefined;
  #isClosed = false;

  constructor(options: MergePoolOptions = {}) {
    this.#threadsMax = options.threadsMax ?? 2;
    this.#inlineBytesMax = options.inlineBytesMax ?? inlineBytesMaxDefault;
    this.#moduleFile = options.moduleFile ?? compiledModule();
  }

  async merge(input: MergeInput): Promise<MergeResult> {
    const decided = mergeWhole(input);
    if (decided !== undefined) return decided;
    if (this.#moduleFile === undefined || this.#isClosed || sizeOf(input) <= this.#inlineBytesMax) {
      return mergeFile(input);
    }
    const threads = await (this.#threads ??= startThreads(this.#moduleFile, this.#threadsMax));
    if (this.#isClosed || threads.queueSize >= queuedMergesMax) return mergeFile(input);
    this.pooled++;
    const copy = detachedCopy(input);
    return (await threads.run(copy.input, { transferList: copy.buffers })) as MergeResult;
  }

  /** Lets running merges end, then stops the threads; a merge asked for later runs inline. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#threads)?.close();
  }
}

async function startThreads(filename: string, threadsMax: number): Promise<Piscina> {
  const { Piscina: Threads } = await import('piscina');
  return new Threads({
    filename,
    name: 'mergeFile',
    minThreads: 0,
    maxThreads: threadsMax,
    maxQueue: queuedMergesMax,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: threadHeapMegabytesMax },
  });
}

/** Node 20 cannot load the source in a thread, so from sources the build's output serves, where there is one. */
function compiledModule(): string | undefined {
  const isSource = import.meta.url.endsWith('.ts');
  const file = fileURLToPath(new URL(isSource ? '../../dist/merge/merge-file.js' : './merge-file.js', import.meta.url));
  return existsSync(file) ? file : undefined;
}

const sizeOf = ({ base, current, incoming }: MergeInput): number =>
  (base?.content.length ?? 0) + (current?.content.length ?? 0) + (incoming?.content.length ?? 0);

/** A copy to move to a thread: cloning a view would copy all of the memory that it is a view of. */
function detachedCopy(input: MergeInput): { readonly input: MergeInput; readonly buffers: ArrayBuffer[] } {
  const buffers: ArrayBuffer[] = [];
  const copy = (state: FileState | null): FileState | null => {
    if (state === null) return null;
    const content = new Uint8Array(state.content);
    buffers.push(content.buffer);
    return { content, mode: state.mode };
  };
  const { path, base, current, incoming } = input;
  return { input: { path, base: copy(base), current: copy(current), incoming: copy(incoming) }, buffers };
}
