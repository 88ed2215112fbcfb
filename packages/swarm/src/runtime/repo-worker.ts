import {
  absent,
  version,
  type Author,
  type Change,
  type Outcome,
  type Precondition,
  type RecordWrite,
} from '@mound/vcs';
import { taskNameOf } from '../core/ids.ts';
import { isInScope, type CheckResult, type Handoff, type Task, type TaskReport } from '../core/task.ts';
import {
  refused,
  type CommitRequest,
  type HandoffReport,
  type Refusal,
  type WorkerOperations,
  type WriteRequest,
} from '../tools/operations.ts';
import { withBreakageNotes } from './breakages.ts';
import { sayBreakages } from '../tools/breakage-text.ts';
import type { Draft } from './draft.ts';
import { RepoEdits } from './repo-edits.ts';
import { changeOf, type RunContext } from './run-context.ts';
import { isRejected, type Claim } from './task-book.ts';

/** The same refusal so often in a row goes to the planner. */
const sameRefusalsMax = 3;

interface Landing {
  readonly changes: readonly Change[];
  readonly message: string;
  readonly rationale: string | undefined;
  readonly breakage: string | undefined;
  readonly completes: boolean;
}

/** A worker's effects on the real store, fenced by its claim. */
export class RepoWorker extends RepoEdits implements WorkerOperations {
  readonly #author: Author;
  /** Operations that the store took. */
  readonly #acknowledged: string[] = [];
  readonly #refusals = new Map<string, number>();
  #last: Exclude<Outcome, { kind: 'rejected' }> | undefined;
  /** The last one completed the task. */
  #complete = false;
  #report: HandoffReport | undefined;
  #check: CheckResult | undefined;

  constructor(context: RunContext, task: Task, claim: Claim, draft: Draft, signal: AbortSignal) {
    super(context, task, claim, draft, signal);
    this.#author = context.author(context.role(task.role), claim.agent);
  }

  /** Changes with what it has landed and what it has edited. */
  get progress(): string {
    return `${this.claimed.operations.length} ${this.draft.version}`;
  }

  async commit(request: CommitRequest, key: string): Promise<Outcome | Refusal> {
    const kept = this.#kept();
    if (kept !== undefined) return refused(`nothing was landed: your work is kept as ${kept}. Call finish.`);
    const named = new Set(request.changes.map(({ path }) => path));
    const drafted = this.draft.changes().filter(({ path }) => !named.has(path));
    const paths = [...drafted.map(({ path }) => path), ...named];
    if (paths.length === 0) return refused('nothing was landed: you have no edits. Edit first, or finish.');
    const outside = this.#outside(paths, request.breakage);
    if (outside !== undefined) return outside;
    const changes: Change[] = [...drafted];
    for (const asked of request.changes) {
      const content = await this.context.bytes(asked);
      if (content.kind === 'refused') return content;
      const change = changeOf(asked, content.bytes, this.#expectOf(asked));
      if (change.kind === 'refused') return change;
      changes.push(change);
    }
    const { message, rationale, breakage, more } = request;
    // With a check the task is done when the check has passed: that is for finish to say.
    const completes = !more && this.task.check === undefined;
    return this.#land({ changes, message, rationale, breakage, completes }, key);
  }

  #outside(paths: readonly string[], breakage: string | undefined): Refusal | undefined {
    const outside = paths.filter((path) => !isInScope(this.task.scope, path));
    const mayBreak = this.context.isOn('breakages');
    if (outside.length === 0 || (breakage && mayBreak)) return undefined;
    const names = outside.join(', ');
    const says = `nothing was landed: ${names} is outside of your scope (${this.task.scope.join(', ')}). Leave it out and name it in outOfScope${mayBreak ? ', or give the reason as breakage' : ''}.`;
    return this.#countRefusal(`outside ${names}`, says);
  }

