import { absent, version, type Author, type Change, type Outcome, type Precondition } from '@mound/vcs';
import { taskNameOf } from '../core/ids.ts';
import { isInScope, type Handoff, type Task, type TaskReport } from '../core/task.ts';
import {
  refused,
  type CommitRequest,
  type HandoffReport,
  type Refusal,
  type WorkerOperations,
} from '../tools/operations.ts';
import { isRejected, type Claim } from './ledger.ts';
import { RepoReads } from './repo-reads.ts';
import { changeOf, type RunContext } from './run-context.ts';

/** A worker's effects on the real store, fenced by its claim. */
export class RepoWorker extends RepoReads implements WorkerOperations {
  readonly #context: RunContext;
  readonly #task: Task;
  readonly #claim: Claim;
  readonly #author: Author;
  #commits = 0;
  /** Operations that the store took. */
  readonly #acknowledged: string[] = [];
  #last: Exclude<Outcome, { kind: 'rejected' }> | undefined;
  /** The last one completed the task. */
  #complete = false;
  #report: HandoffReport | undefined;

  constructor(context: RunContext, task: Task, claim: Claim) {
    super(context.repo, task.base);
    this.#context = context;
    this.#task = task;
    this.#claim = claim;
    this.#author = context.author('worker', claim.agent);
  }

  /** Intents of its task that have landed. */
  get landings(): number {
    return this.#claim.operations.length;
  }

  async commit(request: CommitRequest): Promise<Outcome | Refusal> {
    const kept = this.#kept();
    if (kept !== undefined) return refused(`nothing was landed: your work is kept as ${kept}. Call finish.`);
    const outside = request.changes.filter(({ path }) => !isInScope(this.#task.scope, path)).map(({ path }) => path);
    if (outside.length > 0 && !request.breakage) {
      return refused(
        `nothing was landed: ${outside.join(', ')} is outside of your scope (${this.#task.scope.join(', ')}). Leave it out and name it in outOfScope, or give the reason as breakage.`,
      );
    }
    const changes: Change[] = [];
    for (const asked of request.changes) {
      const content = await this.#context.bytes(asked);
      if (content.kind === 'refused') return content;
      const change = changeOf(asked, content.bytes, this.#expectOf(asked));
      if (change.kind === 'refused') return change;
      changes.push(change);
    }
    return this.#land(request, changes, outside.length > 0);
  }

  async #land(request: CommitRequest, changes: readonly Change[], breaks: boolean): Promise<Outcome> {
    const { run, ledger, repo } = this.#context;
    const { task, agent, generation } = this.#claim;
    this.#commits += 1;
    const operationId = `${run}/${task}/${generation}/${this.#commits}`;
    const startedMs = performance.now();
    const outcome = await repo.land({
      author: this.#author,
      message: request.message,
      task: taskNameOf(run, task),
      operationId,
      onStale: 'merge',
      changes,
      records: [ledger.progress(this.#claim, request.more ? 'claimed' : 'done', operationId)],
      ...(request.rationale && { rationale: request.rationale }),
      ...(breaks && { breakage: request.breakage ?? '' }),
    });
    if (outcome.kind !== 'rejected') {
      this.#acknowledged.push(operationId);
      this.#last = outcome;
    }
    if (outcome.kind === 'landed' || outcome.kind === 'merged') {
      this.#claim.version = outcome.seq;
      this.#claim.operations = [...this.#claim.operations, operationId];
      this.#complete = !request.more;
      this.advance(outcome.seq);
    }
    const paths = changes.map(({ path }) => path);
    await this.#context.acknowledge(agent, operationId, outcome, paths, startedMs);
    return outcome;
  }

  #expectOf(change: CommitRequest['changes'][number]): Precondition {
    if (change.expect === 'absent') return absent;
    if (change.expect !== undefined) return version(change.expect);
    const head = this.#context.repo.snapshot(this.base).head(change.path);
    return head === undefined ? absent : version(head.version);
  }

  async flag(path: string, reason: string): Promise<number> {
    return this.#context.repo.flag(path, { author: this.#author, reason });
  }

  async finish(report: HandoffReport): Promise<Refusal | undefined> {
    const kept = this.#kept();
    if (kept === undefined) {
      if (report.status === 'done' && this.#last === undefined) {
        return refused(
          'not accepted: nothing of this task has landed. Commit first, or finish as nothing-to-do or blocked.',
        );
      }
      if (!this.#complete) {
        const outcome = await this.#context.ledger.close(this.#claim, report.status, this.#author);
        if (isRejected(outcome)) {
          return refused(`not accepted (${outcome.code}): another worker has taken this task over. Stop here.`);
        }
      }
    }
    this.#report = report;
    await this.#context.ledger.report(this.#task.id, this.#claim.generation, this.#handoff(report), this.#author);
    return undefined;
  }

  /** What is to be told of the task; undefined where it has to be done again. */
  taskReport(): TaskReport | undefined {
    const last = this.#last;
    // Work that the store holds counts, whether its worker came to report it or not.
    const isSettled = this.#complete || this.#kept() !== undefined;
    if (this.#report === undefined && !isSettled) return undefined;
    const report = this.#report ?? {
      status: 'done',
      verifiedBy: [],
      concerns: ['its worker ended before it reported'],
      findings: [],
      debts: [],
      deviations: [],
      outOfScope: [],
    };
    return {
      task: this.#task.id,
      agent: this.#claim.agent,
      outcome: last?.kind ?? 'none',
      ...(last !== undefined && { seq: last.seq }),
      ...(last?.kind === 'conflicted' && { conflict: last.conflict }),
      ...(last?.kind === 'parked' && { parked: last.parked }),
      handoff: this.#handoff(report),
    };
  }

  #handoff(report: HandoffReport): Handoff {
    return { ...report, commits: [...this.#acknowledged] };
  }

  /** Id under which the store keeps the work that did not land. */
  #kept(): string | undefined {
    if (this.#last?.kind === 'conflicted') return this.#last.conflict;
    return this.#last?.kind === 'parked' ? this.#last.parked : undefined;
  }
}
