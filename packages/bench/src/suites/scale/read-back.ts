import { openRepo, seededRandom, type Repo } from '@mound/vcs';
import { hash } from 'blake3-wasm';

import type { AskedProcess } from '../../harness/asked-process.ts';
import { throwIfInterrupted } from '../../harness/interrupt.ts';
import type { InitialFiles } from '../../workloads/operation.ts';
import type { Journal } from './journal.ts';
import type { ReadAnswer, ReaderRequest } from './reader-process.ts';

/** Opened anew: every acknowledged commit is in the log once, where and with what it was acknowledged; a line a fault. */
export async function logFaults(dir: string, journal: Journal): Promise<string[]> {
  const repo = await openRepo(dir);
  try {
    return [...faultsOfLog(repo, journal)];
  } finally {
    await repo.close();
  }
}

function* faultsOfLog(repo: Repo, journal: Journal): Iterable<string> {
  const rows = journal.rowsByOperation();
  const found = new Set<string>();
  for (const { operationId, seq, changes } of repo.log()) {
    const at = operationId === undefined ? undefined : rows.get(operationId);
    if (operationId === undefined || at === undefined) continue;
    const { path, seq: told, blob } = journal.row(at);
    if (found.has(operationId)) yield `commit ${operationId} is there twice`;
    found.add(operationId);
    if (seq !== told) yield `commit ${operationId} is at ${seq}, acknowledged at ${told}`;
    const [change] = changes;
    if (change?.path !== path || change.blob !== blob) yield `commit ${operationId} holds other content than was put`;
  }
  for (const id of rows.keys()) if (!found.has(id)) yield `commit ${id} is not there`;
}

/** Every file's head is what was put last, or what was there from the start. */
export async function headFaults(dir: string, journal: Journal, files: InitialFiles): Promise<string[]> {
  const repo = await openRepo(dir);
  try {
    const faults: string[] = [];
    const newest = journal.newest();
    const heads = new Map(
      repo
        .snapshot()
        .list()
        .map((head) => [head.path as string, head]),
    );
    for (const [path, initial] of files) {
      const [head, row] = [heads.get(path), newest.get(path)];
      const expected = row?.blob ?? (hash(initial) as Buffer).toString('hex');
      if (head?.blob !== expected) faults.push(`${path} has another head than was put`);
      else if (row !== undefined && head.version !== row.seq) faults.push(`${path} is at version ${head.version}`);
    }
    if (heads.size !== files.size) faults.push(`there are ${heads.size} files instead of ${files.size}`);
    return faults;
  } finally {
    await repo.close();
  }
}

const pieceReads = 5_000;

export interface VersionsRead {
  readonly faults: readonly string[];
  readonly count: number;
  readonly timesUs: Float64Array;
  readonly residentMiB: number;
}

/** Reads old versions in random order and compares their bytes: all, or so many drawn at random. */
export async function readVersions(
  reader: AskedProcess<ReaderRequest>,
  journal: Pick<Journal, 'length' | 'row'>,
  most: number,
  seed: number,
  signal: AbortSignal,
): Promise<VersionsRead> {
  const chosen = drawn(journal.length, Math.min(most, journal.length), seed);
  const faults: string[] = [];
  const times: number[] = [];
  let residentMiB = 0;
  for (let from = 0; from < chosen.length; from += pieceReads) {
    throwIfInterrupted(signal);
    const rows = chosen.slice(from, from + pieceReads).map((at) => journal.row(at));
    const answer = await reader.ask<ReadAnswer>({
      kind: 'read',
      paths: rows.map(({ path }) => path),
      seqs: rows.map(({ seq }) => seq),
    });
    times.push(...answer.timesUs);
    residentMiB = answer.residentMiB;
    for (const [at, { path, seq, blob, operationId }] of rows.entries()) {
      if (answer.blobs[at] !== blob) faults.push(`${path} at ${seq} (${operationId}) has other bytes than were put`);
    }
  }
  return { faults, count: chosen.length, timesUs: Float64Array.from(times), residentMiB };
}

/** `count` different numbers below `bound`, in random order (a shuffle that stops early). */
function drawn(bound: number, count: number, seed: number): number[] {
  const random = seededRandom(seed);
  const moved = new Map<number, number>();
  return Array.from({ length: count }, (_, at) => {
    const from = at + random.below(bound - at);
    const value = moved.get(from) ?? from;
    moved.set(from, moved.get(at) ?? at);
    return value;
  });
}
