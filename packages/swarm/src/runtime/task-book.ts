import {
  absent,
  any,
  version,
  type Author,
  type Clock,
  type Outcome,
  type RecordWrite,
  type Rejected,
  type Repo,
} from '@mound/vcs';
import type { AgentId, RunId, TaskId } from '../core/ids.ts';
import type { HandoffStatus, Task } from '../core/task.ts';
import type { RunKeys } from './run-keys.ts';

/** The record of a task's state. Its version fences: only who read it last may land on it. */
export interface TaskRecord {
  readonly format: 1;
  readonly state: 'open' | 'claimed' | 'done' | 'ended';
  /** Counts claims; 0 before the first. */
  readonly generation: number;
  /** Agents that took it and ended without a report. */
  readonly attempts: number;
  readonly agent?: AgentId;
  /** Milliseconds since 1970 at which another process may take over. */
  readonly leaseUntil?: number;
  /** Intents that carried the record, of all generations. */
  readonly operations: readonly string[];
  /** Where it ended without being done. */
  readonly status?: HandoffStatus;
}

/** An agent's hold on its task. `version` is that of the record as it last wrote it. */
export interface Claim {
  readonly task: TaskId;
  readonly agent: AgentId;
  readonly generation: number;
  readonly attempts: number;
  readonly leaseUntil: number;
  version: number;
  operations: readonly string[];
}

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'done'; readonly record: TaskRecord; readonly seq: number }
  | { readonly kind: 'lost' };

export interface ClaimRequest {
  readonly task: TaskId;
  readonly agent: AgentId;
  readonly author: Author;
  readonly leaseMs: number;
  readonly attempts: number;
  /** The caller knows that the claim before is void. */
  readonly takeOver: boolean;
  /** Written with the claim. */
  readonly records?: readonly RecordWrite[];
}

const encode = (value: object): string => JSON.stringify(value);

export const decodeTask = (value: Uint8Array): TaskRecord =>
  JSON.parse(Buffer.from(value).toString('utf8')) as TaskRecord;

/** The tasks of a run as records in the repository itself: created, claimed, and ended by compare-and-swap. */
export class TaskBook {
  readonly #repo: Repo;
  readonly #keys: RunKeys;
  readonly #clock: Clock;
  /** False in an experiment: whoever once claimed a task can land on it. Claims themselves stay one at a time. */
  readonly #isFenced: boolean;

  constructor(repo: Repo, keys: RunKeys, clock: Clock, isFenced = true) {
    this.#isFenced = isFenced;
    this.#repo = repo;
    this.#keys = keys;
    this.#clock = clock;
  }

  get run(): RunId {
    return this.#keys.run;
  }

  /** What makes tasks: they are there with whatever lands in the same intent. Stale where an id is taken. */
  creation(tasks: readonly Task[]): RecordWrite[] {
    const open = encode({ format: 1, state: 'open', generation: 0, attempts: 0, operations: [] } satisfies TaskRecord);
    return tasks.flatMap((task): RecordWrite[] => [
      { key: this.#keys.task(task.id), expect: absent, value: open },
      { key: this.#keys.brief(task.id), expect: absent, value: encode({ format: 1, ...task }) },
    ]);
  }

  taken(tasks: readonly TaskId[]): TaskId[] {
    const snapshot = this.#repo.snapshot();
    return tasks.filter((task) => snapshot.record(this.#keys.task(task)) !== undefined);
  }

  task(id: TaskId): Task | undefined {
    const head = this.#repo.snapshot().record(this.#keys.brief(id));
    return head && (JSON.parse(head.value.toString('utf8')) as Task);
  }

  /**
   * One of any number of claimers wins. A draft of the claimer before is taken
   * over in the same intent, so that who began it cannot go on with it.
   */
  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const { task, agent, author, leaseMs, attempts, takeOver, records: more = [] } = request;
    const snapshot = this.#repo.snapshot();
    const head = snapshot.record(this.#keys.task(task));
    if (head === undefined) return { kind: 'lost' };
    const record = decodeTask(head.value);
    if (record.state === 'done') return { kind: 'done', record, seq: head.version };
    const now = this.#clock.now();
    const isFree = record.state === 'open' || takeOver || (record.leaseUntil ?? 0) <= now;
    if (record.state === 'ended' || !isFree) return { kind: 'lost' };
    const claim = {
      task,
      agent,
      generation: record.generation + 1,
      attempts,
      leaseUntil: now + leaseMs,
      // What its earlier agents landed is the task's, too.
      operations: record.operations,
    };
    const write = this.#taskWrite({ ...claim, version: head.version }, 'claimed', record.operations);
    const records: RecordWrite[] = [{ ...write, expect: version(head.version) }, ...more];
    const draft = record.generation > 0 ? snapshot.record(this.#keys.draft(task)) : undefined;
    if (draft !== undefined) {
      const { key, value, objects } = draft;
      records.push({ key, expect: version(draft.version), value, objects });
    }
    const outcome = await this.#repo.land({ author, message: `claim ${task}`, records });
    return outcome.kind === 'landed'
      ? { kind: 'claimed', claim: { ...claim, version: outcome.seq } }
      : { kind: 'lost' };
  }

  /** The record write that makes an intent fenced; `done` completes the task when it lands. */
  progress(claim: Claim, state: 'claimed' | 'done', operationId: string): RecordWrite {
    return this.#taskWrite(claim, state, [...claim.operations, operationId]);
  }

  /** Ends a task whose code did not complete it; stale where the claim is void. */
  closing(claim: Claim, status: HandoffStatus): RecordWrite {
    const state = status === 'done' || status === 'nothing-to-do' ? 'done' : 'ended';
    return this.#taskWrite(claim, state, claim.operations, status);
  }

  /**
   * Ends a task that nobody takes any more, whoever had claimed it last: that one can neither land nor end it. False
   * where it has ended, or was landed, meanwhile.
   */
  async giveUp(id: TaskId, author: Author): Promise<boolean> {
    const key = this.#keys.task(id);
    for (;;) {
      const head = this.#repo.snapshot().record(key);
      const record = head && decodeTask(head.value);
      if (head === undefined || record === undefined || record.state === 'done' || record.state === 'ended')
        return false;
      const { leaseUntil: _, ...rest } = record;
      const value = encode({
        ...rest,
        state: 'ended',
        attempts: record.attempts + 1,
        status: 'failed',
      } satisfies TaskRecord);
      const records: RecordWrite[] = [{ key, expect: version(head.version), value }];
      const outcome = await this.#repo.land({ author, message: `give up ${id}`, records });
      if (outcome.kind === 'landed') return true;
      if (outcome.kind !== 'rejected') throw new Error(`task ${id} was not given up: ${outcome.kind}`);
    }
  }

  #taskWrite(
    claim: Claim,
    state: TaskRecord['state'],
    operations: readonly string[],
    status?: HandoffStatus,
  ): RecordWrite {
    const { agent, generation, attempts, leaseUntil } = claim;
    const record: TaskRecord = {
      format: 1,
      state,
      generation,
      attempts,
      agent,
      leaseUntil,
      operations,
      ...(status && { status }),
    };
    const expect = this.#isFenced ? version(claim.version) : any;
    return { key: this.#keys.task(claim.task), expect, value: encode(record) };
  }
}

export const isRejected = (outcome: Outcome): outcome is Rejected => outcome.kind === 'rejected';
