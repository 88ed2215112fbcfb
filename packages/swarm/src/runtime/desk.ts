import type { Halt } from '../agent/agent.ts';
import type { AgentId, TaskId } from '../core/ids.ts';
import type { RunEndReason, SwarmEvent } from '../events/event.ts';

/** Where an agent at work meets its run: the swarm itself, or what stands for it in another process. */
export interface Desk {
  /** A process before this one had begun the run. */
  readonly isResumed: boolean;
  readonly isStopping: boolean;
  dispatch(event: SwarmEvent): void;
  /** Agents that took the task and ended without a report. */
  attemptsOf(task: TaskId): number;
  /** False where its task was given to another. */
  isHolder(task: TaskId, agent: AgentId): boolean;
  /** True once for a task whose agent was cut off. */
  goesOn(task: TaskId): boolean;
  /** Before each request: waits while the run is paused, and halts where it stops. */
  gate(): Promise<Halt | undefined>;
  /** What the agent is to be told before its next request. */
  takeNotices(task: TaskId): readonly string[];
  stop(reason: RunEndReason, how: 'turns' | 'now', detail?: string): void;
  abortAgent(agent: AgentId): void;
}
