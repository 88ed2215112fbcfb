import type { AgentEnd } from '../../agent/agent.ts';
import type { Amount } from '../../core/amount.ts';
import type { AgentId, RunId, TaskId } from '../../core/ids.ts';
import type { JsonValue } from '../../core/json.ts';
import type { Roles } from '../../core/role.ts';
import type { Task } from '../../core/task.ts';
import type { Spend } from '../../core/usage.ts';
import type { Spender } from '../../cost/cost-ledger.ts';
import type { RunEndReason, SwarmEvent } from '../../events/event.ts';
import type { SwarmState } from '../../state/state.ts';
import type { Settlement, SettlementStep } from '../budget-book.ts';
import type { CommandSettings } from '../command-room.ts';
import type { RunPolicy, SwarmLimits } from '../run-options.ts';

/** What a process is told before it gets work. */
export interface HandStart {
  readonly dir: string;
  readonly run: RunId;
  readonly limits: SwarmLimits;
  readonly policy: RunPolicy;
  readonly roles: Roles;
  readonly commands: CommandSettings;
  /** Its export `makeHand` makes the models. */
  readonly module: string;
  readonly options: JsonValue;
}

export interface Notice {
  readonly id: number;
  readonly task: TaskId;
  readonly text: string;
}

/** To a process that works for a run. */
export type ToHand =
  | { readonly kind: 'start'; readonly start: HandStart }
  | {
      readonly kind: 'work';
      readonly agent: AgentId;
      readonly task: Task;
      readonly attempts: number;
      readonly goesOn: boolean;
      readonly isResumed: boolean;
    }
  | { readonly kind: 'phase'; readonly phase: SwarmState['phase'] }
  | { readonly kind: 'abort'; readonly agent: AgentId }
  | { readonly kind: 'notice'; readonly notice: Notice }
  /** To an `ask`; `error`: it broke. */
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string }
  | { readonly kind: 'close' };

export type Ask =
  | { readonly kind: 'hold'; readonly draws: TaskId; readonly amount: Amount }
  | { readonly kind: 'settle'; readonly at: Settlement; readonly step: SettlementStep };

/** From it, in the order in which things happened there; several go in one message. */
export type FromHand =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly says: string }
  | { readonly kind: 'event'; readonly event: SwarmEvent }
  | { readonly kind: 'spent'; readonly spender: Spender; readonly spent: readonly Spend[] }
  | { readonly kind: 'release'; readonly draws: TaskId; readonly held: Amount; readonly spent: Amount }
  | { readonly kind: 'ask'; readonly id: number; readonly ask: Ask }
  | { readonly kind: 'told'; readonly notice: number }
  | { readonly kind: 'stop'; readonly reason: RunEndReason; readonly how: 'turns' | 'now'; readonly detail?: string }
  | { readonly kind: 'ended'; readonly agent: AgentId; readonly end: AgentEnd }
  | { readonly kind: 'broke'; readonly agent: AgentId; readonly says: string };
