import type { Random, Repo } from '@mound/vcs';
import { isBound, unlimited, type Cap } from '../core/amount.ts';
import { safeguards, type Coordination, type Safeguard } from '../core/coordination.ts';
import { isRunId, isTaskId, rootTask, type RunId, type TaskId } from '../core/ids.ts';
import { faultOfRole, roleKinds, takesTasks, type ModelName, type Role, type Roles } from '../core/role.ts';
import type { JsonObject } from '../core/json.ts';
import type { GreenSettings } from '../core/green.ts';
import { faultOfLenses, type ReviewPolicy } from '../core/lens.ts';
import type { Time } from '../core/time.ts';
import type { CostSum } from '../cost/cost-ledger.ts';
import type { PriceOverride } from '../cost/prices.ts';
import type { SwarmEvent } from '../events/event.ts';
import type { Model } from '../model/model.ts';
import type { ThrashingPolicy } from '../state/thrashing.ts';
import type { TaskRequest } from '../tools/operations.ts';
import type { CommandSettings } from './command-room.ts';
import type { ProcessesOptions } from './hands/hands.ts';
import type { AcknowledgedHook, ContentSource } from './run-context.ts';

export interface SwarmLimits {
  /** Workers that may try one task. Default 3. */
  readonly taskAttemptsMax: number;
  /** Mergers that may try one conflict, before it is left to the planner. Default 3. */
  readonly mergeAttemptsMax: number;
  /** A worker that has ended no turn for so long loses its task. Default 30 minutes. */
  readonly leaseMs: number;
  /** Longer tool answers are cut, with a note. Default 200,000. */
  readonly answerCharsMax: number;
  /** What the answer to one request may take, for the reservation before it. Default 8,192. */
  readonly outputTokensMax: number;
  /** Planners that work, and do not wait, at once. Default 16. */
  readonly plannersMax: number;
  /** Of planners below the goal's. Default 3. */
  readonly depthMax: number;
  /** Tasks of one planner that have not ended. Default 1,000. */
  readonly fanOutMax: number;
  /** Tasks of the whole run. Default 100,000. */
  readonly tasksMax: number;
  /** The run stops after so long, to be resumed. Default: never. */
  readonly wallClockMs: number;
  /** So many tasks in a row that end without a landing stop the run. Default 50. */
  readonly fruitlessTasksMax: number;
}

export const defaultLimits: SwarmLimits = {
  taskAttemptsMax: 3,
  mergeAttemptsMax: 3,
  leaseMs: 30 * 60_000,
  answerCharsMax: 200_000,
  outputTokensMax: 8192,
  plannersMax: 16,
  depthMax: 3,
  fanOutMax: 1000,
  tasksMax: 100_000,
  wallClockMs: Number.POSITIVE_INFINITY,
  fruitlessTasksMax: 50,
};

/** A task that comes with the goal, where nobody plans. */
export type GivenTask = TaskRequest;

/** The Field Guide. */
export interface GuidePolicy {
  /** Default `field-guide`. */
  readonly folder: string;
  /** Lines that its index, or an entry, may have; the store refuses more. Default 80. */
  readonly linesMax: number;
  /** An entry that nobody has read for so long is taken out when a run starts. Default 30 days. */
  readonly unusedMs: number;
}

export const defaultGuide: GuidePolicy = { folder: 'field-guide', linesMax: 80, unusedMs: 30 * 24 * 60 * 60_000 };

/** How the work is organised. */
export interface RunPolicy {
  /** Directory of the transcripts; undefined: none are kept, and agents that go on begin anew. */
  readonly transcripts: string | undefined;
  readonly guide: GuidePolicy;
  /** `required`: a task names a command that proves it, or says why there is none. */
  readonly checks: 'required' | 'optional';
  /** What a person has to approve before it is done: what the goal's planner hands out. */
  readonly approve: 'nothing' | 'delegations';
  /** Proves a task that names no check of its own, and no reason why there is none; undefined: nothing does. */
  readonly check: string | undefined;
  /** Stops a run whose conflicts grow faster than its accepted lines. */
  readonly thrashing: ThrashingPolicy | undefined;
  /** How agents are kept from working against one another. */
  readonly coordination: Coordination;
  /** Who looks at what landed; undefined: nobody. */
  readonly review?: ReviewPolicy | undefined;
  /** What keeps `green`; undefined: nobody. It needs `commands`. */
  readonly green?: GreenSettings | undefined;
  /** For benches only: what the run does without, at the price of lost or doubled work and of any bill. */
  readonly unsafeWithout?: readonly Safeguard[] | undefined;
}

