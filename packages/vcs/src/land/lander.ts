import { invariant, isMoundError } from '../core/errors.ts';
import type { Outcome, Rejected } from '../core/outcome.ts';
import type { Clock } from '../core/ports.ts';
import type { LogEntry } from '../format/entry.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { isRejected, reject } from '../intent/reject.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { MergePool } from '../merge/index.ts';
import type { Counters } from '../store/counters.ts';
import { BatchWriter } from './batch-writer.ts';
import { Batch, type Candidate, type Decision } from './batch.ts';
import { digestAsked } from './commit-body.ts';
import type { DriverChoice } from './driver-choice.ts';
import type { HashPool } from './hash-pool.ts';
import { firstOutcomeOf } from './first-outcome.ts';
import { commitSpec, LaggingIndex, operationSpec } from './lagging-index.ts';
import { LandingQueue, queueCountMax, roomWaitMs } from './landing-queue.ts';
import { LandingState } from './landing-state.ts';
import { DecisionShelf } from './decision-shelf.ts';
import { RuleStore } from './rule-store.ts';
import { StaleMerge } from './merge-stale.ts';
import { prepare } from './prepare.ts';
import { WaitingLine, WaitingLines } from './waiting-line.ts';
import { Waits } from './waits.ts';
import type { LandingExtras, PreparedIntent } from './prepared.ts';

/** How soon an intent on a path that another process holds for a merge is asked again. */
const heldPollMs = 10;

interface IntentItem extends Candidate {
  readonly kind: 'intent';
  readonly bytes: number;
  /** When it was offered first, by `performance.now()`. */
  readonly since: number;
  /** Who waits until this one has ended. */
  readonly line: WaitingLine<IntentItem>;
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

const noFindings = (): void => undefined;

/** What a transaction found for one item, to be told after the flush. */
type Finding = () => void;

/**
 * Collects intents and lands them in groups: one transaction and one flush
 * serve all that wait. Decides in order; merges, hashes and encodes outside.
 */
export class Lander {
  readonly operations: LaggingIndex;
  readonly commits: LaggingIndex;
  readonly rules: RuleStore;
  readonly shelf: DecisionShelf;
  readonly waits = new Waits();
  private readonly reader: LogReader;
  private readonly clock: Clock;
  private readonly mergePool: MergePool;
  private readonly hashPool: HashPool;
  readonly choice: DriverChoice;
  private readonly queue = new LandingQueue<Item>();
  /** Of the batch that ends: to come before all others in the next. */
  private readonly first: Item[] = [];
  private readonly lines = new WaitingLines<IntentItem>();
  private isScheduled = false;
  private inFlight = 0;
  private readonly idle: (() => void)[] = [];
  /** Called after each transaction that appended something. */
  onAdvance: (() => void) | undefined;
  /** Called after a transaction that landed what the incoming side of open conflicts is, with their seqs. */
  onMetSides: ((conflicts: readonly number[]) => void) | undefined;
  /** Called where freezes ended by themselves. */
  onThawed: (() => void) | undefined;
  /** Called after an intent was parked here. */
  onParked: (() => void) | undefined;

  constructor(reader: LogReader, clock: Clock, mergePool: MergePool, hashPool: HashPool, choice: DriverChoice) {
    this.choice = choice;
    this.reader = reader;
    this.clock = clock;
    this.mergePool = mergePool;
    this.hashPool = hashPool;
    this.operations = new LaggingIndex(reader, operationSpec);
    this.commits = new LaggingIndex(reader, commitSpec);
    this.rules = new RuleStore(reader);
    this.shelf = new DecisionShelf(reader);
  }

  /** Outcome of an intent, once it is flushed. Rejects with a fault of the store, `operation-mismatch` or `repo-closed`. */
  land(admitted: AdmittedIntent, extras: LandingExtras): Promise<Outcome> {
    if (this.queue.isFull || this.hashPool.isNeeded(admitted)) return this.landLater(admitted, extras);
    try {
      return this.landNow(admitted, extras);
    } catch (error) {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever was thrown
      return Promise.reject(error);
    }
  }

  private landNow(admitted: AdmittedIntent, extras: LandingExtras): Promise<Outcome> {
    this.reader.store.mustBeOpen();
    this.reader.store.steps.reach('admitted');
    const prepared = this.prepared(admitted, extras);
    this.reader.store.steps.reach('prepared');
    if (!isRejected(prepared)) return this.enqueueIntent(prepared);
    // What its operation id came to first is that it was parked: no answer to deciding it again.
    return extras.unparks > 0 ? Promise.resolve(prepared) : this.refuse(admitted, prepared);
  }

  /** After there is room in the queue and the large contents are hashed. */
  private async landLater(admitted: AdmittedIntent, extras: LandingExtras): Promise<Outcome> {
    this.reader.store.mustBeOpen();
    this.inFlight++;
    try {
      if (!(await this.queue.hasRoom())) {
        const message = `the queue of ${queueCountMax} intents stayed full for ${roomWaitMs} ms`;
        return reject('overloaded', message, 'land fewer intents at once, or later');
      }
      if (this.hashPool.isNeeded(admitted)) await this.hashPool.hash(admitted);
      return await this.landNow(admitted, extras);
    } finally {
      this.leave();
    }
  }

