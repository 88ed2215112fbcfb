import { setTimeout as sleep } from 'node:timers/promises';
import { systemRandom, type Random } from '@mound/vcs';
import { addUsage, noUsage, type Usage } from '../core/usage.ts';
import { ModelError } from './model-error.ts';
import type { ModelTurn } from './model.ts';

export interface RetryPolicy {
  /** Calls in all, the first included. */
  readonly attemptsMax: number;
  /** Doubled at each retry. */
  readonly delayMs: number;
  /** Also the cap on what a provider may ask to wait. */
  readonly delayMsMax: number;
}

export const defaultRetryPolicy: RetryPolicy = { attemptsMax: 4, delayMs: 250, delayMsMax: 20_000 };

/** Between half and all of the doubled delay, or what the provider asked for, and never over the cap. */
function delayOf(policy: RetryPolicy, attempt: number, error: ModelError, random: Random): number {
  const [byte = 0] = random.bytes(1);
  const doubled = policy.delayMs * 2 ** Math.min(attempt - 1, 30);
  return Math.min(policy.delayMsMax, error.retryAfterMs ?? doubled * (0.5 + byte / 512));
}

/**
 * Asks again after faults that may pass. Nothing of a failed turn was run, so
 * asking again repeats no effect; its tokens are added to those of the turn.
 */
export async function withRetry(
  policy: RetryPolicy,
  signal: AbortSignal,
  once: () => Promise<ModelTurn>,
  random: Random = systemRandom,
): Promise<ModelTurn> {
  let spent: Usage = noUsage;
  for (let attempt = 1; ; attempt++) {
    try {
      const turn = await once();
      return attempt === 1 ? turn : { ...turn, usage: addUsage(spent, turn.usage) };
    } catch (error) {
      if (!(error instanceof ModelError) || !error.isRetryable || attempt >= policy.attemptsMax) throw error;
      if (error.usage !== undefined) spent = addUsage(spent, error.usage);
      try {
        await sleep(delayOf(policy, attempt, error, random), undefined, { signal });
      } catch (cause) {
        throw new ModelError('aborted', 'aborted while waiting to ask again', { cause });
      }
    }
  }
}
