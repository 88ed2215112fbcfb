import { systemRandom, type Author, type Cursor, type Random, type Repo } from '@mound/vcs';
import { isRunId, type RunId } from '../core/ids.ts';
import { faultOfRole, roleKinds, type ModelName, type Role, type RoleKind } from '../core/role.ts';
import { systemTime, type Time } from '../core/time.ts';
import { CostLedger, type CostReport } from '../cost/cost-ledger.ts';
import { PriceBook, type PriceOverride } from '../cost/prices.ts';
import type { RunEndReason, SwarmEvent } from '../events/event.ts';
import { translate } from '../events/translate.ts';
import type { Model } from '../model/model.ts';
import { roles as defaultRoles } from '../roles/roles.ts';
import { unsettledCount } from '../state/state.ts';
import { isRejected, Ledger } from './ledger.ts';
import { RunContext, type AcknowledgedHook, type ContentSource } from './run-context.ts';
import { Swarm } from './swarm.ts';
import { Tally, type LandingTimes, type OutcomeCounts, type RoleSpend } from './tally.ts';

export interface SwarmLimits {
  /** Workers that may try one task. Default 3. */
  readonly taskAttemptsMax: number;
  /** Mergers that may try one conflict, before it is left to the planner. Default 3. */
  readonly mergeAttemptsMax: number;
  /** After that a task is taken from its worker. Default 30 minutes. */
  readonly leaseMs: number;
  /** Longer tool answers are cut, with a note. Default 200,000. */
  readonly answerCharsMax: number;
}

export interface SwarmOptions {
  readonly repo: Repo;
  readonly goal: string;
  /** Default: a random one. Must be new in this repository. */
  readonly runId?: string;
  /** By the `model` of each role, which for the shipped roles is the role's kind. Without one for the merger, conflicts stay open. */
  readonly models: Readonly<Record<ModelName, Model>>;
  /** Instead of the shipped ones. */
  readonly roles?: Partial<Readonly<Record<RoleKind, Role>>>;
  /** Workers and mergers at once; the planner takes no slot. */
  readonly agentsMax: number;
  readonly onEvent?: (event: SwarmEvent) => void;
  /** Awaited before the agent is answered: once for each intent that the store took. */
  readonly onAcknowledged?: AcknowledgedHook;
  /** Resolves the `contentRef` of a change. */
  readonly content?: ContentSource;
  /** Stops the run: landings in flight are awaited, everything kept is in the repository. */
  readonly signal?: AbortSignal;
  readonly limits?: Partial<SwarmLimits>;
  /** What models cost, before what the table says. */
  readonly prices?: readonly PriceOverride[];
  readonly time?: Time;
  readonly random?: Random;
}

export interface SwarmResult {
  readonly run: RunId;
  readonly reason: RunEndReason;
  /** Why the planner failed, where it did. */
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
    /** The planner included. */
    readonly liveMax: number;
  };
  /** Intents with changes, resolutions included: from the call to the durable answer. */
  readonly landings: LandingTimes;
  readonly roles: Readonly<Record<RoleKind, RoleSpend>>;
  /** What was spent, by role, task, agent and model. */
  readonly cost: CostReport;
  /** SwarmEvents by kind. */
  readonly events: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const defaultLimits: SwarmLimits = {
  taskAttemptsMax: 3,
  mergeAttemptsMax: 3,
  leaseMs: 30 * 60_000,
  answerCharsMax: 200_000,
};

const system: Author = { name: 'mound-swarm', kind: 'system' };

/**
 * Runs a planner and its workers and mergers towards a goal, until the planner
 * finishes and every task has ended. Throws on wrong options (`TypeError`) and
 * on faults of the store; a model that fails is an outcome.
 */
export async function runSwarm(options: SwarmOptions): Promise<SwarmResult> {
  const startedMs = performance.now();
  const limits = { ...defaultLimits, ...options.limits };
  const { repo, models, time = systemTime, random = systemRandom } = options;
  const run = options.runId ?? `r${Buffer.from(random.bytes(6)).toString('hex')}`;
  const roles = { ...defaultRoles, ...options.roles };
  mustOptions(options, run, roles);

  const ledger = new Ledger(repo, run, time);
  const tally = new Tally();
  const costs = new CostLedger(new PriceBook(options.prices ?? [], time));
  const context = new RunContext({
    repo,
    run,
    time,
    costs,
    ledger,
    tally,
    roles,
    models,
    leaseMs: limits.leaseMs,
    answerCharsMax: limits.answerCharsMax,
    content: options.content,
    onAcknowledged: options.onAcknowledged,
  });
  const swarm = new Swarm(context, options.onEvent);
  const started = await ledger.startRun(options.goal, system);
  if (isRejected(started)) throw new TypeError(`run '${run}' cannot start: ${started.message}`);

  const feed = new AbortController();
  const following = follow(repo, run, swarm, { seq: started.seq, index: Number.MAX_SAFE_INTEGER }, feed.signal);
  const onAbort = (): void => swarm.abort('the caller stopped it');
  options.signal?.addEventListener('abort', onAbort, { once: true });
  swarm.dispatch({
    kind: 'run.started',
    run,
    goal: options.goal,
    agentsMax: options.agentsMax,
    taskAttemptsMax: limits.taskAttemptsMax,
    mergeAttemptsMax: limits.mergeAttemptsMax,
    merging: models[roles.merger.model] !== undefined,
  });
  if (options.signal?.aborted) onAbort();

  const ending = await swarm.ended;
  options.signal?.removeEventListener('abort', onAbort);
  feed.abort();
  await following;
  if (ending.fault !== undefined) throw ending.fault;
  await ledger.endRun(ending.reason, costs.report(), system, started.seq);

  const events = swarm.counts();
  const created = events['task.created'] ?? 0;
  return {
    run,
    reason: ending.reason,
    ...(ending.detail !== undefined && { detail: ending.detail }),
    outcomes: tally.outcomes(),
    tasks: { created, ended: created - unsettledCount(swarm.state), reopened: events['task.reopened'] ?? 0 },
    agents: swarm.agents,
    landings: tally.times(),
    roles: tally.spend(),
    cost: costs.report(),
    events,
    seconds: (performance.now() - startedMs) / 1000,
  };
}

function mustOptions(
  options: SwarmOptions,
  run: string,
  roles: Readonly<Record<RoleKind, Role>>,
): asserts run is RunId {
  if (!isRunId(run)) throw new TypeError(`runId '${run}': letters, digits, . _ - only, at most 100`);
  if (!Number.isInteger(options.agentsMax) || options.agentsMax < 1) throw new TypeError('agentsMax is not 1 or more');
  for (const kind of roleKinds) {
    const role = roles[kind];
    if (role.kind !== kind) throw new TypeError(`role '${role.name}' is a ${role.kind}, not a ${kind}`);
    const fault = faultOfRole(role);
    if (fault !== undefined) throw new TypeError(fault);
    if (kind !== 'merger' && options.models[role.model] === undefined) {
      throw new TypeError(`no model '${role.model}' for the role '${role.name}'`);
    }
  }
}

/** Coordination through the store: what others do there becomes this run's events. */
async function follow(repo: Repo, run: RunId, swarm: Swarm, from: Cursor, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of repo.follow(from, signal)) {
      const meant = translate(run, event);
      if (meant !== undefined) swarm.dispatch(meant);
    }
  } catch (error) {
    if (!signal.aborted) swarm.fail(error);
  }
}
