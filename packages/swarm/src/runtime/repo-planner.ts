import type { AgentId } from '../core/ids.ts';
import type { Task } from '../core/task.ts';
import { unsettledCount, type SwarmState } from '../state/state.ts';
import {
  refused,
  type HandoffReport,
  type PlannerOperations,
  type Refusal,
  type TaskRequest,
  type TaskView,
} from '../tools/operations.ts';
import { isRejected } from './ledger.ts';
import { RepoReads } from './repo-reads.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';

/** A planner's effects: it writes task records, never a file. */
export class RepoPlanner extends RepoReads implements PlannerOperations {
  readonly #context: RunContext;
  readonly #swarm: Swarm;
  readonly #agent: AgentId;

  constructor(context: RunContext, swarm: Swarm, agent: AgentId, base: number) {
    super(context.repo, base);
    this.#context = context;
    this.#swarm = swarm;
    this.#agent = agent;
  }

  get #state(): SwarmState {
    return this.#swarm.state;
  }

  async delegate(requests: readonly TaskRequest[]): ReturnType<PlannerOperations['delegate']> {
    const { repo, ledger } = this.#context;
    const newest = repo.snapshot().seq;
    const late = requests.find(({ base }) => base !== undefined && base > newest);
    if (late !== undefined)
      return refused(`nothing was delegated: ${late.id} starts from seq ${late.base}, newest is ${newest}.`);
    const ids = requests.map(({ id }) => id);
    const repeated = ids.filter((id, at) => ids.indexOf(id) !== at);
    const taken = [...new Set([...repeated, ...ledger.taken(ids)])];
    if (taken.length > 0) return refused(`nothing was delegated: ${taken.join(', ')} is taken; choose new ids.`);

    const tasks = requests.map(({ base, ...request }): Task => ({ ...request, base: base ?? newest }));
    // Durable before anybody starts on it.
    const outcome = await ledger.createTasks(tasks, this.#context.author('planner', this.#agent));
    if (isRejected(outcome))
      return refused(`nothing was delegated (${outcome.code}): ${outcome.message}. ${outcome.next}`);
    for (const task of tasks) {
      this.#context.tasks.set(task.id, task);
      this.#swarm.dispatch({ kind: 'task.created', task: task.id, title: task.title, scope: task.scope });
    }
    return { kind: 'delegated', base: newest };
  }

  async wait(): ReturnType<PlannerOperations['wait']> {
    if (unsettledCount(this.#state) === 0 && this.#state.reports.length === 0) {
      return refused('there is nothing to wait for: no task is open. Delegate, or finish.');
    }
    const reports = await this.#swarm.plannerWaits();
    if (reports === undefined) return refused('the run is being stopped.');
    const { seq } = this.#context.repo.snapshot();
    this.advance(seq);
    return { kind: 'ended', reports, seq };
  }

  inspect(): TaskView[] {
    const { tasks, queue } = this.#state;
    return [...tasks.values(), ...queue].map(({ id, title, status, agent }) => ({ task: id, title, status, agent }));
  }

  async finish(_report: HandoffReport): Promise<Refusal | undefined> {
    const { reports } = this.#state;
    const unsettled = unsettledCount(this.#state);
    if (unsettled > 0) return refused(`not accepted: ${unsettled} tasks have not ended. Call wait.`);
    if (reports.length > 0) return refused(`not accepted: you have not read ${reports.length} reports. Call wait.`);
    return undefined;
  }
}