  private prepared(admitted: AdmittedIntent, extras: LandingExtras): PreparedIntent | Rejected {
    const asked = extras.split?.asked ?? (admitted.operationId === undefined ? undefined : digestAsked(admitted));
    const time = this.clock.now();
    const prepared = prepare(this.reader, admitted, extras, time, asked);
    if (!isRejected(prepared)) return prepared;
    // Another process may have made what is missing since this one last looked.
    this.reader.refresh();
    return prepare(this.reader, admitted, extras, time, asked);
  }

  /** Refuses an intent that cannot be prepared, unless it landed before under its operation id. */
  async refuse(admitted: AdmittedIntent, rejected: Rejected): Promise<Outcome> {
    return (await this.firstOutcome(admitted)) ?? rejected;
  }

  /** What an intent came to when it landed under its operation id before. Errors: `operation-mismatch`. */
  async firstOutcome(admitted: AdmittedIntent): Promise<Outcome | undefined> {
    const { operationId } = admitted;
    if (operationId === undefined) return undefined;
    const asked = digestAsked(admitted);
    const first = await this.act(() =>
      firstOutcomeOf(this.reader, this.operations.seqOf(operationId), operationId, asked),
    );
    if (first instanceof Error) throw first;
    return first;
  }

  /**
   * What a resolution of a conflict came to, if it landed under its operation id before.
   * Errors: `operation-mismatch` where another one did.
   */
  firstResolution(conflict: number, admitted: AdmittedIntent): Outcome | undefined {
    const { operationId } = admitted;
    if (operationId === undefined) return undefined;
    this.operations.catchUp(this.reader.store.counters);
    const seq = this.operations.seqOf(operationId);
    const entry = seq === undefined ? undefined : this.reader.mustGetEntry(seq);
    if (entry?.kind !== 'landing' || entry.resolves !== conflict) return undefined;
    const first = firstOutcomeOf(this.reader, seq, operationId, digestAsked(admitted));
    if (first instanceof Error) throw first;
    return first;
  }

  /** Writes something that is no intent (a mark, a fork, a tag) in the same order and transaction. */
  async act<T>(write: (writer: BatchWriter, counters: Counters) => T): Promise<T> {
    this.reader.store.mustBeOpen();
    return new Promise<T>((settle, fail) => {
      const act = (writer: BatchWriter, counters: Counters): Finding => {
        const value = write(writer, counters);
        return () => settle(value);
      };
      this.inFlight++;
      this.enqueue({ kind: 'act', bytes: 0, act, fail });
    });
  }

