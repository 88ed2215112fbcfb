import type { Time } from '../core/time.ts';
import type { RunEndReason, SwarmEvent } from '../events/event.ts';
import type { Repo } from '@mound/vcs';
import type { ThrashingPolicy } from '../state/thrashing.ts';
import { ThrashWatch } from './thrash-watch.ts';
import type { SwarmLimits } from './run-options.ts';

/** For turns that are going on when the time is used up. */
const turnGraceMs = 60_000;

/** Sees a run that gets nowhere, from what happens in it. */
export class Watch {
  readonly #limits: SwarmLimits;
  readonly #thrash: ThrashWatch | undefined;
  readonly #time: Time;
  #fruitless = 0;

  constructor(limits: SwarmLimits, repo: Repo, time: Time, policy: ThrashingPolicy | undefined) {
    this.#time = time;
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

  /** Calls when the run's time is used up, and once more where turns that go on then take too long; the answer cancels it. */
  startClock(onEnd: (how: 'turns' | 'now') => void): () => void {
    const { wallClockMs } = this.#limits;
    if (!Number.isFinite(wallClockMs)) return () => undefined;
    const first = this.#time.after(wallClockMs, () => onEnd('turns'));
    const last = this.#time.after(wallClockMs + turnGraceMs, () => onEnd('now'));
    return () => {
      first();
      last();
    };
  }
}
