import type { Random } from '@mound/vcs';
import type { Time } from '../../core/time.ts';
import { delayOf, type RetryPolicy } from '../retry.ts';

/** Failures in a row after which nothing more is sent for a while. */
const failuresMax = 5;

/**
 * Whether an endpoint seems to be there at all. After failures in a row it
 * opens: nothing is sent until a delay is over, then one probe at a time, and a
 * longer delay where that fails, too. (M. Nygard, Release It!, circuit breaker.)
 */
export class Breaker {
  readonly #time: Time;
  readonly #random: Random;
  readonly #policy: RetryPolicy;
  readonly #listeners: (() => void)[] = [];
  #failures = 0;
  #openings = 0;
  #openUntil: number | undefined;
  #probing = false;

  constructor(time: Time, random: Random, policy: RetryPolicy) {
    this.#time = time;
    this.#random = random;
    this.#policy = policy;
  }

  /** Called when more may be sent than before. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** When the next request may be sent; undefined: now, or as soon as the probe is back. */
  get closedUntil(): number | undefined {
    return this.#openUntil !== undefined && this.#openUntil > this.#time.now() ? this.#openUntil : undefined;
  }

  /** True where one probe is to be sent, or is on its way. */
  get isProbing(): boolean {
    return this.#openUntil !== undefined;
  }

  get mayProbe(): boolean {
    return this.isProbing && !this.#probing && this.closedUntil === undefined;
  }

  /** A request goes out; true where it is the probe. */
  begin(): boolean {
    if (!this.isProbing) return false;
    this.#probing = true;
    return true;
  }

  /** The endpoint answered, whatever it said. */
  succeeded(): void {
    this.#failures = 0;
    this.#openings = 0;
    this.#openUntil = undefined;
    this.#probing = false;
    this.#changed();
  }

  failed(wasProbe: boolean): void {
    this.#failures += 1;
    if (wasProbe) this.#probing = false;
    else if (this.isProbing || this.#failures < failuresMax) return;
    this.#openings += 1;
    this.#openUntil = this.#time.now() + delayOf(this.#policy, this.#openings, this.#random);
    this.#changed();
  }

  /** Nothing was learned. */
  given(wasProbe: boolean): void {
    if (!wasProbe) return;
    this.#probing = false;
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
