import type { Random } from '@mound/vcs';
import type { Time } from '../../core/time.ts';
import { ModelError } from '../model-error.ts';
import type { AskOptions } from '../model.ts';
import { delayOf, type RetryPolicy } from '../retry.ts';
import type { Breaker } from './breaker.ts';

export interface GatePolicy {
  /** Requests at once, to begin with. */
  readonly concurrencyStart: number;
  readonly concurrencyMax: number;
}

export const defaultGatePolicy: GatePolicy = { concurrencyStart: 8, concurrencyMax: 64 };

/** Leave to send one request; exactly one of its methods is called when the request is over. */
export interface Pass {
  succeeded(): void;
  /** Refused because there were too many. */
  limited(retryAfterMs: number | undefined, says: string): void;
  /** The endpoint failed. */
  failed(isOverload: boolean): void;
  /** It was given up; nothing was learned. */
  released(): void;
}

interface Waiter {
  /** The latest time at which it would still begin. */
  readonly deadline: number;
  readonly options: AskOptions;
  readonly admit: (pass: Pass) => void;
  readonly refuse: (error: ModelError) => void;
  told: number | undefined;
}

/** Longest that a request waits to be sent, where nothing else is said. */
export const waitMsMaxDefault: number = 2 * 60 * 60_000;

/**
 * The one way to one model at one endpoint, for all agents. Requests at once
 * grow by one a round of successes and halve when the provider has too much
 * (AIMD). After a 429 nothing is sent until the time it named, then one probe;
 * everybody else waits, and is told until when.
 */
export class Gate {
  readonly #name: string;
  readonly #time: Time;
  readonly #random: Random;
  readonly #retry: RetryPolicy;
  readonly #policy: GatePolicy;
  readonly #breaker: Breaker;
  readonly #queue: Waiter[] = [];
  #limit: number;
  #inFlight = 0;
  /** Counts the closings: what was sent before the last one says nothing about the time after. */
  #epoch = 0;
  #closings = 0;
  #closedUntil: number | undefined;
  #says = '';
  #probing = false;
  #cancel: (() => void) | undefined;

  constructor(
    name: string,
    time: Time,
    random: Random,
    breaker: Breaker,
    retry: RetryPolicy,
    policy: GatePolicy = defaultGatePolicy,
  ) {
    this.#name = name;
    this.#time = time;
    this.#random = random;
    this.#breaker = breaker;
    this.#retry = retry;
    this.#policy = policy;
    this.#limit = Math.min(policy.concurrencyStart, policy.concurrencyMax);
    breaker.onChange(() => this.#pump());
  }

  /** How it stands, for whoever watches. */
  get state(): {
    readonly limit: number;
    readonly inFlight: number;
    readonly waiting: number;
    readonly closedUntil?: number;
  } {
    const { until } = this.#closure();
    return {
      limit: Math.floor(this.#limit),
      inFlight: this.#inFlight,
      waiting: this.#queue.length,
      ...(until !== undefined && { closedUntil: until }),
    };
  }

  /** In the order of asking. Errors: `unavailable` where it is closed for longer than the caller waits, `aborted`. */
  enter(signal: AbortSignal, options: AskOptions): Promise<Pass> {
    if (signal.aborted) return Promise.reject(new ModelError('aborted', 'aborted by the caller'));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiter), 1);
        reject(new ModelError('aborted', 'aborted while waiting to be sent'));
      };
      const waiter: Waiter = {
        deadline: this.#time.now() + (options.waitMsMax ?? waitMsMaxDefault),
        options,
        admit: (pass) => {
          signal.removeEventListener('abort', onAbort);
          resolve(pass);
        },
        refuse: (error) => {
          signal.removeEventListener('abort', onAbort);
          reject(error);
        },
        told: undefined,
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiter);
      this.#pump();
    });
  }

  #closure(): { readonly until: number | undefined; readonly reason: string } {
    const now = this.#time.now();
    const own = this.#closedUntil !== undefined && this.#closedUntil > now ? this.#closedUntil : undefined;
    const broken = this.#breaker.closedUntil;
    return own !== undefined && own >= (broken ?? 0)
      ? { until: own, reason: this.#says }
      : { until: broken, reason: `${this.#name} fails; the next try is due then` };
  }

  #pump(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    while (this.#queue.length > 0) {
      const { until, reason } = this.#closure();
      if (until !== undefined) {
        this.#hold(until, reason);
        return;
      }
      const isProbe = this.#closedUntil !== undefined;
      if (isProbe && this.#probing) return;
      if (this.#breaker.isProbing && !this.#breaker.mayProbe) return;
      if (!isProbe && this.#inFlight >= Math.floor(this.#limit)) return;
      const waiter = this.#queue.shift();
      if (waiter === undefined) return;
      if (waiter.told !== undefined) waiter.options.notice?.({ kind: 'asking' });
      waiter.admit(this.#pass(isProbe));
    }
  }

  /** Closed: those that would not wait so long are sent away, the others are told until when. */
  #hold(until: number, reason: string): void {
    const patient = this.#queue.filter(({ deadline }) => deadline >= until);
    const sentAway = this.#queue.filter(({ deadline }) => deadline < until);
    this.#queue.splice(0, this.#queue.length, ...patient);
    for (const { refuse } of sentAway) {
      const at = new Date(until).toISOString();
      refuse(new ModelError('unavailable', `${this.#name} is closed until ${at}: ${reason}`));
    }
    for (const waiter of patient) {
      if (waiter.told === until) continue;
      waiter.told = until;
      waiter.options.notice?.({ kind: 'waiting', until, reason });
    }
    if (this.#queue.length > 0) {
      this.#cancel = this.#time.after(until - this.#time.now(), () => this.#pump());
    }
  }

  #pass(isProbe: boolean): Pass {
    const epoch = this.#epoch;
    const isBreakerProbe = this.#breaker.begin();
    this.#inFlight += 1;
    if (isProbe) this.#probing = true;
    let over = false;
    const end = (learned: () => void): void => {
      if (over) return;
      over = true;
      this.#inFlight -= 1;
      if (isProbe) this.#probing = false;
      learned();
      this.#pump();
    };
    return {
      succeeded: () =>
        end(() => {
          if (epoch === this.#epoch) this.#open();
          this.#breaker.succeeded();
        }),
      limited: (retryAfterMs, says) =>
        end(() => {
          this.#close(epoch, retryAfterMs, says);
          this.#breaker.succeeded();
        }),
      failed: (isOverload) =>
        end(() => {
          if (isOverload) this.#shrink(epoch);
          this.#breaker.failed(isBreakerProbe);
        }),
      released: () => end(() => this.#breaker.given(isBreakerProbe)),
    };
  }

  #open(): void {
    this.#closedUntil = undefined;
    this.#closings = 0;
    this.#limit = Math.min(this.#policy.concurrencyMax, this.#limit + 1 / this.#limit);
  }

  #close(epoch: number, retryAfterMs: number | undefined, says: string): void {
    const isFirst = epoch === this.#epoch;
    if (isFirst) this.#closings += 1;
    const wait = retryAfterMs ?? (isFirst ? delayOf(this.#retry, this.#closings, this.#random) : 0);
    this.#shrink(epoch);
    const until = this.#time.now() + wait;
    if (this.#closedUntil !== undefined && this.#closedUntil >= until) return;
    this.#closedUntil = until;
    this.#says = says;
  }

  /** Once for all that were sent together. */
  #shrink(epoch: number): void {
    if (epoch !== this.#epoch) return;
    this.#epoch += 1;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
  }
}
