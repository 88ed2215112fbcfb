import { isAttributeFile } from '../attributes/index.ts';
import { MoundError } from '../core/errors.ts';
import { isSameActor } from '../core/actor.ts';
import { conflictIdOf, parkedIdOf, type RepoPath, type Seq } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Outcome, Rejected } from '../core/outcome.ts';
import { pack } from '../format/codec.ts';
import { seqKey } from '../format/keys.ts';
import { sealed } from '../format/seal.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { reject } from '../intent/reject.ts';
import type { LogReader } from '../log/log-reader.ts';
import { mergeAllQuickly } from '../merge/index.ts';
import type { Counters } from '../store/counters.ts';
import type { BatchWriter } from './batch-writer.ts';
import type { DecisionShelf } from './decision-shelf.ts';
import { decide, isResolution, type PiledPath } from './decide.ts';
import type { LaggingIndex } from './lagging-index.ts';
import type { DriverChoice } from './driver-choice.ts';
import { LandingState } from './landing-state.ts';
import { StaleMerge, type Chosen, type MergedStale, type MergePlan } from './merge-stale.ts';
import { firstOutcomeOf } from './first-outcome.ts';
import { outcomeOfLanding } from './outcomes.ts';
import type { PreparedIntent } from './prepared.ts';
import { SignalWatch } from './signal-watch.ts';
import type { RuleStore } from './rule-store.ts';

/** An intent found stale more often than this is merged inside the batch, where nothing can overtake it. */
const attemptsMax = 1;
/** A file that landed within so many entries is busy: outside, one more would come between. */
const busySeqs = 512;
/** One that takes too long for that is merged outside so often before its paths are held: it may end as a conflict. */
const attemptsOutsideMax = 2;
/** What a merge counts for at least: small ones take their time, too. */
const mergeBytesMin = 8 * 1024;
/** Inputs of one intent that is merged inside a batch. */
const mergeInBatchBytesMax = 2 * 1024 * 1024;
/** Of all of them in one batch: some 50 ms; those that do not fit come first in the next one. */
const mergesInBatchBytesMax = 8 * 1024 * 1024;

export type FoundConflict = MergedStale & { readonly kind: 'conflict' };

/** An intent as a batch takes it. */
export interface Candidate {
  readonly intent: PreparedIntent;
  /** Merging it outside came to this. */
  readonly conflict: FoundConflict | undefined;
}

/** What a batch makes of a candidate: an outcome, or work to be done outside before it comes again. */
export type Decision =
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'fault'; readonly error: MoundError }
  | { readonly kind: 'merge'; readonly branchId: number; readonly hold: string | undefined }
  /** When the hold with this token is over. */
  | { readonly kind: 'wait'; readonly hold: string }
  /** First thing in the next batch. */
  | { readonly kind: 'again' };

const outcomeOf = (outcome: Outcome): Decision => ({ kind: 'outcome', outcome });

/** One transaction's worth of decisions. */
export class Batch {
  private readonly reader: LogReader;
  private readonly writer: BatchWriter;
  private readonly counters: Counters;
  private readonly index: LaggingIndex;
  private readonly rules: RuleStore;
  private readonly shelf: DecisionShelf;
  private readonly choice: DriverChoice;
  private readonly watch: SignalWatch;
  /** Operation ids of this batch: the index learns them only once it is flushed. */
  private readonly operations = new Map<string, number>();
  private readonly now: number;
  /** Freezes ended here, so that parked intents can be decided again. */
  readonly hasThawed: boolean;
  /** Intents found stale, and what was merged here found stale. */
  staleCount = 0;
  private mergedBytes = 0;
  /** No further merge fits. */
  private isFull = false;
  private holdCount = 0;
  /** One for each branch; an act may outdate them. */
  private readonly states = new Map<number, LandingState>();

  /** `now` in milliseconds since 1970; holds end by it. */
  constructor(
    reader: LogReader,
    writer: BatchWriter,
    counters: Counters,
    known: {
      readonly operations: LaggingIndex;
      readonly rules: RuleStore;
      readonly shelf: DecisionShelf;
      readonly choice: DriverChoice;
    },
    now: number,
  ) {
    this.now = now;
    this.choice = known.choice;
    writer.marks.release(undefined, now);
    this.hasThawed = writer.marks.expire(now);
    this.reader = reader;
    this.writer = writer;
    this.counters = counters;
    this.index = known.operations;
    this.rules = known.rules;
    this.shelf = known.shelf;
    this.watch = new SignalWatch(reader, writer, () => known.rules.signals(counters));
  }

