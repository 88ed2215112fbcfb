import { agentIdOf, type AgentId, type TaskId } from '../core/ids.ts';
import type { RoleKind } from '../core/role.ts';
import type { TaskReport } from '../core/task.ts';
import type { RunEndReason, SwarmEvent } from '../events/event.ts';
import { schedule, type Directive } from '../schedule/schedule.ts';
import { reduce } from '../state/reduce.ts';
import { initialState, type SwarmState } from '../state/state.ts';
import type { AgentEnd } from '../agent/agent.ts';
import type { RunContext } from './run-context.ts';
import { authorsOfSides } from './repo-merger.ts';
import { runMerger, runPlanner, runWorker } from './run-agents.ts';

interface Ending {
  readonly reason: RunEndReason;
  /** Why the planner did not finish. */
  readonly detail?: string | undefined;
  /** An environment fault, which ends the run for its caller too. */
  readonly fault?: unknown;
}

/**
 * The loop: an event changes the state, the state gives directives, carrying
 * them out brings events. Everything that decides is in `reduce` and
 * `schedule`; here is only what acts.
 */
export class Swarm {
  readonly #context: RunContext;
  readonly #onEvent: ((event: SwarmEvent) => void) | undefined;
  readonly #counts = new Map<SwarmEvent['kind'], number>();
  readonly #live = new Map<AgentId, AbortController>();
  readonly #names: Readonly<Record<RoleKind, { count: number; readonly free: AgentId[] }>> = {
    planner: { count: 0, free: [] },
    worker: { count: 0, free: [] },
    merger: { count: 0, free: [] },
  };
  #state: SwarmState = initialState;
  #scheduled = false;
  #liveMax = 0;
  #plannerDetail: string | undefined;
  #fault: { readonly error: unknown } | undefined;
  #wake: ((reports: readonly TaskReport[] | undefined) => void) | undefined;
  #end!: (ending: Ending) => void;
  readonly ended: Promise<Ending> = new Promise((resolve) => {
    this.#end = resolve;
  });

  constructor(context: RunContext, onEvent: ((event: SwarmEvent) => void) | undefined) {
    this.#context = context;
    this.#onEvent = onEvent;
  }

  get state(): SwarmState {
    return this.#state;
  }

  /** Distinct agents, and the most that lived at once. */
  get agents(): { readonly names: number; readonly liveMax: number } {
    const names = Object.values(this.#names).reduce((sum, { count }) => sum + count, 0);
    return { names, liveMax: this.#liveMax };
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  dispatch(event: SwarmEvent): void {
    this.#counts.set(event.kind, (this.#counts.get(event.kind) ?? 0) + 1);
    this.#state = reduce(this.#state, event);
    this.#onEvent?.(event);
    if (this.#scheduled) return;
    // Once for all events of this turn of the loop.
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      for (const directive of schedule(this.#state)) this.#carryOut(directive);
    });
  }

  /** Landings in flight are awaited; no further model call is made. */
  abort(reason: string): void {
    if (this.#state.phase !== 'running') return;
    this.dispatch({ kind: 'run.aborting', reason });
    for (const controller of this.#live.values()) controller.abort();
    this.#wakePlanner(undefined);
  }

  fail(error: unknown): void {
    this.#fault ??= { error };
    this.abort(error instanceof Error ? error.message : String(error));
  }

  abortAgent(agent: AgentId): void {
    this.#live.get(agent)?.abort();
  }

  /** Resolves when every task has ended; undefined where the run is being stopped. */
  plannerWaits(): Promise<readonly TaskReport[] | undefined> {
    if (this.#state.phase !== 'running') return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.dispatch({ kind: 'planner.waiting' });
    });
  }

  #wakePlanner(reports: readonly TaskReport[] | undefined): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(reports);
  }

  #carryOut(directive: Directive): void {
    switch (directive.kind) {
      case 'start-planner':
        return this.#start('planner', {}, (agent, signal) => runPlanner(this.#context, this, agent, signal));
      case 'start-worker': {
        const { task } = directive;
        return this.#start('worker', { task }, (agent, signal) => runWorker(this.#context, this, agent, task, signal));
      }
      case 'start-merger': {
        const { conflict } = directive;
        return this.#start('merger', { conflict }, (agent, signal) =>
          runMerger(this.#context, this, agent, conflict, signal),
        );
      }
      case 'wake-planner': {
        const told = new Set(directive.tasks);
        const reports = this.#state.reports.filter(({ task }) => told.has(task));
        for (const task of told) this.#context.tasks.delete(task);
        this.dispatch({ kind: 'planner.woken', tasks: directive.tasks });
        return this.#wakePlanner(reports);
      }
      case 'end-run':
        this.dispatch({ kind: 'run.ended', reason: directive.reason });
        return this.#end({
          reason: directive.reason,
          detail: this.#plannerDetail,
          ...(this.#fault && { fault: this.#fault.error }),
        });
    }
  }

  #start(
    role: RoleKind,
    work: { readonly task?: TaskId; readonly conflict?: string },
    run: (agent: AgentId, signal: AbortSignal) => Promise<AgentEnd>,
  ): void {
    try {
      const agent = this.#freeAgent(role, work.conflict);
      const controller = new AbortController();
      this.#live.set(agent, controller);
      this.#liveMax = Math.max(this.#liveMax, this.#live.size);
      this.dispatch({ kind: 'agent.started', agent, role, ...work });
      if (work.conflict !== undefined) {
        this.dispatch({ kind: 'conflict.assigned', conflict: work.conflict, agent });
      }
      void this.#follow(agent, role, run(agent, controller.signal));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Every agent ends in an event, whatever happens to it: no slot is leaked. */
  async #follow(agent: AgentId, role: RoleKind, running: Promise<AgentEnd>): Promise<void> {
    const end = await running.catch((error: unknown): AgentEnd => {
      this.fail(error);
      return {
        reason: 'lost',
        turns: 0,
        usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, estimated: false },
      };
    });
    this.#live.delete(agent);
    this.#names[role].free.push(agent);
    if (role === 'planner') this.#plannerDetail = end.detail;
    this.#context.tally.agent(role, end.turns, end.usage);
    this.dispatch({ kind: 'agent.ended', agent, role, ...end });
  }

  /** Names are used again, so that there are no more than agents at once; a merger's is of one that wrote neither side. */
  #freeAgent(role: RoleKind, conflict: string | undefined): AgentId {
    const authors =
      conflict === undefined ? undefined : authorsOfSides(this.#context, this.#context.repo.conflict(conflict));
    const isNeutral = (agent: AgentId): boolean => !authors?.has(this.#context.agentName(agent));
    const names = this.#names[role];
    const at = names.free.findIndex(isNeutral);
    const [again] = at < 0 ? [] : names.free.splice(at, 1);
    if (again !== undefined) return again;
    // A new name may be an author's too, where another process runs the same run.
    for (;;) {
      const agent = agentIdOf(role, ++names.count);
      if (isNeutral(agent)) return agent;
      names.free.push(agent);
    }
  }
}
