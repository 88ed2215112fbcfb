import { openRepo, type Repo } from '@mound/vcs';
import { hash } from 'blake3-wasm';

import { answerParent } from '../../harness/asked-process.ts';

/** What a reader of a large repository is asked; it has a process of its own, whose memory is its own. */
export type ReaderRequest =
  | { readonly kind: 'open'; readonly dir: string }
  /** Old versions: a path as of a seq. */
  | { readonly kind: 'read'; readonly paths: readonly string[]; readonly seqs: readonly number[] }
  | { readonly kind: 'snapshots'; readonly seqs: readonly number[] }
  | { readonly kind: 'list'; readonly seq: number; readonly times: number }
  | { readonly kind: 'log'; readonly paths: readonly string[] }
  /** Lists all files as of one seq, again and again. */
  | { readonly kind: 'scan'; readonly seq: number; readonly forMs: number };

export interface OpenAnswer {
  readonly openMs: number;
  readonly residentMiB: number;
}

export interface ReadAnswer {
  readonly timesUs: Float64Array;
  /** BlobId of the bytes that came; empty where there was nothing. */
  readonly blobs: readonly string[];
  readonly residentMiB: number;
}

export interface ListAnswer {
  readonly timesMs: Float64Array;
  /** Files of each listing. */
  readonly counts: readonly number[];
  /** Hash over path, version and blob of all rows of each listing: equal where the listings are. */
  readonly digests: readonly string[];
}

export interface LogAnswer {
  readonly timesMs: Float64Array;
  readonly entries: number;
}

const residentMiB = (): number => process.memoryUsage().rss / 1024 / 1024;

class Reader {
  #repo: Repo | undefined;

  async handle(request: ReaderRequest): Promise<unknown> {
    if (request.kind === 'open') return this.#open(request.dir);
    const repo = this.#repo;
    if (repo === undefined) throw new Error('asked before it was opened');
    switch (request.kind) {
      case 'read':
        return read(repo, request.paths, request.seqs);
      case 'snapshots':
        return openSnapshots(repo, request.seqs);
      case 'list':
        return list(repo, request.seq, (done) => done < request.times);
      case 'log':
        return log(repo, request.paths);
      case 'scan': {
        const until = performance.now() + request.forMs;
        return list(repo, request.seq, (done) => done === 0 || performance.now() < until);
      }
    }
  }

  async #open(dir: string): Promise<OpenAnswer> {
    const from = performance.now();
    this.#repo = await openRepo(dir);
    return { openMs: performance.now() - from, residentMiB: residentMiB() };
  }

  async end(): Promise<void> {
    await this.#repo?.close();
  }
}

function read(repo: Repo, paths: readonly string[], seqs: readonly number[]): ReadAnswer {
  const timesUs = new Float64Array(paths.length);
  const blobs: string[] = [];
  for (const [at, path] of paths.entries()) {
    const from = performance.now();
    const content = repo.snapshot(seqs[at]).read(path);
    timesUs[at] = (performance.now() - from) * 1000;
    blobs.push(content === undefined ? '' : (hash(content) as Buffer).toString('hex'));
  }
  return { timesUs, blobs, residentMiB: residentMiB() };
}

/** Microseconds for one, on average: a clock would not see a single one. */
function openSnapshots(repo: Repo, seqs: readonly number[]): number {
  const from = performance.now();
  for (const seq of seqs) repo.snapshot(seq);
  return ((performance.now() - from) * 1000) / seqs.length;
}

async function list(repo: Repo, seq: number, goesOn: (done: number) => boolean): Promise<ListAnswer> {
  const timesMs: number[] = [];
  const counts: number[] = [];
  const digests: string[] = [];
  const snapshot = repo.snapshot(seq);
  while (goesOn(timesMs.length)) {
    const from = performance.now();
    const heads = snapshot.list();
    timesMs.push(performance.now() - from);
    counts.push(heads.length);
    const rows = heads.map(({ path, version, blob }) => `${path} ${version} ${blob}\n`).join('');
    digests.push((hash(Buffer.from(rows)) as Buffer).toString('hex'));
    // Within a turn of the event loop the store reads from one state of the disk: the next listing must see a new one.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { timesMs: Float64Array.from(timesMs), counts, digests };
}

function log(repo: Repo, paths: readonly string[]): LogAnswer {
  let entries = 0;
  const timesMs = Float64Array.from(paths, (path) => {
    const from = performance.now();
    for (const { seq } of repo.log({ path })) entries += seq > 0 ? 1 : 0;
    return performance.now() - from;
  });
  return { timesMs, entries };
}

/** A process of `mound bench scale` that reads a repository. */
export async function main(): Promise<void> {
  const reader = new Reader();
  await answerParent(
    (request) => reader.handle(request as ReaderRequest),
    () => reader.end(),
  );
}
