import type { Cap } from './amount.ts';
import type { JsonValue } from './json.ts';
import type { AgentId, TaskId } from './ids.ts';

/** A unit of assigned work as its planner gave it. */
export interface Task {
  readonly id: TaskId;
  /** Whose planner is told of its end. */
  readonly parent: TaskId;
  /** Name of the role that does it: a planner splits it again. */
  readonly role: string;
  readonly title: string;
  /** Paths, or directories, that it may change; empty means everywhere. */
  readonly scope: readonly string[];
  readonly brief: string;
  /** Seq of the snapshot from which the worker starts. */
  readonly base: number;
  /** Shell command that proves it: exit code 0 on the worker's tree, or the task is not done. */
  readonly check?: string;
  /** Tasks that have to end first; their handoffs are shown to this one. */
  readonly after?: readonly TaskId[];
  /** What is decided below it, by name: no other live task may decide the same. */
  readonly topics?: readonly string[];
  /** What it may cost; without one it draws on its planner's budget. */
  readonly budget?: Cap;
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

/** A command that the runtime ran, and how it ended. */
export interface CheckResult {
  readonly command: string;
  /** Exit code; -1 where it was stopped. */
  readonly code: number;
  /** Seq of the snapshot under the worker's own edits on which it ran. */
  readonly seq: number;
}

/** The typed report that ends an agent's work. */
export interface Handoff {
  readonly status: HandoffStatus;
  /** Operation ids that the store acknowledged; filled by the runtime, never by the model. */
  readonly commits: readonly string[];
  /** The task's check, where it has one and the runtime ran it; never filled by the model. */
  readonly check?: CheckResult;
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
  /** Why a planner is told that did not hand the task out: it is the lowest above both sides of a conflict that mergers left. */
  readonly escalated?: true;
  readonly handoff: Handoff;
}
