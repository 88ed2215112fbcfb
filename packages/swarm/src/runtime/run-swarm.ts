import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { MoundError, systemRandom, type Cursor, type Repo, type RepoEvent } from '@mound/vcs';
import { toolLimits } from '../command/run-command.ts';
import { ownName } from '../command/process-name.ts';
import { coordinationOf } from '../core/coordination.ts';
import { isRunId, rootTask, taskOfName, type RunId, type TaskId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { RoleKind, Roles } from '../core/role.ts';
import type { Task } from '../core/task.ts';
import { systemTime } from '../core/time.ts';
import { CostLedger, type CostReport } from '../cost/cost-ledger.ts';
import { PriceBook } from '../cost/prices.ts';
import type { RunEndReason, SwarmEvent } from '../events/event.ts';
import { translate } from '../events/translate.ts';
import { shippedRoles } from '../roles/roles.ts';
import { unsettledCount } from '../state/state.ts';
import { defaultThrashing } from '../state/thrashing.ts';
import { BudgetBook } from './budget-book.ts';
import { followBreakages } from './breakages.ts';
import { CommandRoom } from './command-room.ts';
import { fightsIn, overlapsNow } from './contradictions.ts';
import { followControls, obeyWaiting } from './control.ts';
import { begunTasks, restore, restoreTasks, settleLost, type RestoredTask } from './restore.ts';
import { RunContext } from './run-context.ts';
import {
  differences,
  isHeld,
  landHeader,
  readHeader,
  sha256,
  stagePrompts,
  canonicalJson,
  type RunHeader,
} from './run-header.ts';
import { RunKeys } from './run-keys.ts';
import {
  budgetOf,
  checkOf,
  defaultLimits,
  mustOptions,
  type GivenTask,
  type ResumeOptions,
  type RunPolicy,
  type SwarmLimits,
  type SwarmOptions,
} from './run-options.ts';
import { Swarm } from './swarm.ts';
import type { MergeReport } from './merge-tally.ts';
import { Tally, type LandingTimes, type OutcomeCounts, type RoleSpend } from './tally.ts';
import { isRejected, TaskBook } from './task-book.ts';
import { Watch } from './watch.ts';

export interface SwarmResult {
  readonly run: RunId;
  readonly reason: RunEndReason;
  /** Why the planner failed, or the run stopped. */
  readonly detail?: string;
  readonly outcomes: OutcomeCounts;
  readonly tasks: {
    readonly created: number;
    /** Ended, whatever became of them. */
    readonly ended: number;
    readonly reopened: number;
  };
  readonly agents: {
    /** Distinct names; a name is used again for later tasks. */
    readonly names: number;
    /** Planners included. */
    readonly liveMax: number;
  };
  /** Intents with changes, resolutions included: from the call to the durable answer. */
  readonly landings: LandingTimes;
  readonly roles: Readonly<Record<RoleKind, RoleSpend>>;
  readonly merges: MergeReport;
  /** What this process spent, by role, task, agent and model; {@link readRun} has that of all. */
  readonly cost: CostReport;
  /** SwarmEvents by kind. */
  readonly events: Readonly<Record<string, number>>;
  readonly seconds: number;
}

interface Opened {
  readonly header: RunHeader;
  readonly version: number;
}

/**
 * Runs a planner and its workers and mergers towards a goal, until the planner
 * finishes and every task has ended. Throws on wrong options (`TypeError`) and
 * on faults of the store; a model that fails is an outcome.
 */
export async function runSwarm(options: SwarmOptions): Promise<SwarmResult> {
  const random = options.random ?? systemRandom;
  const run = options.runId ?? `r${Buffer.from(random.bytes(6)).toString('hex')}`;
  const roles: Roles = { ...shippedRoles(), ...options.roles };
  mustOptions(options, run, roles, options.tasks === undefined);
  const execution = new Execution(options, run, roles);
  return execution.start(options);
}

/**
 * Goes on with a run whose process ended, at any instruction: what has landed
 * stays, agents go on where their transcripts end. Errors: `TypeError`;
 * `MoundError` with `invalid-argument` where there is no such run, where it has
 * finished, is run by a living process, or is made of other settings now and
 * `onChanged` does not accept them.
 */
export async function resumeSwarm(options: ResumeOptions): Promise<SwarmResult> {
  const roles: Roles = { ...shippedRoles(), ...options.roles };
  const header = isRunId(options.runId) ? readHeader(options.repo, new RunKeys(options.runId))?.header : undefined;
  mustOptions(options, options.runId, roles, header?.root !== 'given');
  const execution = new Execution(options, options.runId, roles);
  return execution.resume(options);
}

/** One process's part in a run. */
class Execution {
  readonly #options: ResumeOptions | SwarmOptions;
  readonly #context: RunContext;
  readonly #limits: SwarmLimits;
  readonly #settings: JsonObject;
  readonly #startedMs = performance.now();

  constructor(options: ResumeOptions | SwarmOptions, run: RunId, roles: Roles) {
    this.#options = options;
    const { repo, models, time = systemTime } = options;
    const prices = new PriceBook(options.prices ?? [], time);
    const keys = new RunKeys(run);
    const limits = { ...defaultLimits, ...options.limits };
    const policy = policyOf(options, run);
    this.#limits = limits;
    this.#settings = settingsOf(options, roles, limits, policy);
    this.#context = new RunContext({
      repo,
      keys,
      time,
      book: new TaskBook(repo, keys, time),
      budgets: new BudgetBook(repo, keys),
      commands: new CommandRoom(repo, {
        limits: toolLimits,
        commandsMax: availableParallelism(),
        sandbox: 'none',
        environment: {},
        directory: undefined,
        ...options.commands,
      }),
      tally: new Tally(),
      limits,
      policy,
      prices,
      costs: new CostLedger(prices),
      roles,
      models,
      content: options.content,
      onAcknowledged: options.onAcknowledged,
    });
  }

  get #repo(): Repo {
    return this.#options.repo;
  }

  async start(options: SwarmOptions): Promise<SwarmResult> {
    const { keys, book, run } = this.#context;
    const { time, budgets, roles } = this.#context.parts;
    const cap = budgetOf(options.budget);
    const base = this.#repo.snapshot().seq;
    const { check } = this.#context.parts.policy;
    const given = options.tasks?.map((request) => givenTask(request, base, roles, check));
    const root: Task = {
      id: rootTask,
      parent: rootTask,
      role: 'planner',
      title: 'the goal',
      scope: [],
      brief: '',
      base,
    };
    const header: RunHeader = {
      format: 1,
      state: 'running',
      goal: options.goal,
      generation: 1,
      root: given === undefined ? 'planner' : 'given',
      holder: ownName(),
      startedAt: time.now(),
      settings: this.#settings,
      settingsHash: sha256(canonicalJson(this.#settings)),
      prompts: await stagePrompts(this.#repo, roles),
      changed: [],
    };
    const records = [...book.creation([root, ...(given ?? [])]), budgets.opening(cap)];
    const outcome = await landHeader(this.#repo, keys, header, 0, records);
    if (outcome.kind !== 'landed') {
      throw new TypeError(`run '${run}' cannot start: ${isRejected(outcome) ? outcome.message : outcome.kind}`);
    }
    budgets.reload();
    return this.#execute({ header, version: outcome.seq }, []);
  }

  async resume(options: ResumeOptions): Promise<SwarmResult> {
    const { keys, run } = this.#context;
    const { time, budgets, roles } = this.#context.parts;
    const read = readHeader(this.#repo, keys);
    const refuse = (says: string): never => {
      throw new MoundError('invalid-argument', `run '${run}' cannot be resumed: ${says}`, { run });
    };
    if (read === undefined) return refuse('there is no such run in this repository');
    budgetOf(options.budget);
    const { header, version } = read;
    if (header.state === 'ended' && header.reason === 'finished') return refuse('it has finished');
    if (isHeld(header)) return refuse(`process ${header.holder.pid} is running it; stop that first`);
    const keysChanged = differences(header.settings, this.#settings);
    if (keysChanged.length > 0 && options.onChanged !== 'accept') {
      return refuse(
        `it was made with other settings (${keysChanged.join(', ')}); put them back, or accept the change (--accept-changes, onChanged)`,
      );
    }
    const { reason: _, detail: __, endedAt: ___, cost: ____, ...rest } = header;
    const taken: RunHeader = {
      ...rest,
      state: 'running',
      generation: header.generation + 1,
      holder: ownName(),
      settings: this.#settings,
      settingsHash: sha256(canonicalJson(this.#settings)),
      prompts: keysChanged.length > 0 ? await stagePrompts(this.#repo, roles) : header.prompts,
      changed:
        keysChanged.length > 0
          ? [...header.changed, { at: time.now(), keys: keysChanged, from: header.settingsHash }]
          : header.changed,
    };
    const outcome = await landHeader(this.#repo, keys, taken, version, budgets.raise(options.budget ?? {}));
    if (outcome.kind !== 'landed') return refuse('another process has just taken it up');
    budgets.reload();
    const tasks = restoreTasks(this.#context);
    await settleLost(this.#context, tasks);
    return this.#execute({ header: taken, version: outcome.seq }, tasks);
  }

  async #execute(opened: Opened, tasks: readonly RestoredTask[]): Promise<SwarmResult> {
    const { header } = opened;
    const { onEvent, agentsMax, signal, stopSignal } = this.#options;
    const { commands, tally, time } = this.#context.parts;
    const watch = new Watch(this.#limits, this.#repo, this.#context.parts.policy.thrashing);
    const swarm = new Swarm({
      context: this.#context,
      runGeneration: header.generation,
      begun: begunTasks(tasks),
      onEvent: (event) => {
        tally.merges.seen(event, time.now());
        onEvent?.(event);
        const reason = watch.seen(event);
        if (reason !== undefined) swarm.stop(reason.reason, 'turns', reason.detail);
      },
    });
    const feed = new AbortController();
    const from: Cursor = { seq: opened.version, index: Number.MAX_SAFE_INTEGER };
    const following = follow(this.#context, swarm, from, feed.signal);
    const stopNow = (): void => swarm.stop('aborted', 'now', 'the caller stopped it');
    const stopSoon = (): void => swarm.stop('aborted', 'turns', 'the caller stopped it');
    signal?.addEventListener('abort', stopNow, { once: true });
    stopSignal?.addEventListener('abort', stopSoon, { once: true });
    swarm.dispatch({
      kind: 'run.started',
      run: this.#context.run,
      goal: header.goal,
      root: header.root,
      agentsMax,
      plannersMax: this.#limits.plannersMax,
      taskAttemptsMax: this.#limits.taskAttemptsMax,
      mergeAttemptsMax: this.#limits.mergeAttemptsMax,
      coordination: this.#context.coordination,
      decomposing: this.#context.isDecomposing,
    });
    this.#addTasks(swarm, header, tasks);
    for (const overlap of overlapsNow(this.#context)) swarm.dispatch(overlap);
    obeyWaiting(this.#context, swarm);
    const stopTimer = watch.startClock(() => swarm.stop('time-limit', 'turns', 'its time is used up'));
    if (signal?.aborted) stopNow();
    if (stopSignal?.aborted) stopSoon();

    const ending = await swarm.ended;
    stopTimer();
    signal?.removeEventListener('abort', stopNow);
    stopSignal?.removeEventListener('abort', stopSoon);
    feed.abort();
    await following;
    commands.close();
    if (ending.fault !== undefined) throw ending.fault;
    await this.#close(opened, ending.reason, ending.detail);
    return this.#resultOf(swarm, ending.reason, ending.detail);
  }

  #addTasks(swarm: Swarm, header: RunHeader, tasks: readonly RestoredTask[]): void {
    if (header.generation > 1) return restore(this.#context, swarm, tasks);
    for (const { task } of restoreTasks(this.#context)) if (task.id !== rootTask) swarm.addTask(task);
  }

  async #close({ header, version }: Opened, reason: RunEndReason, detail: string | undefined): Promise<void> {
    const { keys } = this.#context;
    const { time, costs } = this.#context.parts;
    const { total, byRole, byModel } = costs.report();
    const state = reason === 'finished' || reason === 'planner-failed' ? 'ended' : 'stopped';
    const current = readHeader(this.#repo, keys);
    // Control commands may have changed the goal; another process may have taken the run over.
    const latest = current?.header.generation === header.generation ? current : { header, version };
    const ended: RunHeader = {
      ...latest.header,
      state,
      reason,
      endedAt: time.now(),
      cost: { total, byRole, byModel },
      ...(detail !== undefined && { detail }),
    };
    await landHeader(this.#repo, keys, ended, latest.version);
  }

  #resultOf(swarm: Swarm, reason: RunEndReason, detail: string | undefined): SwarmResult {
    const events = swarm.counts();
    const created = events['task.created'] ?? 0;
    const { tally, costs } = this.#context.parts;
    return {
      run: this.#context.run,
      reason,
      ...(detail !== undefined && { detail }),
      outcomes: tally.outcomes(),
      tasks: { created, ended: created - unsettledCount(swarm.state), reopened: events['task.reopened'] ?? 0 },
      agents: swarm.agents,
      landings: tally.times(),
      roles: tally.spend(),
      merges: tally.merges.report(),
      cost: costs.report(),
      events,
      seconds: (performance.now() - this.#startedMs) / 1000,
    };
  }
}

const givenTask = (request: GivenTask, base: number, roles: Roles, default_: string | undefined): Task => {
  const {
    check: _,
    unchecked: __,
    after,
    budget: ___,
    topics: ____,
    role = 'worker',
    base: from = base,
    ...rest
  } = request;
  const check = checkOf(request, roles[role], default_);
  return {
    ...rest,
    parent: rootTask,
    role,
    base: from,
    ...(check !== undefined && { check }),
    ...(after !== undefined && { after }),
  };
};

function policyOf(options: ResumeOptions | SwarmOptions, run: RunId): RunPolicy {
  const {
    transcripts,
    guide,
    checks = 'optional',
    check,
    thrashing = defaultThrashing,
    coordination,
  } = options.policy ?? {};
  const directory = transcripts ?? join(options.repo.dir, '.mound', 'swarm', run);
  return {
    transcripts: directory === false ? undefined : directory,
    guide,
    checks,
    check,
    thrashing: thrashing === false ? undefined : thrashing,
    coordination: coordinationOf(coordination),
  };
}

/**
 * What makes a run what it is: a resume with other settings is a choice, not an
 * accident. Budget and time limit are none of it: more of them is what one
 * resumes for.
 */
function settingsOf(
  options: ResumeOptions | SwarmOptions,
  roles: Roles,
  limits: SwarmLimits,
  { guide, checks, check, coordination, thrashing }: RunPolicy,
): JsonObject {
  return {
    agentsMax: options.agentsMax,
    models: Object.fromEntries(Object.entries(options.models).map(([name, model]) => [name, model.name])),
    roles: Object.fromEntries(
      Object.entries(roles).map(([name, { prompt, ...role }]) => [name, { ...role, prompt: sha256(prompt) }]),
    ),
    limits: Object.fromEntries(
      Object.entries(limits)
        .filter(([name]) => name !== 'wallClockMs')
        .map(([name, value]) => [name, String(value)]),
    ),
    policy: {
      checks,
      coordination: { ...coordination },
      ...(check !== undefined && { check }),
      ...(guide && { guide: { ...guide } }),
      ...(thrashing && { thrashing: { ...thrashing } }),
    },
    ...(options.settings !== undefined && { more: options.settings }),
  };
}

/** Of a conflict, the planners that its sides have in common: only the records know those of tasks that have ended. */
function withPlanners(context: RunContext, swarm: Swarm, event: RepoEvent, meant: SwarmEvent): SwarmEvent {
  if (meant.kind !== 'conflict.opened' || event.kind !== 'conflict.opened') return meant;
  const lines = event.met.flatMap(({ task: name }) => {
    const task = taskOfName(context.run, name);
    return task === undefined ? [] : [new Set<TaskId>(swarm.ancestorsOf(task).slice(1))];
  });
  const own = swarm.ancestorsOf(meant.task).slice(1);
  return { ...meant, planners: own.filter((planner) => lines.every((line) => line.has(planner))) };
}

/** Coordination through the store: what others do there becomes this run's events. */
async function follow(context: RunContext, swarm: Swarm, from: Cursor, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of context.repo.follow(from, signal)) {
      const meant = translate(context.run, event);
      if (meant !== undefined) swarm.dispatch(withPlanners(context, swarm, event, meant));
      for (const fight of fightsIn(context, event)) swarm.dispatch(fight);
      followControls(context, swarm, event);
      followBreakages(context, swarm, event);
    }
  } catch (error) {
    if (!signal.aborted) swarm.fail(error);
  }
}
