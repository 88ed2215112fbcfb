import type { Time } from '../core/time.ts';

/** Runs out after so much time in which its holder could work: it stands still while the holder is parked. */
export class LeaseTimer {
  readonly #time: Time;
  readonly #onOut: () => void;
  readonly #leaseMs: number;
  #leftMs: number;
  #startedAt: number | undefined;
  #cancel: (() => void) | undefined;

  constructor(time: Time, leaseMs: number, onOut: () => void) {
    this.#time = time;
    this.#leaseMs = leaseMs;
    this.#leftMs = leaseMs;
    this.#onOut = onOut;
    this.resume();
  }

  pause(): void {
    if (this.#startedAt === undefined) return;
    this.#leftMs -= this.#time.now() - this.#startedAt;
    this.stop();
  }

  resume(): void {
    if (this.#startedAt !== undefined) return;
    this.#startedAt = this.#time.now();
    this.#cancel = this.#time.after(Math.max(0, this.#leftMs), this.#onOut);
  }

  /** Its holder has got on: the whole time again. */
  renew(): void {
    if (this.#startedAt === undefined) return;
    this.stop();
    this.#leftMs = this.#leaseMs;
    this.resume();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#startedAt = undefined;
  }
}
