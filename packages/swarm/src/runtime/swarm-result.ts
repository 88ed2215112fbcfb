import type { GreenSummary } from '../core/green.ts';
import type { RunId, TaskId } from '../core/ids.ts';
import type { RoleKind } from '../core/role.ts';
import type { HandoffStatus } from '../core/task.ts';
import type { CostReport } from '../cost/cost-ledger.ts';
import type { RunEndReason } from '../events/event.ts';
import type { ReviewReport } from '../review/review-ledger.ts';
import type { MergeReport } from './merge-tally.ts';
import type { LandingTimes, OutcomeCounts, RoleSpend } from './tally.ts';

/** What a run came to, as far as one process ran it. */
export interface SwarmResult {
  readonly run: RunId;
  readonly reason: RunEndReason;
  /** Of the goal, where the run has finished. */
  readonly status?: HandoffStatus;
  /** Why the planner failed, or the run stopped. */
  readonly detail?: string;
  readonly outcomes: OutcomeCounts;
  readonly tasks: {
    readonly created: number;
    /** Ended, whatever became of them. */
    readonly ended: number;
    readonly reopened: number;
    /** Tried as often as they may be. */
    readonly givenUp: readonly TaskId[];
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
  /** By lens; undefined where nobody reviewed. */
  readonly review?: ReviewReport;
  /** How the build stood, over the whole run; undefined where nobody kept green. */
  readonly green?: GreenSummary;
  /** What this process spent, by role, task, agent and model; {@link readRun} has that of all. */
  readonly cost: CostReport;
  /** SwarmEvents by kind. */
  readonly events: Readonly<Record<string, number>>;
  readonly seconds: number;
}