  /** An act may have frozen or thawed a path. */
  acted(): void {
    this.states.clear();
  }

  decide(candidate: Candidate): Decision {
    const { intent, conflict } = candidate;
    const { operationId, branch } = intent.admitted;
    const first = this.firstOutcome(intent);
    if (first instanceof MoundError) return { kind: 'fault', error: first };
    const known = first ?? this.closedAlready(intent);
    if (known !== undefined) return outcomeOf(known);
    const branchId = this.reader.getBranchId(branch);
    if (branchId === undefined) throw new MoundError('no-such-branch', `there is no branch '${branch}'`);
    const writtenBefore = this.writer.written.length;
    const isAsChosen = this.isAsChosen(conflict?.chosen ?? intent.merged, branchId);
    const decision =
      conflict && isAsChosen
        ? this.keepConflict(intent, branchId, conflict)
        : this.decideIntent(isAsChosen ? intent : asAsked(intent), branchId);
    if (this.watch.hasFrozen) {
      this.watch.hasFrozen = false;
      this.states.clear();
    }
    const isDone = decision.kind === 'outcome';
    if (isDone && intent.hold !== undefined) {
      this.writer.marks.release(intent.hold, this.now);
      this.states.clear();
    }
    const made = this.writer.written[writtenBefore];
    const isFirst = operationId !== undefined && intent.extras.unparks === 0;
    if (isFirst && made !== undefined && 'asked' in made) this.operations.set(operationId, made.seq);
    return decision;
  }

  private decideIntent(intent: PreparedIntent, branchId: number): Decision {
    const state = this.state(branchId);
    const verdict = decide(state, intent);
    this.reader.store.steps.reach('decided');
    switch (verdict.kind) {
      case 'land': {
        const { rulesSeq } = this.counters;
        const piled = this.watch.piledOn(intent.admitted.author, verdict.piled);
        const entry = this.writer.land(branchId, intent, verdict.edits, verdict.staleReads, piled, verdict.flagged);
        const isOutdated =
          this.counters.rulesSeq !== rulesSeq || verdict.edits.some(({ path }) => isAttributeFile(path));
        if (isOutdated) this.states.clear();
        this.watch.landed(entry, verdict.edits);
        return outcomeOf(outcomeOfLanding(this.reader, entry));
      }
      case 'unchanged':
        this.keepUnchanged(intent, verdict.seq);
        this.keepPiled(intent, branchId, verdict.piled);
        return outcomeOf({ kind: 'unchanged', seq: verdict.seq } as Outcome);
      case 'parked':
        return this.park(intent, branchId, verdict.paths);
      case 'rejected':
        return outcomeOf(verdict);
      case 'held':
        return { kind: 'wait', hold: verdict.hold };
      case 'stale':
        return this.mergeHere(intent, branchId, state);
    }
  }

  /** False where `.gitattributes` gives a path another driver than the one that merged it. */
  private isAsChosen(merged: readonly Chosen[], branchId: number): boolean {
    return merged.every(({ path, chosen }) => this.choice.of(this.state(branchId), path).id === chosen);
  }

  private state(branchId: number): LandingState {
    const known = this.states.get(branchId);
    if (known !== undefined) return known;
    const state = new LandingState(this.reader, branchId, {
      anyFreeze: this.counters.freezes > 0,
      anyHold: this.counters.holds > 0,
      rules: this.rules.get(this.counters),
      shelf: this.shelf,
    });
    this.states.set(branchId, state);
    return state;
  }

  /**
   * What was overtaken, or would be, is merged here, where no other landing can
   * come between; what takes too long for that runs outside, and after too many
   * tries its paths are held for it.
   */
  private mergeHere(intent: PreparedIntent, branchId: number, state: LandingState): Decision {
    this.staleCount++;
    if (intent.attempts < attemptsMax && !this.isBusy(intent, state))
      return { kind: 'merge', branchId, hold: intent.hold };
    // They keep their order: who comes after one that did not fit waits with it.
    if (this.isFull) return { kind: 'again' };
    const merge = new StaleMerge(this.reader, state, this.choice);
    const plan = merge.plan(intent, this.counters.lastSeq);
    const isSmall = plan.size <= mergeInBatchBytesMax;
    this.isFull = isSmall && this.mergedBytes + plan.size > mergesInBatchBytesMax;
    if (this.isFull) return { kind: 'again' };
    const results = isSmall ? mergeAllQuickly(plan.jobs) : undefined;
    if (results === undefined) {
      const isOvertaken = intent.attempts >= attemptsOutsideMax;
      return { kind: 'merge', branchId, hold: isOvertaken ? this.hold(branchId, intent, plan) : intent.hold };
    }
    this.mergedBytes += Math.max(mergeBytesMin, plan.size);
    const merged = merge.settle(intent, plan, results);
    this.reader.store.steps.reach('merged-inside');
    if (merged.kind === 'conflict') return this.keepConflict(intent, branchId, merged);
    return this.decideIntent(merged.intent, branchId);
  }

