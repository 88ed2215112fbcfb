import { availableParallelism } from 'node:os';
import { MoundError, systemRandom, type Cursor, type Repo } from '@mound/vcs';
import { toolLimits } from '../command/run-command.ts';
import { privateCaches } from '../command/tool-caches.ts';
import { ownName } from '../command/process-name.ts';
import { isRunId, rootTask, type RunId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Roles } from '../core/role.ts';
import type { Task } from '../core/task.ts';
import { systemTime } from '../core/time.ts';
import { CostLedger } from '../cost/cost-ledger.ts';
import { PriceBook } from '../cost/prices.ts';
import type { RunEndReason } from '../events/event.ts';
import { shippedRoles } from '../roles/roles.ts';
import { unsettledCount } from '../state/state.ts';
import { BudgetBook } from './budget-book.ts';
import { CommandRoom, type CommandSettings } from './command-room.ts';
import { overlapsNow } from './contradictions.ts';
import { Controls } from './control.ts';
import { follow } from './follow.ts';
import { goalStatus } from './goal-status.ts';
import { greenSummaryOf } from './green-summary.ts';
import { Hands } from './hands/hands.ts';
import { restoreFights } from './restore-fights.ts';
import { restoreReviews } from './restore-reviews.ts';
import { begunTasks, restore, restoreTasks, settleLost, type RestoredTask } from './restore.ts';
import { RunContext } from './run-context.ts';
import {
  changeHeader,
  differences,
  isHeld,
  landHeader,
  readHeader,
  sha256,
  stagePrompts,
  system,
  unpaused,
  canonicalJson,
  type RunHeader,
} from './run-header.ts';
import { RunKeys } from './run-keys.ts';
import {
  budgetOf,
  defaultLimits,
  mustOptions,
  type ResumeOptions,
  type SwarmLimits,
  type SwarmOptions,
} from './run-options.ts';
import { givenTask, policyOf, settingsOf } from './run-settings.ts';
import { withoutScopeRules } from './scope-rule.ts';
import { Swarm } from './swarm.ts';
import type { SwarmResult } from './swarm-result.ts';
import { Tally } from './tally.ts';
import { isRejected, TaskBook } from './task-book.ts';
import { Watch } from './watch.ts';

export type { SwarmResult } from './swarm-result.ts';

