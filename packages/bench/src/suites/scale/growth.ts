import type { Repo } from '@mound/vcs';

import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { runInFlight } from '../../harness/measurement.ts';
import { percentileOf } from '../../harness/statistics.ts';
import { diskBytesOf } from '../../harness/temp-dir.ts';
import { landOperation, type SeenVersions } from '../../subjects/mound.ts';
import type { PreparedSubject } from '../../subjects/subject.ts';
import type { CommitOperation, OperationStream } from '../../workloads/operation.ts';
import type { Journal } from './journal.ts';

/** What a stretch of commits came to. */
export interface Stretch {
  readonly fromCommit: number;
  readonly commits: number;
  readonly seconds: number;
  /** The floor program between the stretch's pieces, with a part of the same commits. */
  readonly floorCommitsPerSecond: number;
  readonly latencyMsP50: number;
  readonly latencyMsP99: number;
  readonly bytes: number;
}

export interface GrowthContext {
  readonly repo: Repo;
  readonly dir: string;
  readonly seen: SeenVersions;
  readonly floor: PreparedSubject;
  readonly stream: OperationStream;
  readonly journal: Journal;
  readonly inFlight: number;
  readonly signal: AbortSignal;
}

/** Commits that are made up at once; between two pieces of a stretch the floor program has its turn. */
const pieceCommits = 10_000;
/** The floor program makes a part of the commits, so that its log does not fill the disk. */
const floorPart = 4;

/** Lands operations with so many in flight and notes each acknowledgement. */
export async function commitAndNote(
  { repo, seen, stream, journal, inFlight, signal }: GrowthContext,
  operations: readonly CommitOperation[],
  budgetMs: number,
): Promise<{ readonly commits: number; readonly seconds: number; readonly latenciesMs: Float64Array }> {
  const seqs = new Map<string, number>();
  const measured = await runInFlight(operations, { inFlight, budgetMs, signal }, async (operation) => {
    seqs.set(operation.id, await landOperation(repo, operation, seen));
  });
  const { acknowledged, seconds, latenciesMs = new Float64Array() } = measured;
  // Hashed outside of the measured time.
  for (const operation of operations.slice(0, acknowledged)) journal.add(operation, seqs.get(operation.id) ?? 0);
  stream.acknowledge(acknowledged);
  return { commits: acknowledged, seconds, latenciesMs };
}

/** Makes the next `commits` commits, the floor program in between. */
export async function growStretch(context: GrowthContext, commits: number): Promise<Stretch> {
  const { stream, journal, dir, floor, inFlight, signal } = context;
  const fromCommit = journal.length;
  const bytesBefore = await diskBytesOf(dir);
  const latencies: Float64Array[] = [];
  let [seconds, made, floorSeconds, floorMade] = [0, 0, 0, 0];
  while (made < commits) {
    throwIfInterrupted(signal);
    const piece = stream.peek(Math.min(pieceCommits, commits - made));
    const forFloor = piece.slice(0, Math.max(1, Math.ceil(piece.length / floorPart)));
    const beside = await floor.run(forFloor, { inFlight, budgetMs: Number.POSITIVE_INFINITY, signal });
    floorSeconds += beside.seconds;
    floorMade += beside.acknowledged;
    const measured = await commitAndNote(context, piece, Number.POSITIVE_INFINITY);
    seconds += measured.seconds;
    made += measured.commits;
    latencies.push(measured.latenciesMs);
  }
  const all = Float64Array.from(latencies.flatMap((some) => [...some]));
  return {
    fromCommit,
    commits: made,
    seconds,
    floorCommitsPerSecond: floorMade / floorSeconds,
    latencyMsP50: percentileOf(all, 0.5),
    latencyMsP99: percentileOf(all, 0.99),
    bytes: (await diskBytesOf(dir)) - bytesBefore,
  };
}
