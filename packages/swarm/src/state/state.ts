import { allOff, type Coordination } from '../core/coordination.ts';
import type { AgentId, RunId, TaskId } from '../core/ids.ts';
import type { RoleKind } from '../core/role.ts';
import type { TaskReport } from '../core/task.ts';
import type { RunEndReason } from '../events/event.ts';
import type { GreenState } from './green.ts';
import type { Decomposition, UnparkedOutcome } from './parked.ts';
import type { Contest, ContradictionState } from './contradiction.ts';

export interface TaskState {
  readonly id: TaskId;
  /** Whose planner is told of its end. */
  readonly parent: TaskId;
  /** True where its agent is a planner. */
  readonly plans: boolean;
  readonly title: string;
  readonly scope: readonly string[];
  /** Tasks that have to end first. */
  readonly after: readonly TaskId[];
  /** `conflicted`, `parked`: the worker is done, its intent waits for a merger, or for a decomposer. */
  readonly status: 'open' | 'starting' | 'running' | 'conflicted' | 'parked';
  /** Agents that took it and ended without a report. */
  readonly attempts: number;
  readonly generation: number;
  readonly agent: AgentId | undefined;
  /** The worker's report, where the task waits for its conflict. */
  readonly report: TaskReport | undefined;
}

/** A node of the tree: the planner of the goal, or of a task that was handed to a planner. */
export interface PlannerState {
  readonly id: TaskId;
  /** undefined for the goal's. */
  readonly parent: TaskId | undefined;
  /** `given`: nobody plans, the tasks came with the goal. */
  readonly phase: 'absent' | 'working' | 'waiting' | 'finished' | 'failed' | 'given';
  readonly waitsFor: 'all' | 'any';
  /** Its tasks that have not ended. */
  readonly unsettled: number;
  /** Of its tasks that ended, and that it does not know yet. */
  readonly reports: readonly TaskReport[];
}

export interface ConflictState {
  readonly id: string;
  readonly task: TaskId;
  readonly paths: readonly string[];
  /** The lowest planner that the tasks of both sides have in common, and those above it. */
  readonly planners: readonly TaskId[];
  readonly status: 'open' | 'assigned' | 'resolved' | 'abandoned';
  readonly attempts: number;
  /** Of the landing that resolved it. */
  readonly seq: number | undefined;
}

/** One look of a lens at a landing. */
export interface ReviewState {
  readonly id: string;
  readonly lens: string;
  readonly seq: number;
  readonly task: TaskId;
  /** Waits for it as for a task. */
  readonly planner: TaskId;
  readonly status: 'open' | 'assigned';
}

export interface AgentState {
  readonly id: AgentId;
  readonly role: RoleKind;
  readonly task: TaskId | undefined;
  readonly conflicts: readonly string[];
  /** Parked until then (ms since 1970): its model is not asked before. */
  readonly waitingUntil?: number;
}

/**
 * What a swarm knows now. Only what is unsettled is kept, so that its size is
 * bound by the work in hand and not by the length of the run; the durable
 * truth about settled tasks is in the store's records.
 */
export interface SwarmState {
  readonly run: RunId | undefined;
  readonly goal: string;
  readonly agentsMax: number;
  readonly plannersMax: number;
  readonly taskAttemptsMax: number;
  readonly mergeAttemptsMax: number;
  readonly coordination: Coordination;
  readonly phase: 'new' | 'running' | 'paused' | 'stopping' | 'ended';
  readonly endReason: RunEndReason | undefined;
  /** The goal's first; then those of tasks that have not ended. */
  readonly planners: ReadonlyMap<TaskId, PlannerState>;
  /**
   * Open, in their order. An array apart from `tasks`: thousands may wait, and
   * an array is copied for a next state some twenty times faster than a map.
   */
  readonly queue: readonly TaskState[];
  /** Started and not ended. */
  readonly tasks: ReadonlyMap<TaskId, TaskState>;
  /** Not settled, or settled before their worker's report came. */
  readonly conflicts: ReadonlyMap<string, ConflictState>;
  readonly files: ReadonlyMap<string, 'flagged' | 'frozen'>;
  /** That have not ended. */
  readonly reviews: ReadonlyMap<string, ReviewState>;
  /** Whether there is a mind for decomposers. */
  readonly decomposing: boolean;
  readonly decompositions: ReadonlyMap<string, Decomposition>;
  /** Parked intents that the store decided before their worker's report came, by id. */
  readonly unparked: ReadonlyMap<string, { readonly outcome: UnparkedOutcome; readonly seq: number }>;
  /** Open, at hand, or left by reconcilers. */
  readonly contradictions: ReadonlyMap<string, ContradictionState>;
  /** That were ever found. */
  readonly contradictionCount: number;
  readonly contests: ReadonlyMap<string, Contest>;
  readonly agents: ReadonlyMap<AgentId, AgentState>;
  /** undefined where nobody keeps green. */
  readonly green: GreenState | undefined;
}

export const initialState: SwarmState = {
  run: undefined,
  goal: '',
  agentsMax: 0,
  plannersMax: 0,
  taskAttemptsMax: 1,
  mergeAttemptsMax: 1,
  coordination: allOff,
  phase: 'new',
  endReason: undefined,
  planners: new Map(),
  queue: [],
  tasks: new Map(),
  conflicts: new Map(),
  files: new Map(),
  reviews: new Map(),
  decomposing: false,
  decompositions: new Map(),
  unparked: new Map(),
  contradictions: new Map(),
  contradictionCount: 0,
  contests: new Map(),
  agents: new Map(),
  green: undefined,
};

/** Tasks that have not ended. */
export const unsettledCount = (state: SwarmState): number => state.queue.length + state.tasks.size;

/** The tasks of one planner that have not ended. */
export const tasksOf = (state: SwarmState, planner: TaskId): TaskState[] =>
  [...state.tasks.values(), ...state.queue].filter(({ parent }) => parent === planner);
