import { absent, openRepo, signalsRecord, version, type Author, type Change, type Repo } from '@mound/vcs';

import { runInFlight } from '../harness/measurement.ts';
import type { CommitOperation, FileChange, InitialFiles } from '../workloads/operation.ts';
import { faultsOfAcknowledged } from './acknowledged-faults.ts';
import type { PreparedSubject, Subject } from './subject.ts';

const seeder: Author = { name: 'bench', kind: 'system' };
const filesPerSeedIntent = 2_000;

export interface MoundOptions {
  readonly name: string;
  /** An injected slowdown: the negative control, which must be seen in the figures. */
  readonly busyMsPerCommit?: number;
  /** Default true; false turns the signals on files off in the repo. */
  readonly watchesFiles?: boolean;
}

/** Nothing is noticed about files. */
const noSignals = { oscillation: null, pileOn: false, megafile: null, contention: null } as const;

/** Mound embedded in this process, through its public API. */
export function moundSubject(options: MoundOptions = { name: 'mound' }): Subject {
  return {
    name: options.name,
    durability: 'flushed',
    pace: 'in-flight',
    available: () => Promise.resolve(true),
    prepare: async (files, dir) => {
      const repo = await openRepo(dir, { create: true });
      try {
        if (options.watchesFiles === false) {
          await repo.land({ author: seeder, message: 'No signals', records: [signalsRecord(noSignals, absent)] });
        }
        return preparedMound(dir, repo, await seedMound(repo, files), options.busyMsPerCommit ?? 0);
      } catch (error) {
        await repo.close();
        throw error;
      }
    },
    attach: async (dir) => {
      const repo = await openRepo(dir);
      const seen: SeenVersions = new Map();
      for (const { path, version: seq } of repo.snapshot().list()) seen.set(path, seq);
      return preparedMound(dir, repo, seen, options.busyMsPerCommit ?? 0);
    },
  };
}

/** FileVersion of each path as the agents have seen it; none where the path is absent. */
export type SeenVersions = Map<string, number>;

export async function seedMound(repo: Repo, files: InitialFiles): Promise<SeenVersions> {
  const seen: SeenVersions = new Map();
  const paths = [...files];
  for (let first = 0; first < paths.length; first += filesPerSeedIntent) {
    const part = paths.slice(first, first + filesPerSeedIntent);
    const changes = part.map(([path, content]): Change => ({ kind: 'put', path, content, expect: absent }));
    const outcome = await repo.land({ author: seeder, message: 'Initial files', changes });
    if (outcome.kind !== 'landed') throw new Error(`mound: the initial files came out as ${outcome.kind}`);
    for (const [path] of part) seen.set(path, outcome.seq);
  }
  return seen;
}

function changeOf(change: FileChange, seen: SeenVersions): Change {
  const { path, content, mode } = change;
  const seq = seen.get(path);
  const expect = seq === undefined ? absent : version(seq);
  if (content === null) return { kind: 'delete', path, expect };
  return { kind: 'put', path, content, expect, ...(mode === undefined ? {} : { mode }) };
}

/** Lands an operation on what its agent has seen; the seq. */
export async function landOperation(
  repo: Pick<Repo, 'land'>,
  operation: CommitOperation,
  seen: SeenVersions,
): Promise<number> {
  const outcome = await repo.land({
    author: { name: operation.agent, kind: 'agent', agent: operation.agent },
    message: operation.message,
    rationale: operation.rationale,
    operationId: operation.id,
    changes: operation.changes.map((change) => changeOf(change, seen)),
  });
  if (outcome.kind !== 'landed') throw new Error(`mound: ${operation.id} came out as ${outcome.kind}`);
  for (const { path, content } of operation.changes) {
    if (content === null) seen.delete(path);
    else seen.set(path, outcome.seq);
  }
  return outcome.seq;
}

function stayBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

function preparedMound(dir: string, opened: Repo, seen: SeenVersions, busyMs: number): PreparedSubject {
  let repo = opened;
  return {
    notes: [],
    run: (operations, options) =>
      runInFlight(operations, options, async (operation) => {
        if (busyMs > 0) stayBusy(busyMs);
        await landOperation(repo, operation, seen);
      }),
    verify: async (acknowledged) => {
      // Opened anew, so that it is read from disk and not from what this process remembers.
      await repo.close();
      repo = await openRepo(dir);
      const snapshot = repo.snapshot();
      return faultsOfAcknowledged(acknowledged, operationIds(repo), (path) => snapshot.read(path));
    },
    cleanup: () => repo.close(),
  };
}

function* operationIds(repo: Repo): Iterable<string> {
  for (const { operationId } of repo.log()) if (operationId !== undefined) yield operationId;
}
