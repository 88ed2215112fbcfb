import { rootTask, type AgentId, type TaskId } from '../core/ids.ts';
import type { RoleKind } from '../core/role.ts';
import { isInScope, type Task, type TaskReport } from '../core/task.ts';
import { noUsage } from '../core/usage.ts';
import type { RunEndReason, SwarmEvent } from '../events/event.ts';
import { schedule, type Directive } from '../schedule/schedule.ts';
import { reduce } from '../state/reduce.ts';
import { initialState, type SwarmState } from '../state/state.ts';
import type { AgentEnd, Halt } from '../agent/agent.ts';
import { AgentNames } from './agent-names.ts';
import { Approvals } from './approvals.ts';
import { closeBooks } from './close-books.ts';
import type { RunContext } from './run-context.ts';
import { GivenUp } from './given-up.ts';
import { GreenKeeper } from './green-keeper.ts';
import type { Hands, LeadDesk } from './hands/hands.ts';
import { Notices } from './notices.ts';
import { ReviewDesk } from './review-desk.ts';
import { runReviewer } from './run-reviewer.ts';
import { runDecomposer, runMerger, runReconciler } from './run-neutral.ts';
import { runPlanner } from './run-planner.ts';
import { runWorker } from './run-worker.ts';

interface Ending {
  readonly reason: RunEndReason;
  /** Why the planner did not finish, or the run stopped. */
  readonly detail?: string | undefined;
  /** An environment fault, which ends the run for its caller too. */
  readonly fault?: unknown;
}

export interface SwarmParts {
  readonly context: RunContext;
  /** Counts the processes that have run it, from 1. */
  readonly runGeneration: number;
  /** Tasks whose agents a process before this one had begun. */
  readonly begun: ReadonlySet<TaskId>;
  readonly onEvent: ((event: SwarmEvent) => void) | undefined;
  /** Its other processes, where it has some. */
  readonly hands: Hands | undefined;
}

/**
 * The loop: an event changes the state, the state gives directives, carrying
 * them out brings events. Everything that decides is in `reduce` and
 * `schedule`; here is only what acts.
 */
export class Swarm implements LeadDesk {
  readonly #context: RunContext;
  readonly #parts: SwarmParts;
  readonly #marks = new Map<string, string>();
  readonly #counts = new Map<SwarmEvent['kind'], number>();
  readonly #live = new Map<AgentId, AbortController>();
  readonly #begun: Set<TaskId>;
  readonly #names: AgentNames;
  readonly #notices = new Notices();
  readonly #wakes = new Map<TaskId, (reports: readonly TaskReport[] | undefined) => void>();
  readonly reviews: ReviewDesk;
  readonly green: GreenKeeper;
  readonly givenUp: GivenUp;
  readonly approvals: Approvals = new Approvals();
  #unpaused: (() => void)[] = [];
  #state: SwarmState = initialState;
  #scheduled = false;
  #liveMax = 0;
  #taskCount = 0;
  #detail: string | undefined;
  #fault: { readonly error: unknown } | undefined;
  #end!: (ending: Ending) => void;
  readonly ended: Promise<Ending> = new Promise((resolve) => {
    this.#end = resolve;
  });

  constructor(parts: SwarmParts) {
    this.#parts = parts;
    this.#context = parts.context;
    this.#context.announce = (event) => this.dispatch(event);
    parts.hands?.attach(this);
    this.#begun = new Set(parts.begun);
    this.#names = new AgentNames(parts.context);
    this.reviews = new ReviewDesk(parts.context, this);
    this.green = new GreenKeeper(parts.context, this);
    this.givenUp = new GivenUp(
      parts.context,
      (event) => this.dispatch(event),
      (error) => this.fail(error),
    );
  }

  get state(): SwarmState {
    return this.#state;
  }

  get runGeneration(): number {
    return this.#parts.runGeneration;
  }

  get isResumed(): boolean {
    return this.#parts.runGeneration > 1;
  }

  /** Tasks that were ever made. */
  get taskCount(): number {
    return this.#taskCount;
  }

