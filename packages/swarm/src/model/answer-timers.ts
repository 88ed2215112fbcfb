import type { Time } from '../core/time.ts';
import type { Spend } from '../core/usage.ts';
import { ModelError } from './model-error.ts';

export interface AnswerLimits {
  /** Longest silence before the first piece of an answer. */
  readonly firstMs: number;
  /** Longest silence between two pieces of meaning; pings do not count. */
  readonly idleMs: number;
  /** Longest time for one answer. */
  readonly totalMs: number;
}

/** One abort signal out of three reasons: the caller, silence, and too long in all. They run while a request does, and only then. */
export class AnswerTimers {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #time: Time;
  readonly #limits: AnswerLimits;
  readonly #onAbort = (): void => this.#controller.abort();
  readonly #cancelTotal: () => void;
  #cancelIdle: () => void;
  #reason: ModelError | undefined;

  constructor(outer: AbortSignal, time: Time, limits: AnswerLimits) {
    this.#outer = outer;
    this.#time = time;
    this.#limits = limits;
    const { firstMs, totalMs } = limits;
    const tooLong = `the answer was not whole after ${totalMs} ms`;
    this.#cancelTotal = time.after(totalMs, () => this.#stop('total-timeout', tooLong));
    this.#cancelIdle = time.after(firstMs, () => this.#stop('idle-timeout', `no answer began within ${firstMs} ms`));
    if (outer.aborted) this.#controller.abort();
    outer.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something of meaning came. */
  touch(): void {
    const { idleMs } = this.#limits;
    this.#cancelIdle();
    this.#cancelIdle = this.#time.after(idleMs, () =>
      this.#stop('idle-timeout', `nothing of meaning came for ${idleMs} ms`),
    );
  }

  /** Why the request was aborted, or undefined where it was not. */
  cause(spent: readonly Spend[]): ModelError | undefined {
    if (this.#outer.aborted) return new ModelError('aborted', 'aborted by the caller', { spent });
    return this.#reason?.after(spent);
  }

  clear(): void {
    this.#cancelIdle();
    this.#cancelTotal();
    this.#outer.removeEventListener('abort', this.#onAbort);
  }

  #stop(code: 'idle-timeout' | 'total-timeout', says: string): void {
    this.#reason ??= new ModelError(code, says);
    this.#controller.abort();
  }
}
