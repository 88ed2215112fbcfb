import { compiledModule, Threads } from '../core/threads.ts';
import type { MergeDriver } from './driver.ts';
import { isBuiltIn } from './drivers/registry.ts';
import { textDriver } from './drivers/text.ts';
import { mergeFile, mergeWhole } from './merge-file.ts';
import { mergeQuickly } from './merge-quickly.ts';
import { sizeOf, type FileState, type MergeInput } from './merge-input.ts';
import type { MergeResult } from './merge-result.ts';
import { StructuralDriver } from './structure/structural.ts';
import type { ThreadInput } from './merge-thread.ts';

export interface MergePoolOptions {
  readonly threadsMax?: number;
  /** Bytes of the three contents together up to which a merge runs inline. */
  readonly inlineBytesMax?: number;
  /** Bytes of the inputs in threads and on the way to them up to which another one goes there. */
  readonly pooledBytesMax?: number;
  /** The compiled `merge-thread` module, for a program that runs from sources. */
  readonly moduleFile?: string;
}

/**
 * Measured on two cores with Node 20 (decision 21): a merge of small edits costs some 2 to 4 us a KiB inline, a trip
 * to a thread 0.2 ms on top. At 64 KiB that is as much as the merge itself, at 256 KiB less than half of it. The
 * bound is the lower of the two because texts without much in common take a hundred times as long.
 */
const inlineBytesMaxDefault = 64 * 1024;

const queuedMergesMax = 4096;
const pooledBytesMaxDefault = 64 * 1024 * 1024;
/** A thread that ends has to load its grammars again. */
const threadIdleMs = 30_000;
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
  /** Bytes of the inputs of those that have not come back. */
  #pooledBytes = 0;
  readonly #inlineBytesMax: number;
  readonly #pooledBytesMax: number;
  readonly #threads: Threads | undefined;

  constructor(options: MergePoolOptions = {}) {
    this.#inlineBytesMax = options.inlineBytesMax ?? inlineBytesMaxDefault;
    this.#pooledBytesMax = options.pooledBytesMax ?? pooledBytesMaxDefault;
    const moduleFile = options.moduleFile ?? compiledModule('merge/merge-thread');
    const threadsMax = options.threadsMax ?? 2;
    const bounds = {
      threadsMax,
      queueMax: queuedMergesMax,
      heapMegabytesMax: threadHeapMegabytesMax,
      idleMs: threadIdleMs,
    };
    this.#threads =
      moduleFile === undefined ? undefined : new Threads({ moduleFile, name: 'mergeInThread', ...bounds });
  }

  /** A driver that is no part of Mound runs inline: a thread does not have it. */
  async merge(input: MergeInput, driver: MergeDriver = textDriver): Promise<MergeResult> {
    const isLarge = sizeOf(input) > this.#inlineBytesMax;
    const decided = isLarge ? mergeWhole(input, driver) : mergeQuickly(input, driver);
    if (decided !== undefined) return decided;
    const threads =
      isBuiltIn(driver, input.path) && this.#pooledBytes < this.#pooledBytesMax ? this.#threads : undefined;
    const merged = await (threads && this.#inThread(threads, input, driver));
    if (merged !== undefined) return merged;
    if (driver instanceof StructuralDriver) await driver.load();
    return mergeFile(input, driver);
  }

  async #inThread(threads: Threads, input: MergeInput, driver: MergeDriver): Promise<MergeResult | undefined> {
    const bytes = sizeOf(input);
    this.#pooledBytes += bytes;
    try {
      return (await threads.run(() => {
        this.pooled++;
        const { input: copy, buffers } = detachedCopy(input);
        return { input: { input: copy, driver: driver.id } satisfies ThreadInput, buffers };
      })) as MergeResult | undefined;
    } finally {
      this.#pooledBytes -= bytes;
    }
  }

  /** Lets running merges end, then stops the threads; a merge asked for later runs inline. */
  async close(): Promise<void> {
    await this.#threads?.close();
  }
}

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
