import { MoundError, isMoundError } from '../core/errors.ts';
import { conflictIdOf, parkedIdOf, type RepoPath } from '../core/ids.ts';
import type { Outcome, Rejected } from '../core/outcome.ts';
import type { Clock } from '../core/ports.ts';
import type { LogEntry } from '../format/entry.ts';
import { pack, unpack } from '../format/codec.ts';
import { seqKey } from '../format/keys.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { isRejected, reject } from '../intent/reject.ts';
import type { LogReader } from '../log/log-reader.ts';
import { mergeFile, type MergePool } from '../merge/index.ts';
import type { Counters } from '../store/counters.ts';
import { BatchWriter } from './batch-writer.ts';
import { decide } from './decide.ts';
import type { HashPool } from './hash-pool.ts';
import { encodeKept } from './kept.ts';
import { commitSpec, LaggingIndex, operationSpec } from './lagging-index.ts';
import { isAnyFreeze, LandingState } from './landing-state.ts';
import { StaleMerge, type MergedStale } from './merge-stale.ts';
import { outcomeOfEntry } from './outcomes.ts';
import { prepare, type KnownIds } from './prepare.ts';
import type { LandingExtras, PreparedIntent } from './prepared.ts';

/** Intents and acts in one transaction at most, and their bytes. */
const batchCountMax = 1024;
const batchBytesMax = 16 * 1024 * 1024;
/** Intents that wait for their transaction; a further one waits for room. */
const queueCountMax = 16 * 1024;
const roomWaitMs = 10_000;
/** An intent found stale this often is merged inside the batch, where nothing can overtake it. */
const attemptsMax = 4;
/** Inputs of a merge inside the batch; larger ones go on merging outside. */
const mergeInBatchBytesMax = 1024 * 1024;

interface IntentItem {
  readonly kind: 'intent';
  readonly intent: PreparedIntent;
  readonly bytes: number;
  settle(outcome: Outcome): void;
  fail(error: unknown): void;
}

interface ActItem {
  readonly kind: 'act';
  readonly bytes: 0;
  act(writer: BatchWriter, counters: Counters): () => void;
  fail(error: unknown): void;
}

type Item = IntentItem | ActItem;

/** What a transaction found for one item, to be told after the flush. */
type Finding = () => void;

/**
 * Collects intents and lands them in groups: one transaction and one flush
 * serve all that wait. Decides in order; merges and hashes outside.
 */
export class Lander {
  readonly operations: LaggingIndex;
  readonly commits: LaggingIndex;
  private readonly reader: LogReader;
  private readonly clock: Clock;
  private readonly mergePool: MergePool;
  private readonly hashPool: HashPool;
  private queue: Item[] = [];
  private lastGit: Promise<unknown> = Promise.resolve();
  private isScheduled = false;
  private inFlight = 0;
  private readonly idle: (() => void)[] = [];
  private readonly room: (() => void)[] = [];
  /** Called after each transaction that appended something. */
  onAdvance: (() => void) | undefined;

  constructor(reader: LogReader, clock: Clock, mergePool: MergePool, hashPool: HashPool) {
    this.reader = reader;
    this.clock = clock;
    this.mergePool = mergePool;
    this.hashPool = hashPool;
    this.operations = new LaggingIndex(reader, operationSpec);
    this.commits = new LaggingIndex(reader, commitSpec);
  }

  async land(admitted: AdmittedIntent, extras: LandingExtras): Promise<Outcome> {
    this.reader.store.mustBeOpen();
    this.inFlight++;
    try {
      if (this.queue.length >= queueCountMax && !(await this.hasRoom())) {
        const message = `the queue of ${queueCountMax} intents stayed full for ${roomWaitMs} ms`;
        return reject('overloaded', message, 'land fewer intents at once, or later');
      }
      const hashing = this.hashed(admitted, extras);
      const known = hashing && (await hashing);
      const prepared = prepare(this.reader, admitted, extras, this.clock.now(), known);
      if (isRejected(prepared)) return prepared;
      return await this.enqueueIntent(prepared);
    } finally {
      this.leave();
    }
  }

