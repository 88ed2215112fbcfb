import { absent, type Author, type Outcome, type RecordWrite } from '@mound/vcs';
import { unlimited, type Cap } from '../core/amount.ts';
import { rootTask, taskNameOf, type AgentId, type TaskId } from '../core/ids.ts';
import { isInScope, type Task, type TaskReport } from '../core/task.ts';
import type { Shortage } from '../state/budget.ts';
import { takesTasks } from '../core/role.ts';
import { tasksOf, type PlannerState } from '../state/state.ts';
import {
  refused,
  type DecisionRequest,
  type HandoffReport,
  type NoteRequest,
  type PlannerOperations,
  type Refusal,
  type TaskRequest,
  type TaskView,
} from '../tools/operations.ts';
import { isApproval } from './approvals.ts';
import { decisionChange, decisionsOf, withReferences } from './decisions.ts';
import { noteInGuide } from './field-guide.ts';
import { RepoReads } from './repo-reads.ts';
import type { RunContext } from './run-context.ts';
import { checkOf } from './run-options.ts';
import type { Swarm } from './swarm.ts';
import { isRejected, type Claim } from './task-book.ts';
import { heldWords, TopicClaims, topicTriesMax, twinTopics, type TopicRequest } from './topics.ts';

interface Parts {
  readonly context: RunContext;
  readonly swarm: Swarm;
  readonly agent: AgentId;
  readonly task: Task;
  readonly claim: Claim;
  readonly base: number;
  readonly onTold: (tasks: readonly TaskId[]) => void;
}

/** A planner's effects: it writes task records, never a file. */
export class RepoPlanner extends RepoReads implements PlannerOperations {
  readonly #parts: Parts;
  readonly #context: RunContext;
  readonly #author: Author;
  #report: HandoffReport | undefined;

  constructor(parts: Parts) {
    super(parts.context.repo, parts.base, parts.context.guide);
    this.#parts = parts;
    this.#context = parts.context;
    this.#author = parts.context.author(parts.context.role(parts.task.role), parts.agent);
  }