  /** Said once more, it ends the worker: its planner has to decide. */
  #countRefusal(about: string, says: string): Refusal {
    const count = (this.#refusals.get(about) ?? 0) + 1;
    this.#refusals.set(about, count);
    if (count < sameRefusalsMax) return refused(says);
    this.#report = {
      ...plainReport,
      status: 'blocked',
      concerns: [`refused ${count} times and not put right: ${says}`],
    };
    return {
      kind: 'refused',
      says: `${says} This was the ${count}rd time: your planner is told, and you end here.`,
      ends: true,
    };
  }

  async #land(landing: Landing, key: string): Promise<Outcome> {
    const { run, book, repo } = this.context;
    const { changes, message, rationale, breakage, completes } = landing;
    const breaks = breakage !== undefined && changes.some(({ path }) => !isInScope(this.task.scope, path));
    const operationId = this.operationId(key);
    const startedMs = performance.now();
    const records: RecordWrite[] = [
      book.progress(this.claimed, completes ? 'done' : 'claimed', operationId),
      ...this.draft.removal(),
    ];
    const written = new Set(changes.map(({ path }) => path));
    const { onStaleRead = 'record' } = this.context.role(this.task.role);
    const outcome = await repo.land({
      author: this.#author,
      message,
      ...(this.context.isOn('fresh-reads') && { reads: this.readSet.reads(written), onStaleRead }),
      task: taskNameOf(run, this.task.id),
      operationId,
      onStale: 'merge',
      changes: breaks
        ? withBreakageNotes(this.context, this.task, this.#author, { base: this.base, changes, breakage })
        : changes,
      records,
      ...(rationale && { rationale }),
      ...(breaks && { breakage }),
    });
    if (outcome.kind !== 'rejected') {
      this.#acknowledged.push(operationId);
      this.#last = outcome;
      this.#refusals.clear();
    }
    if (outcome.kind === 'landed' || outcome.kind === 'merged') {
      this.claimed.version = outcome.seq;
      this.claimed.operations = [...this.claimed.operations, operationId];
      this.draft.clear();
      this.#complete = completes;
      this.advance(outcome.seq);
      if (outcome.kind === 'landed') this.readSet.wrote([...written], outcome.seq);
    }
    const paths = changes.map(({ path }) => path);
    await this.context.acknowledge(this.claimed.agent, operationId, outcome, paths, startedMs);
    return outcome;
  }

  #expectOf(change: WriteRequest): Precondition {
    if (change.expect === 'absent') return absent;
    if (change.expect !== undefined) return version(change.expect);
    const edited = this.draft.files.get(change.path);
    if (edited !== undefined) return edited.base === 0 ? absent : version(edited.base);
    // What an agent writes whole rests on what it has read, not on what it was told of since.
    const read = this.readSet.readVersion(change.path);
    if (read !== undefined) return version(read);
    const head = this.context.repo.snapshot(this.base).head(change.path);
    return head === undefined ? absent : version(head.version);
  }

  async flag(path: string, reason: string): Promise<number> {
    return this.context.repo.flag(path, { author: this.#author, reason });
  }

  async finish(report: HandoffReport, key: string): Promise<Refusal | undefined> {
    if (this.#kept() === undefined && !this.#complete) {
      const refusal = report.status === 'done' ? await this.#finishDone(report, key) : await this.#close(report);
      if (refusal !== undefined) return refusal;
    }
    this.#report = report;
    return undefined;
  }

  /** Done is what the store has, on a tree on which the task's check passes. */
  async #finishDone(report: HandoffReport, key: string): Promise<Refusal | undefined> {
    if (this.#last === undefined && this.draft.isEmpty && this.claimed.operations.length === 0) {
      return refused(
        'not accepted: nothing of this task has landed. Commit first, or finish as nothing-to-do or blocked.',
      );
    }
    const failing = await this.#runCheck(key);
    if (failing !== undefined) return failing;
    if (this.draft.isEmpty) return this.#close(report);
    const changes = this.draft.changes();
    const outside = this.#outside(
      changes.map(({ path }) => path),
      undefined,
    );
    if (outside !== undefined) return outside;
    const message = this.task.title;
    const outcome = await this.#land(
      { changes, message, rationale: undefined, breakage: undefined, completes: true },
      key,
    );
    if (outcome.kind !== 'rejected') return undefined;
    return refused(
      `not accepted: your edits were rejected (${outcome.code}): ${outcome.message}. Next: ${outcome.next}`,
    );
  }

  async #runCheck(key: string): Promise<Refusal | undefined> {
    const { check } = this.task;
    if (check === undefined) return undefined;
    const ran = await this.run({ command: check, timeoutMs: undefined, keep: [] }, key);
    if (ran.kind === 'refused') return ran;
    const { code = -1, how, seq, output, breakages } = ran;
    this.#check = { command: check, code, seq };
    if (code === 0) return undefined;
    return this.#countRefusal(
      `check ${output}`,
      `not accepted: the check '${check}' did not pass (${[how, ...sayBreakages(breakages)].join('; ')}). Mend it, or finish as partial or blocked. It printed:\n${output}`,
    );
  }

  async #close(report: HandoffReport): Promise<Refusal | undefined> {
    const { book, repo } = this.context;
    const records = [book.closing(this.claimed, report.status)];
    const outcome = await repo.land({ author: this.#author, message: `end ${this.task.id}`, records });
    if (!isRejected(outcome)) return undefined;
    return refused(`not accepted (${outcome.code}): another worker has taken this task over. Stop here.`);
  }

  /** Ends the task for a worker that can or may not go on, with what it has done; its edits stay in the draft. */
  async giveUp(concern: string): Promise<void> {
    if (this.#report !== undefined || this.#complete || this.#kept() !== undefined) return;
    this.#report = { ...plainReport, status: 'partial', concerns: [concern, ...this.#draftConcern()] };
    await this.#close(this.#report);
  }

  /** Ends the task in the store where a refusal has ended its worker. */
  async closeRefused(): Promise<void> {
    if (this.#report?.status === 'blocked' && !this.#complete && this.#kept() === undefined)
      await this.#close(this.#report);
  }

  #draftConcern(): string[] {
    return this.draft.isEmpty ? [] : [`edits that have not landed: ${[...this.draft.files.keys()].join(', ')}`];
  }

  /** What is to be told of the task; undefined where it has to be done again. */
  taskReport(): TaskReport | undefined {
    const last = this.#last;
    // Work that the store holds counts, whether its worker came to report it or not.
    const isSettled = this.#complete || this.#kept() !== undefined;
    if (this.#report === undefined && !isSettled) return undefined;
    const report = this.#report ?? { ...plainReport, concerns: ['its worker ended before it reported'] };
    return {
      task: this.task.id,
      agent: this.claimed.agent,
      outcome: last?.kind ?? 'none',
      ...(last !== undefined && { seq: last.seq }),
      ...(last?.kind === 'conflicted' && { conflict: last.conflict }),
      ...(last?.kind === 'parked' && { parked: last.parked }),
      handoff: this.#handoff(report),
    };
  }

  #handoff(report: HandoffReport): Handoff {
    return { ...report, commits: [...this.#acknowledged], ...(this.#check !== undefined && { check: this.#check }) };
  }

  /** Id under which the store keeps the work that did not land. */
  #kept(): string | undefined {
    if (this.#last?.kind === 'conflicted') return this.#last.conflict;
    return this.#last?.kind === 'parked' ? this.#last.parked : undefined;
  }
}

const plainReport: HandoffReport = {
  status: 'done',
  verifiedBy: [],
  concerns: [],
  findings: [],
  debts: [],
  deviations: [],
  outOfScope: [],
};