  /** Ids of large contents, hashed in a thread. Imported commits keep the order of their calls all the same. */
  private hashed(admitted: AdmittedIntent, extras: LandingExtras): Promise<KnownIds | undefined> | undefined {
    const hashing = this.hashPool.isNeeded(admitted) ? this.hashPool.hash(admitted) : undefined;
    if (!extras.git) return hashing;
    const before = this.lastGit;
    const turn = (async () => {
      await before;
      return hashing;
    })();
    this.lastGit = turn.catch(() => undefined);
    return turn;
  }

  /** Writes something that is no intent (a mark, a fork, a tag) in the same order and transaction. */
  async act<T>(write: (writer: BatchWriter, counters: Counters) => T): Promise<T> {
    this.reader.store.mustBeOpen();
    this.inFlight++;
    try {
      return await new Promise<T>((settle, fail) => {
        const act = (writer: BatchWriter, counters: Counters): Finding => {
          const value = write(writer, counters);
          return () => settle(value);
        };
        this.enqueue({ kind: 'act', bytes: 0, act, fail });
      });
    } finally {
      this.leave();
    }
  }

  /** Resolves when nothing is in flight any more. */
  async drained(): Promise<void> {
    if (this.inFlight > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private leave(): void {
    this.inFlight--;
    if (this.inFlight === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  private async hasRoom(): Promise<boolean> {
    return new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), roomWaitMs);
      this.room.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  private enqueueIntent(intent: PreparedIntent): Promise<Outcome> {
    const bytes = intent.edits.reduce((sum, edit) => sum + edit.body.bytes.length, 0);
    return new Promise((settle, fail) => this.enqueue({ kind: 'intent', intent, bytes, settle, fail }));
  }

  private enqueue(item: Item): void {
    this.queue.push(item);
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled || this.queue.length === 0) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.runBatch(this.takeBatch());
      for (const resolve of this.room.splice(0, Math.max(0, queueCountMax - this.queue.length))) resolve();
      this.schedule();
    });
  }

  private takeBatch(): Item[] {
    let bytes = 0;
    let count = 0;
    for (const item of this.queue) {
      if (count > 0 && (count === batchCountMax || bytes + item.bytes > batchBytesMax)) break;
      bytes += item.bytes;
      count++;
    }
    const batch = this.queue.slice(0, count);
    this.queue = this.queue.slice(count);
    return batch;
  }

  private runBatch(items: readonly Item[]): void {
    const { store } = this.reader;
    let written: readonly LogEntry[] = [];
    let findings: readonly Finding[];
    try {
      findings = store.transact((counters) => {
        const writer = new BatchWriter(this.reader, counters);
        const batch = new Batch(this, this.reader, writer, counters);
        const found = items.map((item) => batch.decideItem(item));
        writer.finish();
        this.operations.drain(counters);
        this.commits.drain(counters);
        ({ written } = writer);
        return found;
      });
    } catch (error) {
      this.recover(items, error);
      return;
    }
    for (const entry of written) this.reader.remember(entry);
    this.operations.learn(written);
    this.commits.learn(written);
    for (const tell of findings) tell();
    if (written.length > 0) {
      store.wake();
      this.onAdvance?.();
    }
  }

  /** The transaction was rolled back whole: nothing of it is acknowledged. */
  private recover(items: readonly Item[], error: unknown): void {
    this.reader.forget();
    this.operations.forget();
    this.commits.forget();
    // One faulty item must not fail its neighbours, so each is tried on its own.
    if (items.length > 1 && !isMoundError(error, 'disk-full')) {
      for (const item of items) this.runBatch([item]);
      return;
    }
    for (const item of items) item.fail(error);
  }

  /** Merges a stale intent against the newest state and offers it again. */
  retry(item: IntentItem, branchId: number): void {
    void (async () => {
      const { store } = this.reader;
      store.refresh();
      const merge = new StaleMerge(this.reader, branchId, new LandingState(this.reader, branchId, false));
      const plan = merge.plan(item.intent);
      const results = await Promise.all(plan.jobs.map((job) => this.mergePool.merge(job.input)));
      const merged = merge.settle(item.intent, plan, results);
      if (merged.kind === 'merged') this.enqueue({ ...item, intent: merged.intent });
      else this.enqueueConflict(item, branchId, merged);
    })().catch((error: unknown) => item.fail(error));
  }

  private enqueueConflict(item: IntentItem, branchId: number, conflict: FoundConflict): void {
    const act = (writer: BatchWriter): Finding => {
      const outcome = keepConflict(writer, item.intent, branchId, conflict);
      return () => item.settle(outcome);
    };
    this.enqueue({ kind: 'act', bytes: 0, act, fail: (error) => item.fail(error) });
  }
}

