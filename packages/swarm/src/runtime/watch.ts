import type { RunEndReason, SwarmEvent } from '../events/event.ts';
import type { Repo } from '@mound/vcs';
import type { ThrashingPolicy } from '../state/thrashing.ts';
import { ThrashWatch } from './thrash-watch.ts';
import type { SwarmLimits } from './run-options.ts';

/** Sees a run that gets nowhere, from what happens in it. */
export class Watch {
  readonly #limits: SwarmLimits;
  readonly #thrash: ThrashWatch | undefined;
  #fruitless = 0;

  constructor(limits: SwarmLimits, repo: Repo, policy: ThrashingPolicy | undefined) {
    this.#limits = limits;
    this.#thrash = policy && new ThrashWatch(repo, policy);
  }

  /** Why the run should stop; undefined while it may go on. */
  seen(event: SwarmEvent): { readonly reason: RunEndReason; readonly detail: string } | undefined {
    if (event.kind === 'intent.answered') {
      const detail = this.#thrash?.seen(event);
      return detail === undefined ? undefined : { reason: 'thrashing', detail };
    }
    if (event.kind !== 'task.finished' && event.kind !== 'task.reopened') return undefined;
    const hasLanded =
      event.kind === 'task.finished' &&
      (event.report.outcome !== 'none' || event.report.handoff.status === 'nothing-to-do');
    const isPlanners = event.kind === 'task.finished' && event.report.handoff.status === 'done';
    this.#fruitless = hasLanded || isPlanners ? 0 : this.#fruitless + 1;
    if (this.#fruitless < this.#limits.fruitlessTasksMax) return undefined;
    return { reason: 'no-progress', detail: `${this.#fruitless} tasks in a row ended and nothing of them landed` };
  }

  /** Calls when the run's time is used up; the answer cancels it. */
  startClock(onEnd: () => void): () => void {
    const { wallClockMs } = this.#limits;
    if (!Number.isFinite(wallClockMs)) return () => undefined;
    const timer = setTimeout(onEnd, Math.min(wallClockMs, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }
}