  get #node(): PlannerState {
    const node = this.#parts.swarm.state.planners.get(this.#parts.task.id);
    if (node === undefined) throw new Error(`planner ${this.#parts.task.id} is not in the tree`);
    return node;
  }

  async delegate(requests: readonly TaskRequest[], key: string): ReturnType<PlannerOperations['delegate']> {
    const newest = this.#context.repo.snapshot().seq;
    const twins = this.#context.isOn('split-brain') ? twinTopics(requests) : undefined;
    const fault = this.#faultOf(requests, newest) ?? twins;
    if (fault !== undefined) return refused(`nothing was delegated: ${fault}`);
    const objection = await this.#objectionTo(requests, key);
    if (objection !== undefined) return objection;
    const topics = requests.flatMap((request) => request.topics ?? []);
    const outcome = await this.#claiming({ topics }, requests, (fence) => this.#reserve(requests, newest, fence, key));
    switch (outcome.kind) {
      case 'refused':
        return refused(`nothing was delegated: ${outcome.says}. Leave it out, or report why it should be otherwise.`);
      case 'short': {
        const { asked, free, dimension } = outcome;
        return refused(
          `nothing was delegated: your budget has ${free} ${dimension} free, you asked for ${asked}. Ask for less, or finish.`,
        );
      }
      case 'rejected':
        return refused(`nothing was delegated (${outcome.code}): ${outcome.message}. ${outcome.next}`);
      default:
        return { kind: 'delegated', base: newest };
    }
  }

  /** Waits for the word of those who started the run, where they want to be asked. */
  async #objectionTo(requests: readonly TaskRequest[], key: string): Promise<Refusal | undefined> {
    const { swarm, task } = this.#parts;
    if (this.#context.parts.policy.approve !== 'delegations' || task.id !== rootTask) return undefined;
    const names = requests.map(({ id, title }) => `${id} (${title})`).join(', ');
    const asked = await this.#pose(
      `may these be handed out (mound swarm approve says yes, any other answer no): ${names}?`,
      `${key}-approval`,
      true,
    );
    if (asked.kind === 'refused') return asked;
    const said = await swarm.approvals.wait(asked.id);
    if (said === undefined) return refused('the run is being stopped. When it goes on, call delegate again.');
    return isApproval(said) ? undefined : refused(`nothing was delegated: those who started the run say: ${said}`);
  }

  /** Writes the tasks with their budgets; those that landed are queued. */
  async #reserve(
    requests: readonly TaskRequest[],
    newest: number,
    fence: readonly RecordWrite[],
    key: string,
  ): Promise<Outcome | Shortage> {
    const { budgets } = this.#context.parts;
    const [draws] = this.#context.drawChain(this.#parts.task.id);
    const share = budgets.isFree(draws) ? undefined : budgets.share(draws, requests.length);
    const tasks = requests.map((request) => this.#taskOf(request, newest, share));
    const outcome = await budgets.reserve(
      draws,
      tasks.flatMap(({ id, budget }) => (budget === undefined ? [] : [[id, budget] as const])),
      {
        // Its own claim goes with it: a planner whose task was taken over delegates nothing.
        records: [...this.#context.book.creation(tasks), this.#fence(key), ...fence],
        author: this.#author,
        message: `delegate ${tasks.map(({ id }) => id).join(', ')}`.slice(0, 1000),
        operationId: this.operationId(key),
      },
    );
    if (outcome.kind === 'short' || outcome.kind === 'rejected') return outcome;
    this.#claimAt(outcome.seq, key);
    for (const task of tasks) this.#parts.swarm.addTask(task);
    return outcome;
  }

  /**
   * Lands what settles topics, or hands them out, while nobody else holds them;
   * one such claim lands at a time, in all processes.
   */
  async #claiming<T extends Outcome | Shortage>(
    wanted: Pick<TopicRequest, 'topics' | 'replaces'>,
    tasks: readonly TaskRequest[],
    land: (fence: readonly RecordWrite[]) => Promise<T>,
  ): Promise<T | Refusal> {
    const { swarm, task } = this.#parts;
    if (wanted.topics.length === 0 || !this.#context.isOn('split-brain')) return land([]);
    for (let tries = 1; ; tries++) {
      const claims = new TopicClaims(this.#context);
      const held = claims.held({ planner: task.id, ...wanted }, swarm.ancestorsOf(task.id));
      if (held !== undefined) {
        const { text: _, ...about } = held;
        swarm.dispatch({ kind: 'topic.refused', planner: task.id, ...about });
        return refused(heldWords(held));
      }
      const fence = claims.write(task.id, tasks);
      const outcome = await land([fence]);
      const isOvertaken = outcome.kind === 'rejected' && outcome.paths.includes(fence.key);
      if (!isOvertaken || tries >= topicTriesMax) return outcome;
    }
  }

  /** Names what a call asks of the store. */
  operationId(key: string): string {
    const { task, generation } = this.#parts.claim;
    return `${this.#context.run}/${task}/${generation}/${key}`;
  }

  #fence(key: string): ReturnType<RunContext['book']['progress']> {
    return this.#context.book.progress(this.#parts.claim, 'claimed', this.operationId(key));
  }

  #claimAt(seq: number, key: string): void {
    const { claim } = this.#parts;
    claim.version = seq;
    claim.operations = [...claim.operations, this.operationId(key)];
  }

  #taskOf(request: TaskRequest, newest: number, share: Cap | undefined): Task {
    const { base = newest, role = 'worker', check: _, unchecked: __, after, budget, topics, ...rest } = request;
    const { policy, roles } = this.#context.parts;
    const check = checkOf(request, roles[role], policy.check);
    // Within a bounded budget every task has a part of its own, set aside before it starts.
    const cap = share === undefined ? budget && { ...unlimited, ...budget } : { ...share, ...budget };
    return {
      ...rest,
      base,
      role,
      parent: this.#parts.task.id,
      ...(check !== undefined && { check }),
      ...(after !== undefined && { after }),
      ...(topics !== undefined && { topics }),
      ...(cap !== undefined && this.#context.has('budgets') && { budget: cap }),
    };
  }

  /** One sentence on what is wrong with a delegation, and what to do. */
  #faultOf(requests: readonly TaskRequest[], newest: number): string | undefined {
    const { limits, policy, roles } = this.#context.parts;
    const late = requests.find(({ base }) => base !== undefined && base > newest);
    if (late !== undefined) return `${late.id} starts from seq ${late.base}, newest is ${newest}.`;
    const ids = requests.map(({ id }) => id);
    const repeated = ids.filter((id, at) => ids.indexOf(id) !== at || id === rootTask);
    const taken = [...new Set([...repeated, ...this.#context.book.taken(ids)])];
    if (taken.length > 0) return `${taken.join(', ')} is taken; choose new ids.`;
    const open = this.#node.unsettled;
    if (open + requests.length > limits.fanOutMax) {
      return `${open} of your tasks are open and ${requests.length} more would be over ${limits.fanOutMax}. Delegate fewer, or wait.`;
    }
    if (this.#parts.swarm.taskCount + requests.length > limits.tasksMax) {
      return `the run may have ${limits.tasksMax} tasks. Finish with what there is.`;
    }
    const depth = this.#parts.swarm.depthOf(this.#parts.task.id);
    for (const [at, request] of requests.entries()) {
      const role = roles[request.role ?? 'worker'];
      if (role === undefined || !takesTasks(role.kind)) return `${request.id}: there is no role '${request.role}'.`;
      if (role.kind === 'planner' && depth >= limits.depthMax) {
        return `${request.id}: planners may stand ${limits.depthMax} below the goal's, and you do. Hand it to workers.`;
      }
      const outside = request.scope.find((path) => !isInScope(this.#parts.task.scope, path));
      if (outside !== undefined || (request.scope.length === 0 && this.#parts.task.scope.length > 0)) {
        return `${request.id}: ${outside ?? 'everywhere'} is outside of your own scope (${this.#parts.task.scope.join(', ')}).`;
      }
      const unknown = (request.after ?? []).find(
        (id) =>
          !ids.slice(0, at).includes(id) && !this.#context.tasks.has(id) && this.#context.book.task(id) === undefined,
      );
      if (unknown !== undefined) return `${request.id} comes after ${unknown}, which is no earlier task.`;
      if (
        request.check !== undefined &&
        role.kind === 'worker' &&
        this.#context.parts.commands.directory === undefined
      ) {
        return `${request.id} names a check, and this run runs no commands. Leave it out, and say in unchecked why.`;
      }
      const isProved = request.check ?? request.unchecked ?? policy.check;
      if (policy.checks === 'required' && role.kind === 'worker' && !isProved) {
        return `${request.id} names no check. Give a command that proves it, or say in unchecked why there is none.`;
      }
    }
    return undefined;
  }

  async wait(for_: 'all' | 'any'): ReturnType<PlannerOperations['wait']> {
    const { unsettled, reports } = this.#node;
    if (unsettled === 0 && reports.length === 0) {
      return refused('there is nothing to wait for: no task is open. Delegate, or finish.');
    }
    const told = await this.#wait(for_);
    if (told === undefined) return refused('the run is being stopped. When it goes on, call wait again.');
    const { seq } = this.#context.repo.snapshot();
    return { kind: 'ended', reports: told, seq, open: this.#node.unsettled };
  }

  async #wait(for_: 'all' | 'any'): Promise<readonly TaskReport[] | undefined> {
    const reports = await this.#parts.swarm.plannerWaits(this.#parts.task.id, for_);
    if (reports === undefined) return undefined;
    this.advance(this.#context.repo.snapshot().seq);
    this.#parts.onTold(reports.map(({ task }) => task));
    return reports;
  }

  inspect(): TaskView[] {
    return tasksOf(this.#parts.swarm.state, this.#parts.task.id).map(({ id, title, status, agent }) => ({
      task: id,
      title,
      status,
      agent,
    }));
  }

  async decide(request: DecisionRequest, key: string): ReturnType<PlannerOperations['decide']> {
    const { id: owner } = this.#parts.task;
    const mine = new Set<string>(this.#parts.swarm.ancestorsOf(owner));
    const before = decisionsOf(this.#context).find(({ id }) => id === request.id);
    if (before !== undefined && !mine.has(before.owner)) {
      return refused(`nothing was decided: ${request.id} belongs to ${before.owner}. Report your objection.`);
    }
    const replaces = [request.id, ...(request.supersedes ?? [])];
    const outcome = await this.#claiming({ topics: request.topics, replaces }, [], (fence) =>
      this.#landDecision(request, fence, key),
    );
    if (outcome.kind === 'refused') return refused(`nothing was decided: ${outcome.says}.`);
    if (isRejected(outcome))
      return refused(`nothing was decided (${outcome.code}): ${outcome.message}. ${outcome.next}`);
    return { kind: 'decided', seq: outcome.seq };
  }

  note(request: NoteRequest, key: string): Promise<Outcome | Refusal> {
    const writer = { author: this.#author, base: this.base, operationId: this.operationId(key) };
    return noteInGuide(this.#context, request, writer);
  }

  /** Again where another decision brought the rule on references meanwhile. */
  async #landDecision(request: DecisionRequest, fence: readonly RecordWrite[], key: string): Promise<Outcome> {
    const { id: owner } = this.#parts.task;
    for (let tries = 1; ; tries++) {
      const { changes, records } = withReferences(this.#context, [decisionChange(this.#context, owner, request)]);
      const outcome = await this.#context.repo.land({
        author: this.#author,
        message: `Decide ${request.id}`,
        task: taskNameOf(this.#context.run, owner),
        operationId: this.operationId(key),
        // Who decides has seen what holds: two who decide at once are told, not merged.
        onStale: 'reject',
        changes,
        records: [...fence, ...records],
      });
      const isRuledMeanwhile = isRejected(outcome) && records.some((record) => outcome.paths.includes(record.key));
      if (!isRuledMeanwhile || tries >= topicTriesMax) return outcome;
    }
  }

  ask(question: string, key: string): ReturnType<PlannerOperations['ask']> {
    return this.#pose(question, key, false);
  }

  async #pose(question: string, key: string, approval: boolean): ReturnType<PlannerOperations['ask']> {
    const { task, generation } = this.#parts.claim;
    const id = `${task}-${generation}-${key}`;
    const value = JSON.stringify({ format: 1, id, task, question, ...(approval && { approval }) });
    const outcome = await this.#context.repo.land({
      author: this.#author,
      message: `ask: ${question.slice(0, 200)}`,
      operationId: this.operationId(key),
      records: [{ key: `${this.#context.keys.questions}${id}`, expect: absent, value }],
    });
    if (isRejected(outcome)) return refused(`not asked: ${outcome.message}.`);
    this.#parts.swarm.dispatch({ kind: 'question.asked', question: id, task, text: question });
    return { kind: 'asked', id };
  }

  /**
   * A planner that is done still takes what comes in late: while tasks of it are
   * open it is answered with their reports, and may plan again.
   */
  async finish(report: HandoffReport, _key: string): Promise<Refusal | undefined> {
    const { unsettled, reports } = this.#node;
    if (unsettled > 0 || reports.length > 0) {
      const told = await this.#wait('any');
      if (told === undefined) return refused('the run is being stopped. When it goes on, call finish again.');
      const open = this.#node.unsettled;
      return refused(
        `not ended yet: ${told.length} reports came in late, ${open} tasks are open. Plan again where they ask for it, or call finish again. Reports: ${JSON.stringify(told)}`,
      );
    }
    const { book, repo } = this.#context;
    const records = [book.closing(this.#parts.claim, report.status)];
    const outcome = await repo.land({ author: this.#author, message: `end ${this.#parts.task.id}`, records });
    if (isRejected(outcome))
      return refused(`not accepted (${outcome.code}): another planner has taken over. Stop here.`);
    this.#report = report;
    return undefined;
  }

  /** Ends the task of a planner that can or may not go on; what it handed out is its own planner's from then on. */
  async giveUp(concern: string): Promise<void> {
    if (this.#report !== undefined) return;
    const { book, repo } = this.#context;
    const records = [book.closing(this.#parts.claim, 'partial')];
    const outcome = await repo.land({ author: this.#author, message: `end ${this.#parts.task.id}`, records });
    if (isRejected(outcome)) return;
    this.#report = {
      status: 'partial',
      verifiedBy: [],
      concerns: [concern],
      findings: [],
      debts: [],
      deviations: [],
      outOfScope: [],
    };
  }

  /** What is to be told of the task; undefined where its planner did not finish. */
  taskReport(): TaskReport | undefined {
    if (this.#report === undefined) return undefined;
    const handoff = { ...this.#report, commits: [] };
    return { task: this.#parts.task.id, agent: this.#parts.agent, outcome: 'none', handoff };
  }
}