type FoundConflict = MergedStale & { readonly kind: 'conflict' };

/** Records a conflict with the whole intent; a resolution that conflicts again leaves its conflict open. */
function keepConflict(
  writer: BatchWriter,
  intent: PreparedIntent,
  branchId: number,
  { at, paths }: FoundConflict,
): Outcome {
  const { admitted, extras } = intent;
  if (extras.resolves > 0) {
    const names = paths.map((row) => row.path);
    const message = `${names.join(', ')} changed again while the conflict was being resolved`;
    return reject('resolution-stale', message, 'show the conflict again and resolve it against the newest state', {
      paths: names,
    });
  }
  const body = writer.keep(encodeKept(admitted));
  const seq = writer.append({
    kind: 'conflict',
    time: intent.time,
    branchId,
    authorId: writer.authorId(admitted.author),
    operationId: admitted.operationId,
    asked: admitted.operationId === undefined ? undefined : intent.asked,
    task: admitted.task,
    comparedAt: at,
    paths,
    ...body,
    unparks: extras.unparks,
  });
  writer.open('conflicts', seq);
  if (extras.unparks > 0) writer.close('parked', extras.unparks, seq);
  return { kind: 'conflicted', seq, conflict: conflictIdOf(seq), paths: paths.map((row) => row.path as RepoPath) };
}

/** One transaction's worth of decisions. */
class Batch {
  private readonly lander: Lander;
  private readonly reader: LogReader;
  private readonly writer: BatchWriter;
  private readonly counters: Counters;
  private readonly anyFreeze: boolean;
  /** Operation ids of this batch: the index learns them only once it is flushed. */
  private readonly operations = new Map<string, number>();

  constructor(lander: Lander, reader: LogReader, writer: BatchWriter, counters: Counters) {
    this.lander = lander;
    this.reader = reader;
    this.writer = writer;
    this.counters = counters;
    this.anyFreeze = isAnyFreeze(reader);
    lander.operations.catchUp(counters);
    lander.commits.catchUp(counters);
  }

  decideItem(item: Item): Finding {
    if (item.kind === 'act') return item.act(this.writer, this.counters);
    const { intent } = item;
    const { admitted } = intent;
    const first = this.firstOutcome(intent);
    if (first instanceof MoundError) return () => item.fail(first);
    if (first !== undefined) return () => item.settle(first);
    const closed = this.closedAlready(intent);
    if (closed !== undefined) return () => item.settle(closed);
    const branchId = this.reader.getBranchId(admitted.branch);
    if (branchId === undefined) throw new MoundError('no-such-branch', `there is no branch '${admitted.branch}'`);
    const before = this.counters.lastSeq;
    const outcome = this.decideIntent(intent, branchId);
    if (outcome === undefined) return () => this.lander.retry(item, branchId);
    if (admitted.operationId !== undefined && this.counters.lastSeq > before) {
      this.operations.set(admitted.operationId, before + 1);
    }
    return () => item.settle(outcome);
  }

  /** undefined: stale, to be merged outside. */
  private decideIntent(intent: PreparedIntent, branchId: number): Outcome | undefined {
    const state = new LandingState(this.reader, branchId, this.anyFreeze);
    const verdict = decide(state, intent);
    switch (verdict.kind) {
      case 'land': {
        const { seq, commit } = this.writer.land(branchId, intent, verdict.edits, verdict.staleReads);
        const entry = this.writer.written.at(-1);
        const outcome = entry && outcomeOfEntry(this.reader, entry);
        return outcome ?? ({ kind: 'landed', seq, commit } as Outcome);
      }
      case 'unchanged':
        this.keepUnchanged(intent, verdict.seq);
        return { kind: 'unchanged', seq: verdict.seq } as Outcome;
      case 'parked':
        return this.park(intent, branchId, verdict.paths);
      case 'rejected':
        return verdict;
      case 'stale':
        return this.mergeHere(intent, branchId, state);
    }
  }

