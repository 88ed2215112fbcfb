import {
  absent,
  version,
  type Author,
  type Clock,
  type Outcome,
  type RecordWrite,
  type Rejected,
  type Repo,
} from '@mound/vcs';
import type { AgentId, RunId, TaskId } from '../core/ids.ts';
import type { CostReport } from '../cost/cost-ledger.ts';
import type { Handoff, Task } from '../core/task.ts';

/** The record of a task's state: `swarm/<run>/task/<id>`. Its version fences: only who read it last may land on it. */
export interface TaskRecord {
  readonly format: 1;
  readonly state: 'open' | 'claimed' | 'done' | 'ended';
  /** Counts claims; 0 before the first. */
  readonly generation: number;
  readonly agent?: AgentId;
  /** Milliseconds since 1970 at which another may take over. */
  readonly leaseUntil?: number;
  /** Intents of this generation that carried the record. */
  readonly operations: readonly string[];
  /** Where it ended without being done. */
  readonly status?: string;
}

/** A worker's hold on its task. `version` is that of the record as it last wrote it. */
export interface Claim {
  readonly task: TaskId;
  readonly agent: AgentId;
  readonly generation: number;
  readonly leaseUntil: number;
  version: number;
  operations: readonly string[];
}

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'done'; readonly record: TaskRecord; readonly seq: number }
  | { readonly kind: 'lost' };

const encode = (value: object): string => JSON.stringify(value);
const decode = (value: Uint8Array): TaskRecord => JSON.parse(Buffer.from(value).toString('utf8')) as TaskRecord;

/** A run's durable state, as records in the repository itself. */
export class Ledger {
  readonly #repo: Repo;
  readonly #run: RunId;
  readonly #clock: Clock;

  constructor(repo: Repo, run: RunId, clock: Clock) {
    this.#repo = repo;
    this.#run = run;
    this.#clock = clock;
  }

  #key(kind: 'task' | 'brief' | 'handoff', task: TaskId): string {
    return `swarm/${this.#run}/${kind}/${task}`;
  }

  /** Rejected where the run id is taken. */
  startRun(goal: string, author: Author): Promise<Outcome> {
    const value = encode({ format: 1, state: 'running', goal, startedAt: this.#clock.now() });
    return this.#write('start run', author, [{ key: `swarm/${this.#run}/run`, expect: absent, value }]);
  }

  endRun(reason: string, { total, byRole, byModel }: CostReport, author: Author, version_: number): Promise<Outcome> {
    const value = encode({
      format: 1,
      state: 'ended',
      reason,
      endedAt: this.#clock.now(),
      cost: { total, byRole, byModel },
    });
    return this.#write('end run', author, [{ key: `swarm/${this.#run}/run`, expect: version(version_), value }]);
  }

  /** All of them or none; rejected where an id is taken. */
  createTasks(tasks: readonly Task[], author: Author): Promise<Outcome> {
    const open = encode({ format: 1, state: 'open', generation: 0, operations: [] } satisfies TaskRecord);
    const records = tasks.flatMap((task): RecordWrite[] => [
      { key: this.#key('task', task.id), expect: absent, value: open },
      { key: this.#key('brief', task.id), expect: absent, value: encode({ format: 1, ...task }) },
    ]);
    return this.#write('delegate', author, records);
  }

  taken(tasks: readonly TaskId[]): TaskId[] {
    const snapshot = this.#repo.snapshot();
    return tasks.filter((task) => snapshot.record(this.#key('task', task)) !== undefined);
  }

  /** One of any number of claimers wins. `takeOver`: the caller knows that the claim before is void. */
  async claim(task: TaskId, agent: AgentId, author: Author, leaseMs: number, takeOver: boolean): Promise<ClaimAnswer> {
    const head = this.#repo.snapshot().record(this.#key('task', task));
    if (head === undefined) return { kind: 'lost' };
    const record = decode(head.value);
    if (record.state === 'done') return { kind: 'done', record, seq: head.version };
    const now = this.#clock.now();
    const isFree = record.state === 'open' || takeOver || (record.leaseUntil ?? 0) <= now;
    if (record.state === 'ended' || !isFree) return { kind: 'lost' };
    const claim = { task, agent, generation: record.generation + 1, leaseUntil: now + leaseMs, operations: [] };
    const outcome = await this.#write(`claim ${task}`, author, [
      this.#taskWrite({ ...claim, version: head.version }, 'claimed', []),
    ]);
    return outcome.kind === 'landed'
      ? { kind: 'claimed', claim: { ...claim, version: outcome.seq } }
      : { kind: 'lost' };
  }

  /** The record write that makes an intent fenced; `done` completes the task when it lands. */
  progress(claim: Claim, state: 'claimed' | 'done', operationId: string): RecordWrite {
    return this.#taskWrite(claim, state, [...claim.operations, operationId]);
  }

  /** Ends a task whose code did not complete it; rejected where the claim is void. */
  close(claim: Claim, status: Handoff['status'], author: Author): Promise<Outcome> {
    const state = status === 'done' || status === 'nothing-to-do' ? 'done' : 'ended';
    return this.#write(`end ${claim.task}`, author, [this.#taskWrite(claim, state, claim.operations, status)]);
  }

  /** Keeps a handoff that says more than the task's own record. */
  async report(task: TaskId, generation: number, handoff: Handoff, author: Author): Promise<void> {
    const { status, commits: _, ...words } = handoff;
    const isPlain = status === 'done' && Object.values(words).every((list) => list.length === 0);
    if (isPlain) return;
    const key = `${this.#key('handoff', task)}/${generation}`;
    await this.#write(`report ${task}`, author, [{ key, expect: absent, value: encode({ format: 1, ...handoff }) }]);
  }

  #taskWrite(claim: Claim, state: TaskRecord['state'], operations: readonly string[], status?: string): RecordWrite {
    const { agent, generation, leaseUntil } = claim;
    const record: TaskRecord = {
      format: 1,
      state,
      generation,
      agent,
      leaseUntil,
      operations,
      ...(status && { status }),
    };
    return { key: this.#key('task', claim.task), expect: version(claim.version), value: encode(record) };
  }

  #write(message: string, author: Author, records: readonly RecordWrite[]): Promise<Outcome> {
    return this.#repo.land({ author, message, records });
  }
}

export const isRejected = (outcome: Outcome): outcome is Rejected => outcome.kind === 'rejected';
