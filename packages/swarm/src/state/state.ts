import type { AgentId, RunId, TaskId } from '../core/ids.ts';
import type { RoleKind } from '../core/role.ts';
import type { TaskReport } from '../core/task.ts';
import type { RunEndReason } from '../events/event.ts';

export interface TaskState {
  readonly id: TaskId;
  readonly title: string;
  readonly scope: readonly string[];
  /** `conflicted`: the worker is done, its intent waits for a merger. */
  readonly status: 'open' | 'starting' | 'running' | 'conflicted';
  /** Workers that took it and ended without a report. */
  readonly attempts: number;
  readonly generation: number;
  readonly agent: AgentId | undefined;
  /** The worker's report, where the task waits for its conflict. */
  readonly report: TaskReport | undefined;
}

export interface ConflictState {
  readonly id: string;
  readonly task: TaskId;
  readonly paths: readonly string[];
  readonly status: 'open' | 'assigned' | 'resolved' | 'abandoned';
  readonly attempts: number;
  /** Of the landing that resolved it. */
  readonly seq: number | undefined;
}

export interface AgentState {
  readonly id: AgentId;
  readonly role: RoleKind;
  readonly task: TaskId | undefined;
  readonly conflict: string | undefined;
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
  readonly taskAttemptsMax: number;
  readonly mergeAttemptsMax: number;
  readonly merging: boolean;
  readonly phase: 'new' | 'running' | 'aborting' | 'ended';
  readonly endReason: RunEndReason | undefined;
  readonly planner: 'absent' | 'working' | 'waiting' | 'finished' | 'failed';
  /**
   * Open, in their order. An array apart from `tasks`: thousands may wait, and
   * an array is copied for a next state some twenty times faster than a map.
   */
  readonly queue: readonly TaskState[];
  /** Started and not ended. */
  readonly tasks: ReadonlyMap<TaskId, TaskState>;
  /** Ended, and the planner does not know yet. */
  readonly reports: readonly TaskReport[];
  /** Not settled, or settled before their worker's report came. */
  readonly conflicts: ReadonlyMap<string, ConflictState>;
  readonly files: ReadonlyMap<string, 'flagged' | 'frozen'>;
  readonly agents: ReadonlyMap<AgentId, AgentState>;
}

export const initialState: SwarmState = {
  run: undefined,
  goal: '',
  agentsMax: 0,
  taskAttemptsMax: 1,
  mergeAttemptsMax: 1,
  merging: false,
  phase: 'new',
  endReason: undefined,
  planner: 'absent',
  queue: [],
  tasks: new Map(),
  reports: [],
  conflicts: new Map(),
  files: new Map(),
  agents: new Map(),
};

/** Tasks that have not ended. */
export const unsettledCount = (state: SwarmState): number => state.queue.length + state.tasks.size;
