import type { Random } from '@mound/vcs';

export interface RetryPolicy {
  /** Requests in all for one turn, the first included. */
  readonly attemptsMax: number;
  /** Doubled at each retry. */
  readonly delayMs: number;
  /** No delay of our own is longer. */
  readonly delayMsMax: number;
}

export const defaultRetryPolicy: RetryPolicy = { attemptsMax: 8, delayMs: 250, delayMsMax: 20_000 };

/** Before the `number`th retry, from 1: between half and all of the doubled delay, never over the cap. */
export function delayOf(policy: RetryPolicy, number: number, random: Random): number {
  const [byte = 0] = random.bytes(1);
  const doubled = policy.delayMs * 2 ** Math.min(number - 1, 30);
  return Math.min(policy.delayMsMax, doubled * (0.5 + byte / 512));
}
