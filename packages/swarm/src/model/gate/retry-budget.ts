import type { Clock } from '@mound/vcs';

export interface RetryBudgetPolicy {
  /** Retries that may be made at once. */
  readonly retriesMax: number;
  /** Of that, what comes back in a minute. */
  readonly retriesPerMinute: number;
  /** Of that, what a success brings back. */
  readonly retriesPerSuccess: number;
}

export const defaultRetryBudget: RetryBudgetPolicy = { retriesMax: 20, retriesPerMinute: 20, retriesPerSuccess: 0.2 };

/**
 * Bounds the retries of all agents of a run together: where everything fails,
 * they do not multiply the load. A token bucket that successes fill, too (as in
 * Finagle's RetryBudget).
 */
export class RetryBudget {
  readonly #clock: Clock;
  readonly #policy: RetryBudgetPolicy;
  #balance: number;
  #at: number;

  constructor(clock: Clock, policy: RetryBudgetPolicy = defaultRetryBudget) {
    this.#clock = clock;
    this.#policy = policy;
    this.#balance = policy.retriesMax;
    this.#at = clock.now();
  }

  succeeded(): void {
    this.#add(this.#policy.retriesPerSuccess);
  }

  /** Takes one retry. The answer is how long to wait for it, in milliseconds; it is then taken all the same. */
  take(): number {
    this.#refill();
    this.#balance -= 1;
    if (this.#balance >= 0) return 0;
    return (-this.#balance / this.#policy.retriesPerMinute) * 60_000;
  }

  /** Gives one back that was not used. */
  giveBack(): void {
    this.#add(1);
  }

  #refill(): void {
    const now = this.#clock.now();
    const minutes = Math.max(0, now - this.#at) / 60_000;
    this.#at = now;
    this.#add(minutes * this.#policy.retriesPerMinute);
  }

  #add(retries: number): void {
    this.#balance = Math.min(this.#policy.retriesMax, this.#balance + retries);
  }
}