  /** After too many tries the merge runs here, where no other landing can come between. */
  private mergeHere(intent: PreparedIntent, branchId: number, state: LandingState): Outcome | undefined {
    if (intent.attempts < attemptsMax) return undefined;
    const merge = new StaleMerge(this.reader, branchId, state);
    const plan = merge.plan(intent);
    if (plan.size > mergeInBatchBytesMax) return undefined;
    const results = plan.jobs.map((job) => mergeFile(job.input));
    const merged: MergedStale = merge.settle(intent, plan, results);
    if (merged.kind === 'conflict') return keepConflict(this.writer, intent, branchId, merged);
    return this.decideIntent(merged.intent, branchId);
  }

  private park(intent: PreparedIntent, branchId: number, paths: readonly RepoPath[]): Outcome {
    const { admitted, extras } = intent;
    // Still frozen somewhere: it stays parked as it is.
    if (extras.unparks > 0) {
      return { kind: 'parked', seq: extras.unparks, parked: parkedIdOf(extras.unparks), paths } as Outcome;
    }
    const body = this.writer.keep(encodeKept(admitted));
    const seq = this.writer.append({
      kind: 'parked',
      time: intent.time,
      branchId,
      authorId: this.writer.authorId(admitted.author),
      operationId: admitted.operationId,
      asked: admitted.operationId === undefined ? undefined : intent.asked,
      task: admitted.task,
      paths,
      ...body,
    });
    this.writer.open('parked', seq);
    return { kind: 'parked', seq, parked: parkedIdOf(seq), paths };
  }

  /** A resolution or an unparking of what was ended meanwhile. */
  private closedAlready({ extras }: PreparedIntent): Rejected | undefined {
    const { conflicts, parked } = this.reader.store.tables;
    const isOpen = (table: typeof conflicts, seq: number): boolean =>
      table.getBinary(seqKey(seq))?.readUIntBE(0, 6) === 0;
    if (extras.resolves > 0 && !isOpen(conflicts, extras.resolves)) {
      const message = `conflict ${conflictIdOf(extras.resolves)} is not open`;
      return reject('no-such-conflict', message, "list the open ones with 'mound conflicts'");
    }
    if (extras.unparks > 0 && !isOpen(parked, extras.unparks)) {
      return reject(
        'no-such-conflict',
        `${parkedIdOf(extras.unparks)} is not parked any more`,
        'nothing is to be done',
      );
    }
    return undefined;
  }

  private firstOutcome(intent: PreparedIntent): Outcome | MoundError | undefined {
    const { operationId, branch } = intent.admitted;
    if (operationId === undefined || intent.extras.unparks > 0) return undefined;
    const seq = this.operations.get(operationId) ?? this.lander.operations.seqOf(operationId);
    if (seq === undefined) return this.firstUnchanged(intent, operationId);
    const entry = this.reader.mustGetEntry(seq);
    const asked = 'asked' in entry ? entry.asked : undefined;
    const isSame =
      asked !== undefined && intent.asked.equals(asked) && entry.branchId === this.reader.getBranchId(branch);
    return isSame ? outcomeOfEntry(this.reader, entry) : mismatch(operationId, seq);
  }

  private firstUnchanged(intent: PreparedIntent, operationId: string): Outcome | MoundError | undefined {
    const bytes = this.reader.store.tables.unchanged.getBinary(Buffer.from(operationId));
    if (bytes === undefined) return undefined;
    const [seq, asked] = unpack(bytes) as [number, Uint8Array];
    return intent.asked.equals(asked) ? ({ kind: 'unchanged', seq } as Outcome) : mismatch(operationId, seq);
  }

  private keepUnchanged(intent: PreparedIntent, seq: number): void {
    const { operationId } = intent.admitted;
    if (intent.extras.unparks > 0) {
      const closing = this.writer.append({
        kind: 'unparked',
        time: intent.time,
        branchId: this.reader.getBranchId(intent.admitted.branch) ?? 0,
        authorId: this.writer.authorId(intent.admitted.author),
        parked: intent.extras.unparks,
        outcome: 'unchanged',
        code: undefined,
        message: 'every change was true already',
      });
      this.writer.close('parked', intent.extras.unparks, closing);
    } else if (operationId !== undefined) {
      this.reader.store.tables.unchanged.putSync(Buffer.from(operationId), pack([seq, intent.asked]));
    }
  }
}

function mismatch(operationId: string, seq: number): MoundError {
  const message = `operation id '${operationId}' stands for another intent (seq ${seq}); use a new id for new content`;
  return new MoundError('operation-mismatch', message, { operationId, seq });
}
