import type { BlobId } from '../core/ids.ts';
import { compiledModule, Threads } from '../core/threads.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';

/** From this size a thread's round trip (0.2 ms and a copy) costs less than the hash (3 ms a MiB) would block. */
const pooledBytesMin = 512 * 1024;
const queueMax = 64;

/** Hashes large contents in a thread, so that the event loop stays free for other agents. */
export class HashPool {
  private readonly threads: Threads | undefined;

  constructor() {
    const moduleFile = compiledModule('format/hash');
    this.threads =
      moduleFile === undefined ? undefined : new Threads({ moduleFile, name: 'blobIdOf', threadsMax: 2, queueMax });
  }

  isNeeded(admitted: AdmittedIntent): boolean {
    return this.threads !== undefined && admitted.edits.some((edit) => isLarge(edit));
  }

  /** Gives large contents their ids, as many as there is room for. */
  async hash(admitted: AdmittedIntent): Promise<void> {
    await Promise.all(
      admitted.edits.map(async (edit) => {
        if (!isLarge(edit)) return;
        const id = await this.threads?.run(() => {
          const input = new Uint8Array(edit.content);
          return { input, buffers: [input.buffer] };
        });
        if (id !== undefined) edit.blob = id as BlobId;
      }),
    );
  }

  async close(): Promise<void> {
    await this.threads?.close();
  }
}

const isLarge = (edit: AdmittedIntent['edits'][number]): edit is Edit & { kind: 'put'; content: Buffer } =>
  edit.kind === 'put' && edit.content !== undefined && edit.content.length >= pooledBytesMin;