  /** Distinct agents, and the most that lived at once. */
  get agents(): { readonly names: number; readonly liveMax: number } {
    return { names: this.#names.count, liveMax: this.#liveMax };
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  dispatch(event: SwarmEvent): void {
    this.#counts.set(event.kind, (this.#counts.get(event.kind) ?? 0) + 1);
    const before = this.#state;
    this.#state = reduce(before, event);
    if (event.kind === 'task.reopened') this.givenUp.seen(event, before, this.#state);
    if (event.kind === 'file.flagged') this.#marks.set(event.path, event.reason);
    if (event.kind === 'intent.answered') this.#context.parts.tally.landing(event.outcome, event.ms);
    this.#parts.hands?.setPhase(this.#state.phase);
    // Who is parked is in no turn that could end: it asks again at a resume.
    if (event.kind === 'agent.waiting' && this.isStopping) this.abortAgent(event.agent);
    if (event.kind === 'run.unpaused' || event.kind === 'run.stopping') this.#openGate();
    this.reviews.seen(event);
    this.green.seen(event);
    this.#parts.onEvent?.(event);
    // The same state asks for nothing new.
    if (this.#scheduled || this.#state === before) return;
    // Once for all events of this turn of the loop.
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      for (const directive of schedule(this.#state)) this.#carryOut(directive);
    });
  }

  /** A task that stands in the records. */
  addTask(task: Task): void {
    this.#taskCount += 1;
    this.#context.tasks.set(task.id, task);
    const { id, parent, title, scope, after } = task;
    const plans = this.#context.role(task.role).kind === 'planner';
    this.dispatch({
      kind: 'task.created',
      task: id,
      parent,
      plans,
      title,
      scope,
      ...(after !== undefined && { after }),
    });
  }

  /** Of the planner of a task: 0 for the goal's. */
  depthOf(id: TaskId): number {
    return this.ancestorsOf(id).length - 1;
  }

  /** The task itself, and those that it came from, up to the goal. */
  ancestorsOf(id: TaskId): TaskId[] {
    const line = [id];
    for (let at = id; at !== rootTask; line.push(at)) at = this.#context.mustTask(at).parent;
    return line;
  }

  /** True while a planner of that task plans, or waits for what it handed out. */
  isLive(planner: TaskId): boolean {
    const phase = this.#state.planners.get(planner)?.phase;
    return phase === 'working' || phase === 'waiting';
  }

  /** The lowest planner above all of these that is there still. */
  commonPlannerOf(planners: readonly TaskId[]): TaskId {
    const [first = [rootTask], ...others] = planners.map((planner) => this.ancestorsOf(planner));
    const common = first.filter((id) => others.every((line) => line.includes(id)));
    return common.find((id) => this.#state.planners.has(id)) ?? rootTask;
  }

  /** What the planner of a task was given to reach. */
  goalOf(planner: TaskId): string {
    if (planner === rootTask) return this.#state.goal;
    const { brief, title } = this.#context.mustTask(planner);
    return brief || title;
  }

  /** Why a file was marked. */
  reasonOf(path: string): string {
    return this.#marks.get(path) ?? '';
  }

  /** Tasks at work whose scope names one of the paths. */
  workersOn(paths: readonly string[]): TaskId[] {
    return [...this.#state.tasks.values()]
      .filter(({ plans, scope }) => !plans && scope.length > 0 && paths.some((path) => isInScope(scope, path)))
      .map(({ id }) => id);
  }

  get isStopping(): boolean {
    return this.#state.phase === 'stopping';
  }

  attemptsOf(task: TaskId): number {
    return this.#state.tasks.get(task)?.attempts ?? 0;
  }

  isHolder(task: TaskId, agent: AgentId): boolean {
    return this.#state.tasks.get(task)?.agent === agent;
  }

  wasCutOff(task: TaskId): void {
    this.#begun.add(task);
  }

  /** True once for a task whose agent was cut off by the end of an earlier process. */
  goesOn(id: TaskId): boolean {
    return this.#begun.delete(id);
  }

  /** Agents pass here before each request: they wait while the run is paused, and halt where it stops. */
  async gate(): Promise<Halt | undefined> {
    while (this.#state.phase === 'paused') {
      await new Promise<void>((resolve) => this.#unpaused.push(resolve));
    }
    return this.#state.phase === 'stopping' ? { reason: 'stopped' } : undefined;
  }

  #openGate(): void {
    const waiting = this.#unpaused;
    this.#unpaused = [];
    for (const go of waiting) go();
  }

  /** A task of an earlier process that needs no more work. */
  countTask(): void {
    this.#taskCount += 1;
  }

  /** Told to the agent of a task before its next request. */
  tell(task: TaskId, text: string, onTold: () => void): void {
    if (this.#parts.hands?.tell(task, text, onTold)) return;
    this.#notices.add(task, text, onTold);
  }

  takeNotices(task: TaskId): readonly string[] {
    return this.#notices.take(task);
  }

  /** No further model call is made; with `now` those in flight are given up. Landings in flight are awaited. */
  stop(reason: RunEndReason, how: 'turns' | 'now', detail?: string): void {
    const { phase } = this.#state;
    if (phase === 'ended' || phase === 'new') return;
    this.#detail ??= detail;
    if (phase !== 'stopping') {
      this.dispatch({ kind: 'run.stopping', reason, how, ...(detail !== undefined && { detail }) });
    }
    for (const [agent, controller] of this.#live) if (how === 'now' || this.#isParked(agent)) controller.abort();
    for (const planner of this.#wakes.keys()) this.#wakePlanner(planner, undefined);
    this.approvals.close();
  }

  #isParked(agent: AgentId): boolean {
    return this.#state.agents.get(agent)?.waitingUntil !== undefined;
  }

  fail(error: unknown): void {
    this.#fault ??= { error };
    this.stop('aborted', 'now', error instanceof Error ? error.message : String(error));
  }

  abortAgent(agent: AgentId): void {
    this.#live.get(agent)?.abort();
  }

  /** Resolves when what the planner waits for is there; undefined where the run is being stopped. */
  plannerWaits(planner: TaskId, for_: 'all' | 'any'): Promise<readonly TaskReport[] | undefined> {
    if (this.#state.phase !== 'running' && this.#state.phase !== 'paused') return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#wakes.set(planner, resolve);
      this.dispatch({ kind: 'planner.waiting', planner, for: for_ });
    });
  }

  #wakePlanner(planner: TaskId, reports: readonly TaskReport[] | undefined): void {
    const wake = this.#wakes.get(planner);
    this.#wakes.delete(planner);
    wake?.(reports);
  }

  #carryOut(directive: Directive): void {
    switch (directive.kind) {
      case 'start-planner': {
        const { task } = directive;
        return this.#start('planner', { task }, (agent, signal) =>
          runPlanner(this.#context, this, agent, task, signal),
        );
      }
      case 'start-worker': {
        const { task } = directive;
        return this.#start('worker', { task }, (agent, signal) => this.#work(agent, task, signal));
      }
      case 'start-merger': {
        const { conflicts } = directive;
        return this.#start('merger', { conflicts }, (agent, signal) =>
          runMerger(this.#context, this, agent, conflicts, signal),
        );
      }
      case 'start-reconciler': {
        const { contradiction } = directive;
        return this.#start('reconciler', { contradiction }, (agent, signal) =>
          runReconciler(this.#context, this, agent, contradiction, signal),
        );
      }
      case 'start-reviewer': {
        const { review } = directive;
        return this.#start('reviewer', { review }, (agent, signal) =>
          runReviewer(this.#context, this, agent, review, signal),
        );
      }
      case 'start-decomposer': {
        const { path } = directive;
        return this.#start('decomposer', { path }, (agent, signal) =>
          runDecomposer(this.#context, this, agent, path, signal),
        );
      }
      case 'check-green':
        return void this.green.check();
      case 'strand': {
        const { repo } = this.#context;
        // What the store has decided since, the feed is about to tell.
        const still = directive.tasks.filter((id) => {
          const operation = this.#state.tasks.get(id)?.report?.handoff.commits.at(-1);
          return operation === undefined || repo.outcome(operation)?.kind === 'parked';
        });
        if (still.length > 0) this.dispatch({ kind: 'tasks.stranded', tasks: still });
        return;
      }
      case 'wake-planner': {
        const { planner, tasks } = directive;
        const told = new Set(tasks);
        const reports = this.#state.planners.get(planner)?.reports.filter(({ task }) => told.has(task)) ?? [];
        this.dispatch({ kind: 'planner.woken', planner, tasks });
        void this.#settleBooks(told).then(() => this.#wakePlanner(planner, reports));
        return;
      }
      case 'end-run':
        this.dispatch({ kind: 'run.ended', reason: directive.reason });
        return void this.#conclude(directive.reason);
    }
  }

  /** In the process that has the fewest agents. */
  #work(agent: AgentId, task: TaskId, signal: AbortSignal): Promise<AgentEnd> {
    const { hands } = this.#parts;
    const hand = hands?.place(this.#live.size - hands.liveCount - 1);
    if (hands === undefined || hand === undefined) return runWorker(this.#context, this, agent, task, signal);
    const running = hands.work(hand, agent, task, signal);
    for (const { text, onTold } of this.#notices.move(task)) this.tell(task, text, onTold);
    return running;
  }

  async #conclude(reason: RunEndReason): Promise<void> {
    await this.givenUp.settled();
    this.#end({ reason, detail: this.#detail, ...(this.#fault && { fault: this.#fault.error }) });
  }

  async #settleBooks(tasks: ReadonlySet<TaskId>): Promise<void> {
    await this.givenUp.settled([...tasks]);
    await closeBooks(this.#context, tasks).catch((error: unknown) => this.fail(error));
    for (const id of tasks) this.#context.tasks.delete(id);
  }

  #start(
    role: RoleKind,
    work: {
      readonly task?: TaskId;
      readonly conflicts?: readonly string[];
      readonly contradiction?: string;
      readonly path?: string;
      readonly review?: string;
    },
    run: (agent: AgentId, signal: AbortSignal) => Promise<AgentEnd>,
  ): void {
    try {
      const agent = this.#names.take(role, work.conflicts);
      const controller = new AbortController();
      this.#live.set(agent, controller);
      this.#liveMax = Math.max(this.#liveMax, this.#live.size);
      this.dispatch({ kind: 'agent.started', agent, role, ...work });
      const { contradiction } = work;
      if (contradiction !== undefined) this.dispatch({ kind: 'contradiction.assigned', contradiction, agent });
      if (work.review !== undefined) this.dispatch({ kind: 'review.assigned', review: work.review, agent });
      if (work.path !== undefined) this.dispatch({ kind: 'decomposition.assigned', path: work.path, agent });
      for (const conflict of work.conflicts ?? []) this.dispatch({ kind: 'conflict.assigned', conflict, agent });
      void this.#follow(agent, role, work.task, run(agent, controller.signal));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Every agent ends in an event, whatever happens to it: no slot is leaked. */
  async #follow(agent: AgentId, role: RoleKind, task: TaskId | undefined, running: Promise<AgentEnd>): Promise<void> {
    const end = await running.catch((error: unknown): AgentEnd => {
      this.fail(error);
      return { reason: 'lost', turns: 0, usage: noUsage };
    });
    this.#live.delete(agent);
    this.#names.release(role, agent);
    if (task === rootTask) this.#detail ??= end.detail;
    this.#context.parts.tally.agent(role, end.turns, end.usage);
    this.dispatch({ kind: 'agent.ended', agent, role, ...end });
    // Nobody can plan on: what is there is kept, and the run can be resumed with more.
    if (task === rootTask && end.reason === 'budget') this.stop('budget', 'turns', end.detail);
  }
}
