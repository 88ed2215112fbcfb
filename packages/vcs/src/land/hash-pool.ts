import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import type { BlobId } from '../core/ids.ts';
import type { AdmittedIntent } from '../intent/edit.ts';

/** From this size a thread's round trip (0.2 ms and a copy) costs less than the hash (3 ms a MiB) would block. */
const pooledBytesMin = 512 * 1024;
const queueMax = 64;

/** Hashes large contents in a thread, so that the event loop stays free for other agents. */
export class HashPool {
  /** Contents that went to a thread. */
  pooled = 0;
  private threads: Promise<Piscina> | undefined;
  private readonly moduleFile = compiledModule();

  isNeeded(admitted: AdmittedIntent): boolean {
    return this.moduleFile !== undefined && admitted.edits.some((edit) => isLarge(edit));
  }

  async hash(admitted: AdmittedIntent): Promise<ReadonlyMap<Buffer, BlobId>> {
    const threads = await (this.threads ??= startThreads(this.moduleFile ?? ''));
    const ids = new Map<Buffer, BlobId>();
    await Promise.all(
      admitted.edits.map(async (edit) => {
        if (!isLarge(edit) || threads.queueSize >= queueMax) return;
        this.pooled++;
        const copy = new Uint8Array(edit.content);
        ids.set(edit.content, (await threads.run(copy, { transferList: [copy.buffer] })) as BlobId);
      }),
    );
    return ids;
  }

  async close(): Promise<void> {
    await (await this.threads)?.close();
  }
}

const isLarge = (edit: AdmittedIntent['edits'][number]): edit is typeof edit & { content: Buffer } =>
  edit.kind === 'put' && edit.content !== undefined && edit.content.length >= pooledBytesMin;

async function startThreads(filename: string): Promise<Piscina> {
  const { Piscina: Threads } = await import('piscina');
  return new Threads({
    filename,
    name: 'blobIdOf',
    minThreads: 0,
    maxThreads: 2,
    maxQueue: queueMax * 2,
    idleTimeout: 1000,
  });
}

/** Node 20 cannot load the source in a thread, so from sources the build's output serves, where there is one. */
function compiledModule(): string | undefined {
  const isSource = import.meta.url.endsWith('.ts');
  const file = fileURLToPath(new URL(isSource ? '../../dist/format/hash.js' : '../format/hash.js', import.meta.url));
  return existsSync(file) ? file : undefined;
}