  /** Whether a file of it landed so lately that a merge outside would be overtaken. */
  private isBusy({ edits }: PreparedIntent, state: LandingState): boolean {
    const from = this.counters.lastSeq - busySeqs;
    return edits.some((edit) => (state.headOf(edit)?.place.seq ?? 0) > from);
  }

  private hold(branchId: number, intent: PreparedIntent, plan: MergePlan): string {
    const token = intent.hold ?? `${process.pid}.${this.now}.${this.counters.lastSeq}.${this.holdCount++}`;
    const paths = [...intent.edits.map((edit) => edit.path), ...plan.jobs.map((job) => job.path)];
    this.writer.marks.hold(branchId, paths, { token, until: this.now + limits.holdMsMax });
    this.states.clear();
    return token;
  }

  /** Records a conflict with the whole intent; a resolution that conflicts again leaves its conflict open. */
  private keepConflict(intent: PreparedIntent, branchId: number, conflict: FoundConflict): Decision {
    const { extras } = intent;
    const isReplacing = extras.resolves > 0 && extras.ending === 'replacement';
    if (extras.resolves > 0 && extras.ending === 'remerge') {
      const paths = conflict.paths.map((row) => row.path as RepoPath);
      const id = conflictIdOf(extras.resolves);
      return outcomeOf({ kind: 'conflicted', seq: extras.resolves as Seq, conflict: id, paths });
    }
    if (isResolution(extras)) {
      const paths = conflict.paths.map((row) => row.path);
      const message = `${paths.join(', ')} changed again while the conflict was being resolved`;
      const next = 'show the conflict again and resolve it against the newest state';
      return outcomeOf(reject('resolution-stale', message, next, { paths }));
    }
    const entry = {
      kind: 'conflict',
      ...this.entryHead(intent, branchId),
      comparedAt: conflict.at,
      paths: conflict.paths,
      ...this.writer.keep(asAsked(intent)),
      unparks: extras.unparks,
      replaces: isReplacing ? extras.resolves : 0,
    } as const;
    const seq = this.writer.append(entry);
    if (isReplacing) this.writer.rows.closeConflict(extras.resolves, seq);
    this.writer.rows.openConflict({ ...entry, seq });
    this.watch.conflicted({ ...entry, seq });
    if (extras.unparks > 0) this.writer.rows.close('parked', extras.unparks, seq);
    const paths = conflict.paths.map((row) => row.path as RepoPath);
    return outcomeOf({ kind: 'conflicted', seq, conflict: conflictIdOf(seq), paths });
  }

  /** What every entry that keeps an intent says of it. */
  private entryHead({ admitted, asked, time }: PreparedIntent, branchId: number) {
    const { operationId, task } = admitted;
    return { time, branchId, authorId: this.writer.authorId(admitted.author), operationId, asked, task };
  }

  private park(intent: PreparedIntent, branchId: number, paths: readonly RepoPath[]): Decision {
    const { extras } = intent;
    // Still frozen somewhere: it stays parked as it is.
    if (extras.unparks > 0) {
      return outcomeOf({ kind: 'parked', seq: extras.unparks, parked: parkedIdOf(extras.unparks), paths } as Outcome);
    }
    if (extras.split !== undefined) {
      const message = `${paths.join(', ')} is frozen for another's split`;
      return outcomeOf(
        reject('frozen', message, "wait for the freeze to end; 'mound freeze' lists who owns it", { paths }),
      );
    }
    const isReplacing = extras.resolves > 0 && extras.ending === 'replacement';
    if (extras.resolves > 0 && !isReplacing) {
      const message = `${paths.join(', ')} is frozen, so the conflict stays open`;
      return outcomeOf(reject('frozen', message, 'resolve it again after the thaw', { paths }));
    }
    const seq = this.writer.append({
      kind: 'parked',
      ...this.entryHead(intent, branchId),
      paths,
      ...this.writer.keep(asAsked(intent)),
      replaces: isReplacing ? extras.resolves : 0,
    });
    if (isReplacing) this.writer.rows.closeConflict(extras.resolves, seq);
    this.writer.rows.open('parked', seq);
    return outcomeOf({ kind: 'parked', seq, parked: parkedIdOf(seq), paths });
  }

