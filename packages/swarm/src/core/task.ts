import type { JsonValue } from './json.ts';
import type { AgentId, TaskId } from './ids.ts';

/** A unit of assigned work as the planner gave it. */
export interface Task {
  readonly id: TaskId;
  readonly title: string;
  /** Paths, or directories, that it may change; empty means everywhere. */
  readonly scope: readonly string[];
  readonly brief: string;
  /** Seq of the snapshot from which the worker starts. */
  readonly base: number;
  /** Opaque to the runtime; handed to the worker (and to the merger of its conflict) as it is. */
  readonly input?: JsonValue;
}

/** True where the path lies in the scope. */
export function isInScope(scope: readonly string[], path: string): boolean {
  if (scope.length === 0) return true;
  return scope.some((entry) => {
    const directory = entry.endsWith('/') ? entry : `${entry}/`;
    return path === entry || path.startsWith(directory);
  });
}

/** How a worker, planner or merger says its work stands. `failed` is only ever said by the runtime. */
export type HandoffStatus = 'done' | 'nothing-to-do' | 'partial' | 'blocked' | 'failed';

/** The typed report that ends an agent's work. */
export interface Handoff {
  readonly status: HandoffStatus;
  /** Operation ids that the store acknowledged; filled by the runtime, never by the model. */
  readonly commits: readonly string[];
  /** Commands or checks that were run, and their result. */
  readonly verifiedBy: readonly string[];
  readonly concerns: readonly string[];
  readonly findings: readonly string[];
  readonly debts: readonly string[];
  readonly deviations: readonly string[];
  readonly outOfScope: readonly string[];
}

export const emptyHandoff: Handoff = {
  status: 'failed',
  commits: [],
  verifiedBy: [],
  concerns: [],
  findings: [],
  debts: [],
  deviations: [],
  outOfScope: [],
};

/** What the store says became of a task's last intent. */
export type TaskOutcome = 'landed' | 'unchanged' | 'merged' | 'conflicted' | 'resolved' | 'parked' | 'none';

/** What the planner is told of a task that ended. */
export interface TaskReport {
  readonly task: TaskId;
  readonly agent: AgentId | undefined;
  readonly outcome: TaskOutcome;
  /** Of the landing; of the conflict or parking where nothing landed. */
  readonly seq?: number;
  readonly conflict?: string;
  readonly parked?: string;
  readonly handoff: Handoff;
}
