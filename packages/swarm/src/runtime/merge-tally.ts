import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { SwarmEvent } from '../events/event.ts';
import { addSurvival, noSurvival, type Survival } from './survival.ts';

/** How the conflicts of a run were settled. */
export interface MergeReport {
  readonly conflicts: number;
  readonly resolved: number;
  /** Left by mergers after their last attempt. */
  readonly escalated: number;
  /** Conflicts that a merger was put to: again where one had left it. */
  readonly attempts: number;
  /** From the conflict's opening, or the end of the merger before, to the start of its merger. */
  readonly queueDelayMs: { readonly count: number; readonly p50: number; readonly p99: number; readonly max: number };
  /** Lines that each side had added to the base of what mergers resolved, and how many of them stand in the result. */
  readonly survival: { readonly current: Survival; readonly incoming: Survival };
}

/** Counts conflicts and their mergers as events tell of them. */
export class MergeTally {
  readonly #delays: RecordableHistogram = createHistogram();
  readonly #waitingSince = new Map<string, number>();
  readonly #survival = { current: noSurvival, incoming: noSurvival };
  #conflicts = 0;
  #resolved = 0;
  #escalated = 0;
  #attempts = 0;

  /** `now`: milliseconds of the run's clock. */
  seen(event: SwarmEvent, now: number): void {
    switch (event.kind) {
      case 'conflict.opened':
        this.#conflicts += 1;
        this.#waitingSince.set(event.conflict, now);
        return;
      case 'conflict.unresolved':
        this.#waitingSince.set(event.conflict, now);
        return;
      case 'conflict.assigned': {
        this.#attempts += 1;
        const since = this.#waitingSince.get(event.conflict);
        // The histogram takes whole numbers from 1: microseconds.
        if (since !== undefined) this.#delays.record(Math.max(1, Math.round((now - since) * 1000)));
        return;
      }
      case 'conflict.resolved':
        if (this.#waitingSince.delete(event.conflict)) this.#resolved += 1;
        return;
      case 'conflict.escalated':
        this.#escalated += 1;
        return;
      default:
    }
  }

  survived(side: 'current' | 'incoming', survival: Survival): void {
    this.#survival[side] = addSurvival(this.#survival[side], survival);
  }

  report(): MergeReport {
    const { count } = this.#delays;
    const at = (percentile: number): number => (count === 0 ? 0 : this.#delays.percentile(percentile) / 1000);
    return {
      conflicts: this.#conflicts,
      resolved: this.#resolved,
      escalated: this.#escalated,
      attempts: this.#attempts,
      queueDelayMs: { count, p50: at(50), p99: at(99), max: count === 0 ? 0 : this.#delays.max / 1000 },
      survival: { ...this.#survival },
    };
  }
}