/** An intent may hold so many records, the header among them. */
const rulesPerIntentMax = 9_000;

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
  readonly #costs: CostLedger;
  #hands: Hands | undefined;
  readonly #startedMs = performance.now();

  constructor(options: ResumeOptions | SwarmOptions, run: RunId, roles: Roles) {
    this.#options = options;
    const { repo, models, time = systemTime } = options;
    const prices = new PriceBook(options.prices ?? [], time);
    const keys = new RunKeys(run);
    const limits = { ...defaultLimits, ...options.limits };
    const policy = policyOf(options, run);
    const budgets = new BudgetBook(repo, keys);
    this.#costs = new CostLedger(prices);
    this.#limits = limits;
    this.#settings = settingsOf(options, roles, limits, policy);
    this.#context = new RunContext({
      repo,
      keys,
      time,
      book: new TaskBook(repo, keys, time, policy.unsafeWithout?.includes('fences') !== true),
      budgets,
      commands: new CommandRoom(repo, commandSettingsOf(options)),
      tally: new Tally(),
      limits,
      policy,
      prices,
      costs: {
        record: (spender, spent) => {
          this.#costs.record(spender, spent);
          options.onSpent?.(this.#costs.total);
        },
      },
      draws: budgets,
      roles,
      models,
      content: options.content,
      onAcknowledged: options.onAcknowledged,
    });
  }

  get #repo(): Repo {
    return this.#options.repo;
  }

  start(options: SwarmOptions): Promise<SwarmResult> {
    return this.#spread(() => this.#begin(options));
  }

  resume(options: ResumeOptions): Promise<SwarmResult> {
    return this.#spread(() => this.#goOn(options));
  }

  async #begin(options: SwarmOptions): Promise<SwarmResult> {
    const { keys, book, run } = this.#context;
    const { time, budgets, roles } = this.#context.parts;
    const cap = budgetOf(this.#context.has('budgets') ? options.budget : undefined);
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
      ...(options.prices !== undefined && { prices: options.prices }),
    };
    const records = [...book.creation([root, ...(given ?? [])]), budgets.opening(cap)];
    const outcome = await landHeader(this.#repo, keys, header, 0, records);
    if (outcome.kind !== 'landed') {
      throw new TypeError(`run '${run}' cannot start: ${isRejected(outcome) ? outcome.message : outcome.kind}`);
    }
    budgets.reload();
    return this.#execute({ header, version: outcome.seq }, []);
  }

  async #goOn(options: ResumeOptions): Promise<SwarmResult> {
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
    const { reason: _, detail: __, endedAt: ___, cost: ____, paused: _____, ...rest } = header;
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
      ...(options.prices !== undefined && { prices: options.prices }),
    };
    const bounds = this.#context.has('budgets') ? (options.budget ?? {}) : {};
    const outcome = await landHeader(this.#repo, keys, taken, version, budgets.raise(bounds));
    if (outcome.kind !== 'landed') return refuse('another process has just taken it up');
    budgets.reload();
    const tasks = restoreTasks(this.#context);
    await settleLost(this.#context, tasks);
    return this.#execute({ header: taken, version: outcome.seq }, tasks);
  }

  async #execute(opened: Opened, tasks: readonly RestoredTask[]): Promise<SwarmResult> {
    const { header } = opened;
    await this.#context.guide?.ageOut(system);
    const { onEvent, agentsMax, signal, stopSignal } = this.#options;
    const { commands, tally, time, policy } = this.#context.parts;
    const { unsafeWithout } = policy;
    const watch = new Watch(this.#limits, this.#repo, time, policy.thrashing);
    const swarm = new Swarm({
      context: this.#context,
      hands: this.#hands,
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
    const controls = new Controls(this.#context, swarm);
    const following = follow(this.#context, swarm, controls, from, feed.signal);
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
      ...(unsafeWithout && { unsafeWithout }),
      ...(this.#context.green && { greenEvery: this.#context.green.everyCommits }),
    });
    this.#addTasks(swarm, opened, tasks);
    swarm.green.begin();
    for (const overlap of overlapsNow(this.#context)) swarm.dispatch(overlap);
    controls.obeyWaiting();
    const stopTimer = watch.startClock((how) => swarm.stop('time-limit', how, 'its time is used up'));
    if (signal?.aborted) stopNow();
    if (stopSignal?.aborted) stopSoon();

    const ending = await swarm.ended;
    await this.#context.guide?.flush(system);
    stopTimer();
    signal?.removeEventListener('abort', stopNow);
    stopSignal?.removeEventListener('abort', stopSoon);
    feed.abort();
    await following;
    await controls.settled();
    await this.#hands?.close();
    commands.close();
    if (ending.fault !== undefined) throw ending.fault;
    await this.#close(opened, ending.reason, ending.detail);
    return this.#resultOf(swarm, header, ending.reason, ending.detail);
  }

  /** Does `work` with the other processes of the run, where it has some. */
  async #spread(work: () => Promise<SwarmResult>): Promise<SwarmResult> {
    const { processes } = this.#options;
    if (processes !== undefined && processes.count > 1)
      this.#hands = await Hands.start(this.#context, processes, commandSettingsOf(this.#options));
    try {
      return await work();
    } finally {
      await this.#hands?.close();
    }
  }

  #addTasks(swarm: Swarm, opened: Opened, tasks: readonly RestoredTask[]): void {
    const { header } = opened;
    if (header.generation > 1) {
      restore(this.#context, swarm, tasks);
      restoreFights(this.#context, swarm, opened.version);
      return restoreReviews(this.#context, swarm, header.startedAt);
    }
    for (const { task } of restoreTasks(this.#context)) if (task.id !== rootTask) swarm.addTask(task);
  }

  async #close({ header }: Opened, reason: RunEndReason, detail: string | undefined): Promise<void> {
    const { keys } = this.#context;
    const { time } = this.#context.parts;
    const { total, byRole, byModel } = this.#costs.report();
    const state = reason === 'finished' || reason === 'planner-failed' ? 'ended' : 'stopped';
    const end = { state, reason, endedAt: time.now(), cost: { total, byRole, byModel } } as const;
    // Not where another process has taken the run over.
    const change = (latest: RunHeader): RunHeader => ({
      ...unpaused(latest),
      ...end,
      ...(detail !== undefined && { detail }),
    });
    const rules = withoutScopeRules(this.#repo, keys.run);
    await changeHeader(this.#repo, keys, header.generation, change, rules.slice(0, rulesPerIntentMax));
  }

  #resultOf(swarm: Swarm, header: RunHeader, reason: RunEndReason, detail: string | undefined): SwarmResult {
    const events = swarm.counts();
    const created = events['task.created'] ?? 0;
    const { tally, time } = this.#context.parts;
    const { green } = this.#context;
    const status = reason === 'finished' ? goalStatus(this.#repo, this.#context.keys, header) : undefined;
    return {
      run: this.#context.run,
      reason,
      ...(status !== undefined && { status }),
      ...(detail !== undefined && { detail }),
      outcomes: tally.outcomes(),
      tasks: {
        created,
        ended: created - unsettledCount(swarm.state),
        reopened: events['task.reopened'] ?? 0,
        givenUp: swarm.givenUp.tasks,
      },
      agents: swarm.agents,
      landings: tally.times(),
      roles: tally.spend(),
      merges: tally.merges.report(),
      ...(tally.reviews.isUsed && { review: swarm.reviews.report(this.#costs.report().byTask) }),
      ...(green && { green: greenSummaryOf(this.#repo, green.command, header.startedAt, time.now()) }),
      cost: this.#costs.report(),
      events,
      seconds: (performance.now() - this.#startedMs) / 1000,
    };
  }
}

const commandSettingsOf = ({ commands }: ResumeOptions | SwarmOptions): CommandSettings => ({
  artefacts: [],
  caches: privateCaches({ share: [], own: {} }, process.env, commands?.environment ?? {}),
  limits: toolLimits,
  commandsMax: availableParallelism(),
  sandbox: 'none',
  environment: {},
  directory: undefined,
  ...commands,
});
