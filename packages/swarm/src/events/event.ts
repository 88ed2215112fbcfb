import type { Coordination, Safeguard } from '../core/coordination.ts';
import type { HeadVerdict, OutcomeKind } from '@mound/vcs';
import type { GreenCulprit } from '../core/green.ts';
import type { AgentId, RunId, TaskId } from '../core/ids.ts';
import type { RoleKind } from '../core/role.ts';
import type { TaskReport } from '../core/task.ts';
import type { Usage } from '../core/usage.ts';

/** Why a run ended, or stopped: all but `finished` can be resumed. */
export type RunEndReason =
  | 'finished'
  | 'planner-failed'
  | 'aborted'
  /** The goal's budget is used up. */
  | 'budget'
  | 'time-limit'
  /** Conflicts per accepted line keep growing. */
  | 'thrashing'
  /** Tasks end and nothing lands. */
  | 'no-progress';
export type AgentEndReason =
  | 'finished'
  | 'turns'
  | 'model-failed'
  | 'malformed-calls'
  | 'no-calls'
  | 'looping'
  | 'context-exhausted'
  | 'aborted'
  | 'lost'
  /** Between two turns, because the run stops; it goes on from there. */
  | 'stopped'
  /** Its budget does not cover the next request. */
  | 'budget';

/** Everything that changes what a swarm does next. Plain JSON values. */
export type SwarmEvent =
  | {
      readonly kind: 'run.started';
      readonly run: RunId;
      readonly goal: string;
      /** Who splits the goal: a planner, or nobody, where the run's tasks are given with it. */
      readonly root: 'planner' | 'given';
      /** Workers and mergers at once; planners take no slot. */
      readonly agentsMax: number;
      /** Planners that work (and do not wait) at once. */
      readonly plannersMax: number;
      readonly taskAttemptsMax: number;
      readonly mergeAttemptsMax: number;
      /** What is on and can be had: without a model for it a mechanism is off. */
      readonly coordination: Coordination;
      /** Marked files are split. */
      readonly decomposing: boolean;
      /** Landings that make a check of green due; absent where nobody keeps it. */
      readonly greenEvery?: number;
      /** What an experiment does without. */
      readonly unsafeWithout?: readonly Safeguard[];
    }
  /** `turns`: agents end what they are at; `now`: their requests are given up. */
  | {
      readonly kind: 'run.stopping';
      readonly reason: RunEndReason;
      readonly how: 'turns' | 'now';
      readonly detail?: string;
    }
  | { readonly kind: 'run.paused'; readonly reason: string }
  | { readonly kind: 'run.unpaused' }
  /** By those who started the run. */
  | { readonly kind: 'goal.changed'; readonly goal: string }
  | { readonly kind: 'run.ended'; readonly reason: RunEndReason }
  | {
      readonly kind: 'task.created';
      readonly task: TaskId;
      readonly parent: TaskId;
      /** True where its agent is a planner. */
      readonly plans: boolean;
      readonly title: string;
      readonly scope: readonly string[];
      readonly after?: readonly TaskId[];
    }
  | {
      readonly kind: 'task.claimed';
      readonly task: TaskId;
      readonly agent: AgentId;
      readonly generation: number;
    }
  /** The worker's part is over; a conflicted task stays open until its conflict is settled. */
  | { readonly kind: 'task.finished'; readonly task: TaskId; readonly report: TaskReport }
  /** The worker ended without a report, or its lease ran out. */
  | { readonly kind: 'task.reopened'; readonly task: TaskId; readonly agent: AgentId; readonly reason: string }
  /** That was its last try. */
  | { readonly kind: 'task.given-up'; readonly task: TaskId; readonly attempts: number; readonly reason: string }
  /** A planner asks those who started the run. */
  | { readonly kind: 'question.asked'; readonly question: string; readonly task: TaskId; readonly text: string }
  | { readonly kind: 'question.answered'; readonly question: string }
  | {
      readonly kind: 'conflict.opened';
      readonly conflict: string;
      readonly task: TaskId;
      readonly paths: readonly string[];
      /** The lowest planner that the tasks of both sides have in common, and those above it. */
      readonly planners?: readonly TaskId[];
    }
  | { readonly kind: 'conflict.assigned'; readonly conflict: string; readonly agent: AgentId }
  | { readonly kind: 'conflict.resolved'; readonly conflict: string; readonly seq: number }
  /** A merger ended and the conflict is still open; `untried`: it was at another of the same files. */
  | {
      readonly kind: 'conflict.unresolved';
      readonly conflict: string;
      readonly reason: string;
      readonly untried?: true;
    }
  /** No merger tries it any more: the planner that both sides have in common is told. */
  | { readonly kind: 'conflict.escalated'; readonly conflict: string; readonly planner: TaskId }
  /** The store answered an agent's intent with changes; `resolved`: of a merger. */
  | {
      readonly kind: 'intent.answered';
      readonly agent: AgentId;
      readonly outcome: OutcomeKind | 'resolved';
      /** From the call to the durable answer. */
      readonly ms: number;
      readonly paths: readonly string[];
      /** Of the landing. */
      readonly seq?: number;
    }
  /** Agents of different planners took back one another's work on a path, or met in conflict there. */
  | {
      readonly kind: 'path.contested';
      readonly path: string;
      readonly how: 'oscillation' | 'conflict';
      readonly planners: readonly TaskId[];
    }
  /** Active decisions that settle the same under different owners. */
  | {
      readonly kind: 'decisions.overlapped';
      readonly decisions: readonly string[];
      readonly paths: readonly string[];
      readonly planners: readonly TaskId[];
    }
  | { readonly kind: 'contradiction.assigned'; readonly contradiction: string; readonly agent: AgentId }
  /** `decision`: what holds from now on; `tasks`: what has to follow it. */
  | {
      readonly kind: 'contradiction.settled';
      readonly contradiction: string;
      readonly decision?: string;
      readonly tasks: readonly TaskId[];
    }
  | { readonly kind: 'contradiction.unsettled'; readonly contradiction: string; readonly reason: string }
  /** A lens is to look at a landing. */
  | {
      readonly kind: 'review.wanted';
      readonly review: string;
      readonly lens: string;
      readonly seq: number;
      readonly task: TaskId;
      /** Whose planner hears of what follows. */
      readonly planner: TaskId;
      readonly risk: number;
    }
  | { readonly kind: 'review.assigned'; readonly review: string; readonly agent: AgentId }
  | {
      readonly kind: 'review.ended';
      readonly review: string;
      readonly findings: number;
      readonly blocking: number;
      /** Tasks that are to mend what was found. */
      readonly tasks: readonly TaskId[];
      /** The landing was taken back. */
      readonly reverted?: true;
      /** Why there is no verdict. */
      readonly failed?: string;
    }
  | { readonly kind: 'file.flagged'; readonly path: string; readonly reason: string }
  | { readonly kind: 'file.frozen'; readonly path: string; readonly reason: string }
  | { readonly kind: 'file.thawed'; readonly path: string }
  | { readonly kind: 'decomposition.assigned'; readonly path: string; readonly agent: AgentId }
  /** The file is split into these. */
  | { readonly kind: 'file.split'; readonly path: string; readonly modules: readonly string[] }
  | { readonly kind: 'decomposition.failed'; readonly path: string; readonly reason: string }
  /** The store has decided a parked intent again. */
  | {
      readonly kind: 'work.unparked';
      readonly task: TaskId;
      readonly parked: string;
      readonly outcome: 'landed' | 'merged' | 'unchanged' | 'conflicted' | 'rejected';
      readonly seq: number;
    }
  /** Nobody is about to free what these have parked: they end as they are. */
  | { readonly kind: 'tasks.stranded'; readonly tasks: readonly TaskId[] }
  /** Files of `main` changed, whoever did it; told only where somebody keeps green. */
  | { readonly kind: 'trunk.landed'; readonly seq: number }
  /** What has landed has waited for long enough. */
  | { readonly kind: 'green.due' }
  | { readonly kind: 'green.begun' }
  /** The check of a head of `main`; `passed` and `flaky` move green there. */
  | { readonly kind: 'green.checked'; readonly seq: number; readonly verdict: HeadVerdict; readonly ms: number }
  /** `mendedBy`: the task that is to mend it. */
  | ({ readonly kind: 'green.broken'; readonly mendedBy?: TaskId } & GreenCulprit)
  /** `head`: the landing that was looked at last; `candidates`: what broke it is one of these. */
  | {
      readonly kind: 'green.ended';
      readonly verdict: 'green' | 'flaky' | 'red' | 'unknown' | 'skipped' | 'interrupted';
      readonly head: number;
      readonly green?: number;
      readonly candidates: readonly number[];
    }
  | {
      readonly kind: 'agent.started';
      readonly agent: AgentId;
      readonly role: RoleKind;
      readonly task?: TaskId;
      readonly conflicts?: readonly string[];
      readonly contradiction?: string;
      /** Of a decomposer. */
      readonly path?: string;
      readonly review?: string;
    }
  | {
      readonly kind: 'agent.ended';
      readonly agent: AgentId;
      readonly role: RoleKind;
      readonly reason: AgentEndReason;
      readonly turns: number;
      readonly usage: Usage;
      /** Why, where it did not finish. */
      readonly detail?: string;
    }
  /** Its model is asked nothing before `until` (ms since 1970): too many requests, or the endpoint is down. */
  | { readonly kind: 'agent.waiting'; readonly agent: AgentId; readonly until: number; readonly reason: string }
  | { readonly kind: 'agent.resumed'; readonly agent: AgentId }
  /** It goes on, and somebody should know: the server cut its context, its history was compacted, it went in circles, another model answers. */
  | {
      readonly kind: 'agent.warned';
      readonly agent: AgentId;
      readonly code: 'context-cut' | 'compacted' | 'looping' | 'fallback';
      readonly says: string;
    }
  /** Before its next request: what changed in the files that it has read. */
  | { readonly kind: 'agent.told'; readonly agent: AgentId; readonly chars: number }
  /** A planner wanted to settle, or to hand out, what another settles: refused. */
  | {
      readonly kind: 'topic.refused';
      readonly planner: TaskId;
      readonly topic: string;
      /** What it overlaps. */
      readonly other: string;
      readonly by: 'task' | 'decision';
      readonly id: string;
      /** The task whose planner answers for it; of a decision from elsewhere whoever its document names. */
      readonly owner: string;
    }
  /** For the reports of all its tasks, or of any. */
  | { readonly kind: 'planner.waiting'; readonly planner: TaskId; readonly for: 'all' | 'any' }
  /** The planner was told of these tasks and goes on. */
  | { readonly kind: 'planner.woken'; readonly planner: TaskId; readonly tasks: readonly TaskId[] };

export type SwarmEventKind = SwarmEvent['kind'];