  /** A resolution or an unparking of what was ended meanwhile. */
  private closedAlready({ admitted, extras }: PreparedIntent): Rejected | undefined {
    const { conflicts, parked } = this.reader.store.tables;
    const isOpen = (table: typeof conflicts, seq: number): boolean =>
      table.getBinary(seqKey(seq))?.readUIntBE(0, 6) === 0;
    if (extras.resolves > 0 && !isOpen(conflicts, extras.resolves)) {
      const message = `conflict ${conflictIdOf(extras.resolves)} is not open`;
      return reject('no-such-conflict', message, "list the open ones with 'mound conflicts'");
    }
    if (extras.resolves > 0 && extras.ending === 'replacement') {
      const fault = this.faultOfReplacement(admitted, extras.resolves);
      if (fault !== undefined) return fault;
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

  /** A conflict is replaced by the agent that ran into it, on its branch. */
  private faultOfReplacement({ author, branch }: AdmittedIntent, seq: number): Rejected | undefined {
    const entry = this.reader.mustGetEntry(seq);
    const owner = this.reader.author(entry.authorId);
    const id = conflictIdOf(seq);
    if (!isSameActor(owner, author)) {
      const message = `conflict ${id} is of ${owner.agent ?? owner.name}: another may resolve it, not replace it`;
      return reject('conflict-foreign', message, `resolve it with 'mound conflicts resolve ${id}'`);
    }
    if (this.reader.getBranchId(branch) === entry.branchId) return undefined;
    const message = `conflict ${id} is on branch ${this.reader.branch(entry.branchId).name}, not ${branch}`;
    return reject('conflict-foreign', message, 'land the intent that replaces it on that branch');
  }

  /** What the operation id led to the first time; a fault where it stands for something else. */
  private firstOutcome({ admitted, asked, extras }: PreparedIntent): Outcome | MoundError | undefined {
    const { operationId } = admitted;
    if (operationId === undefined || asked === undefined || extras.unparks > 0) return undefined;
    const seq = this.operations.get(operationId) ?? this.index.seqOf(operationId);
    if (seq === undefined && this.counters.unchanged === 0) return undefined;
    return firstOutcomeOf(this.reader, seq, operationId, asked);
  }

  /** That several ask for the same is told, though nothing of it lands: it is work done twice. */
  private keepPiled(intent: PreparedIntent, branchId: number, paths: readonly PiledPath[]): void {
    const { author, task } = intent.admitted;
    const merged = intent.merged.map(({ path, current }) => ({ path, at: current }));
    const piled = this.watch.piledOn(author, [...paths, ...merged]);
    if (piled.length === 0) return;
    const rows = this.writer.piledRows(piled);
    const authorId = this.writer.authorId(author);
    this.writer.append({ kind: 'piled', time: intent.time, branchId, authorId, task, paths: rows });
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
      this.writer.rows.close('parked', intent.extras.unparks, closing);
    } else if (intent.extras.resolves > 0) {
      const { resolves, ending } = intent.extras;
      const branchId = this.reader.getBranchId(intent.admitted.branch) ?? 0;
      const { task: _task, ...head } = this.entryHead(intent, branchId);
      const closing = this.writer.append({ kind: 'closed', ...head, conflict: resolves, ending, at: seq });
      this.writer.rows.closeConflict(resolves, closing);
    } else if (operationId !== undefined && intent.asked !== undefined) {
      this.counters.unchanged++;
      this.reader.store.put('unchanged', Buffer.from(operationId), sealed(pack([seq, intent.asked, operationId])));
      this.reader.store.steps.reach('unchanged-kept');
    }
  }
}

/** An intent before any merge, to be merged anew. */
const asAsked = (intent: PreparedIntent): PreparedIntent =>
  intent.unmerged === undefined ? intent : { ...intent.unmerged, attempts: intent.attempts, hold: intent.hold };
