import { openRepo, type CompactReport } from '@mound/vcs';

import { answerParent } from '../../harness/asked-process.ts';

/** `start` compacts until `stop`, which is answered with the sum of it all. */
export type CompacterRequest = { readonly kind: 'start'; readonly dir: string } | { readonly kind: 'stop' };

const pauseMs = 100;

class Compacter {
  readonly #stopping = new AbortController();
  #total: CompactReport = { entries: 0, segments: 0, bytesBefore: 0, bytesAfter: 0 };
  #running: Promise<void> = Promise.resolve();

  async handle(request: CompacterRequest): Promise<CompactReport> {
    if (request.kind === 'start') this.#running = this.#run(request.dir);
    else {
      this.#stopping.abort();
      await this.#running;
    }
    return this.#total;
  }

  async #run(dir: string): Promise<void> {
    const { signal } = this.#stopping;
    const repo = await openRepo(dir);
    try {
      while (!signal.aborted) {
        const { entries, segments, bytesBefore, bytesAfter } = await repo.compact({ signal });
        const total = this.#total;
        this.#total = {
          entries: total.entries + entries,
          segments: total.segments + segments,
          bytesBefore: total.bytesBefore + bytesBefore,
          bytesAfter: total.bytesAfter + bytesAfter,
        };
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    } finally {
      await repo.close();
    }
  }

  async end(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}

/** A process of `mound bench scale` that compacts the log while the others write, as `mound gc` does. */
export async function main(): Promise<void> {
  const compacter = new Compacter();
  await answerParent(
    (request) => compacter.handle(request as CompacterRequest),
    () => compacter.end(),
  );
}