export interface SwarmOptions {
  readonly repo: Repo;
  readonly goal: string;
  /** Default: a random one. Must be new in this repository. */
  readonly runId?: string;
  /** By the `model` of each role, which for the shipped roles is the role's kind. Without one for the merger, conflicts stay open. */
  readonly models: Readonly<Record<ModelName, Model>>;
  /** Beside, or instead of, the shipped ones. */
  readonly roles?: Readonly<Record<string, Role>>;
  /** Workers and mergers at once; planners take no slot. */
  readonly agentsMax: number;
  /** The run's tasks, where no planner is to split the goal. */
  readonly tasks?: readonly GivenTask[];
  /** Of the whole run. Default: unlimited. */
  readonly budget?: Partial<Cap>;
  /** What models cost, before what the table says. */
  readonly prices?: readonly PriceOverride[];
  readonly policy?: Partial<Omit<RunPolicy, 'transcripts' | 'coordination' | 'thrashing' | 'guide'>> & {
    readonly guide?: Partial<GuidePolicy>;
    /** Default: 50 intents a window, 3 growing ones, 20 conflicts per 100 lines; false: such a run goes on. */
    readonly thrashing?: ThrashingPolicy | false;
    /** Default: `.mound/swarm/RUN` in the repository's directory; false: none. */
    readonly transcripts?: string | false;
    /** Mechanisms by name; those not named are on. */
    readonly coordination?: Partial<Coordination>;
  };
  /** More processes than this one, each with its share of the workers. Default: none. Not together with `content` and `onAcknowledged`. */
  readonly processes?: ProcessesOptions;
  /** Where and how agents' commands run. Without it they run none. */
  readonly commands?: Partial<CommandSettings> & { readonly directory: string };
  readonly onEvent?: (event: SwarmEvent) => void;
  /** After each request: what the agents of this process and its hands have spent. */
  readonly onSpent?: (total: CostSum) => void;
  /** Awaited before the agent is answered: once for each intent that the store took. */
  readonly onAcknowledged?: AcknowledgedHook;
  /** Resolves the `contentRef` of a change. */
  readonly content?: ContentSource;
  /** Stops the run at once: landings in flight are awaited, everything kept is in the repository. */
  readonly signal?: AbortSignal;
  /** Lets agents end the turn that they are at, then stops the run. */
  readonly stopSignal?: AbortSignal;
  readonly limits?: Partial<SwarmLimits>;
  /** More of what the run's settings are, beyond what stands here: a change of it is noticed at a resume. */
  readonly settings?: JsonObject;
  readonly time?: Time;
  readonly random?: Random;
}

export interface ResumeOptions extends Omit<SwarmOptions, 'goal' | 'runId' | 'tasks'> {
  readonly runId: string;
  /** Where models, prompts or settings are not those of the run: `refuse` (default) or go on with the new ones. */
  readonly onChanged?: 'refuse' | 'accept';
}

/** What proves a task: its own check, else the run's, unless it says why nothing does. Planners change nothing. */
export const checkOf = (
  { check, unchecked }: Pick<TaskRequest, 'check' | 'unchecked'>,
  role: Role | undefined,
  default_: string | undefined,
): string | undefined => check ?? (role?.kind === 'worker' && !unchecked ? default_ : undefined);

export function budgetOf(budget: Partial<Cap> | undefined): Cap {
  const cap = { ...unlimited, ...budget };
  for (const [dimension, bound] of Object.entries(cap)) {
    if (!isBound(bound)) throw new TypeError(`budget.${dimension} is neither a whole number from 0 nor 'unlimited'`);
  }
  return cap;
}

/** Checks what a caller gave. `isPlanned`: a planner splits the goal. Errors: `TypeError`. */
export function mustOptions(
  options: ResumeOptions | SwarmOptions,
  run: string,
  roles: Roles,
  isPlanned: boolean,
): asserts run is RunId {
  if (!isRunId(run)) throw new TypeError(`runId '${run}': letters, digits, . _ - only, at most 100`);
  if (!Number.isInteger(options.agentsMax) || options.agentsMax < 1) throw new TypeError('agentsMax is not 1 or more');
  const { processes, content, onAcknowledged } = options;
  if (processes !== undefined && (!Number.isInteger(processes.count) || processes.count < 1))
    throw new TypeError('processes.count is not 1 or more');
  if ((processes?.count ?? 1) > 1 && (content ?? onAcknowledged) !== undefined)
    throw new TypeError('content and onAcknowledged are functions of one process: leave them out, or processes');
  for (const kind of roleKinds) {
    const role = roles[kind];
    if (role.kind !== kind) throw new TypeError(`role '${role.name}' is a ${role.kind}, not a ${kind}`);
  }
  for (const [name, role] of Object.entries(roles)) {
    const fault = faultOfRole(role);
    if (fault !== undefined) throw new TypeError(fault);
    if (role.name !== name) throw new TypeError(`role '${role.name}' stands under the name '${name}'`);
    const isNeeded = role.kind === 'worker' || (role.kind === 'planner' && isPlanned);
    if (isNeeded && options.models[role.model] === undefined) {
      throw new TypeError(`no model '${role.model}' for the role '${role.name}'`);
    }
  }
  const lenses = options.policy?.review?.lenses ?? [];
  const mindless = lenses.find(({ model }) => options.models[model] === undefined);
  const lensFault =
    faultOfLenses(lenses) ?? (mindless && `lens '${mindless.name}': there is no model '${mindless.model}'`);
  const { green } = options.policy ?? {};
  const strange = (options.policy?.unsafeWithout ?? []).find((name) => !safeguards.includes(name));
  if (strange !== undefined) throw new TypeError(`policy.unsafeWithout: there is no safeguard '${strange}'`);
  if (green !== undefined && options.commands === undefined)
    throw new TypeError('policy.green: its command runs where `commands` says, and there is none');
  if (lensFault !== undefined) throw new TypeError(`policy.review: ${lensFault}`);
  if ('tasks' in options && options.tasks !== undefined) mustTasks(options.tasks, roles);
}

function mustTasks(tasks: readonly GivenTask[], roles: Roles): void {
  const seen = new Set<TaskId>();
  for (const { id, role = 'worker', after = [] } of tasks) {
    if (!isTaskId(id) || id === rootTask)
      throw new TypeError(`task '${id}': letters, digits, . _ - only, and not '${rootTask}'`);
    if (seen.has(id)) throw new TypeError(`task '${id}' is given twice`);
    const late = after.find((earlier) => !seen.has(earlier));
    if (late !== undefined) throw new TypeError(`task '${id}' comes after '${late}', which does not stand before it`);
    if (roles[role] === undefined || !takesTasks(roles[role].kind))
      throw new TypeError(`task '${id}': no role '${role}' for it`);
    seen.add(id);
  }
  if (tasks.length === 0) throw new TypeError('tasks is empty: leave it out for a planner');
}