  /** Resolves when nothing is in flight any more. */
  async drained(): Promise<void> {
    if (this.inFlight > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private leave(): void {
    this.inFlight--;
    if (this.inFlight === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  private enqueueIntent(intent: PreparedIntent): Promise<Outcome> {
    let bytes = 0;
    for (const { body } of intent.edits) bytes += body.bytes.length;
    return new Promise((settle, fail) => {
      this.inFlight++;
      const since = performance.now();
      const line = new WaitingLine<IntentItem>();
      this.enqueue({ kind: 'intent', intent, bytes, since, line, conflict: undefined, settle, fail });
    });
  }

  private enqueue(item: Item): void {
    this.queue.add(item);
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled || this.queue.length === 0) return;
    this.isScheduled = true;
    setImmediate(() => {
      const turn = this.reader.store.takeTurn();
      if (turn === undefined) this.runTurn();
      else turn.then(this.runTurn, this.failTurn);
    });
  }

  /**
   * Others are given their turn before anyone here is told: who was answered
   * makes the next intent at once, and others need not wait for that.
   */
  private readonly runTurn = (): void => {
    let tell: (() => void) | undefined;
    let ended: Promise<void> | undefined;
    try {
      tell = this.write(this.queue.takeBatch());
    } finally {
      ended = this.reader.store.endTurn();
      if (tell === undefined) this.finishTurn(noFindings);
    }
    const told = tell;
    if (ended === undefined) this.finishTurn(told);
    else void ended.then(() => this.finishTurn(told));
  };

  private finishTurn(tell: () => void): void {
    this.isScheduled = false;
    try {
      tell();
    } finally {
      this.freeRoom();
    }
  }

  /** Nothing of this batch was written. */
  private readonly failTurn = (error: unknown): void => {
    this.isScheduled = false;
    for (const item of this.queue.takeBatch()) this.fail(item, error);
    this.freeRoom();
  };

  private freeRoom(): void {
    this.queue.freeRoom();
    this.schedule();
  }

  /** Writes a batch; gives what tells those who wait for it. */
  private write(items: readonly Item[]): () => void {
    const { store } = this.reader;
    const now = this.clock.now();
    let finished: BatchWriter | undefined;
    let hasThawed = false;
    let staleCount = 0;
    let findings: readonly (Finding | Decision)[];
    try {
      findings = store.transact((counters) => {
        store.steps.reach('batch-begun');
        this.operations.catchUp(counters);
        this.commits.catchUp(counters);
        this.reader.noticeRewrites(counters.rewrites);
        this.reader.heads.catchUp(counters.lastSeq);
        const writer = new BatchWriter(this.reader, counters);
        const batch = new Batch(this.reader, writer, counters, this, now);
        const found = items.map((item) => this.find(batch, writer, counters, item));
        writer.finish();
        this.drain(counters);
        finished = writer;
        ({ hasThawed } = batch);
        staleCount = batch.staleCount;
        store.steps.reach('batch-written');
        return found;
      });
    } catch (error) {
      return this.recover(items, error);
    }
    store.steps.reach('committed');
    this.waits.staleCount += staleCount;
    finished?.settle();
    const written: readonly LogEntry[] = finished?.written ?? [];
    this.operations.learn(written);
    this.commits.learn(written);
    const met = [...(finished?.rows.metSides ?? [])];
    return () => {
      // First, so that who is told and lands again comes after it.
      if (met.length > 0) this.onMetSides?.(met);
      this.tellAll(items, findings, written.length > 0);
      if (hasThawed) this.onThawed?.();
    };
  }

  private drain(counters: Counters): void {
    const hasMore = [this.operations.drain(counters), this.commits.drain(counters)].includes(true);
    if (hasMore) counters.drainer = process.pid;
    else if (counters.drainer === process.pid) counters.drainer = 0;
  }

  private tellAll(items: readonly Item[], findings: readonly (Finding | Decision)[], hasAdvanced: boolean): void {
    let at = 0;
    for (const item of items) this.tell(item, findings[at++]);
    this.queue.addFirst(this.first.splice(0));
    this.reader.store.steps.reach('told');
    if (hasAdvanced) {
      this.reader.store.wake();
      this.onAdvance?.();
    }
  }

  private find(batch: Batch, writer: BatchWriter, counters: Counters, item: Item): Finding | Decision {
    if (item.kind === 'intent') return batch.decide(item);
    const tell = item.act(writer, counters);
    this.reader.store.steps.reach('act-written');
    batch.acted();
    return tell;
  }

  private tell(item: Item, finding: Finding | Decision | undefined): void {
    invariant(finding !== undefined, 'each item of a batch has a finding');
    if (item.kind === 'intent') return this.follow(item, finding as Decision);
    this.end(item);
    (finding as Finding)();
  }

  private fail(item: Item, error: unknown): void {
    this.end(item);
    item.fail(error);
  }

  private end(item: Item): void {
    this.leave();
    const next = item.kind === 'intent' ? this.lines.ended(item) : undefined;
    if (next !== undefined) this.enqueue(next);
  }

  private follow(item: IntentItem, decision: Decision): void {
    switch (decision.kind) {
      case 'outcome':
        this.end(item);
        this.waits.record(item.since);
        if (decision.outcome.kind === 'parked') this.onParked?.();
        return item.settle(decision.outcome);
      case 'fault':
        return this.fail(item, decision.error);
      case 'merge':
        return this.retry(item, decision.branchId, decision.hold);
      case 'again':
        this.first.push(item);
        return;
      case 'wait':
        if (!this.lines.join(item, decision.hold)) setTimeout(() => this.enqueue(item), heldPollMs);
        return;
    }
  }

  /** The transaction was rolled back whole: nothing of it is acknowledged. */
  private recover(items: readonly Item[], error: unknown): () => void {
    this.reader.forget();
    this.operations.forget();
    this.commits.forget();
    this.rules.forget();
    this.shelf.forget();
    // One faulty item must not fail its neighbours, so each is tried on its own.
    if (items.length > 1 && !isMoundError(error, 'disk-full')) {
      const tells = items.map((item) => this.write([item]));
      return () => {
        for (const tell of tells) tell();
      };
    }
    return () => {
      for (const item of items) this.fail(item, error);
    };
  }

  /** Merges a stale intent against the newest state and offers it again. */
  private retry(item: IntentItem, branchId: number, hold: string | undefined): void {
    const intent = hold === undefined ? item.intent : { ...item.intent, hold };
    if (hold !== undefined) this.lines.holding(item, hold);
    void (async () => {
      const at = this.reader.refresh();
      const merge = new StaleMerge(this.reader, new LandingState(this.reader, branchId), this.choice);
      const plan = merge.plan(intent, at);
      this.reader.store.steps.reach(hold === undefined ? 'merge-planned' : 'merging-held');
      const results = await Promise.all(plan.jobs.map((job) => this.mergePool.merge(job.input, job.driver)));
      const merged = merge.settle(intent, plan, results);
      this.reader.store.steps.reach('merged-outside');
      if (merged.kind === 'merged') this.enqueue({ ...item, intent: merged.intent });
      else this.enqueue({ ...item, intent, conflict: merged });
    })().catch((error: unknown) => this.fail(item, error));
  }
}
