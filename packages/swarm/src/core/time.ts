import type { Clock } from '@mound/vcs';

/** The clock, and what is to happen later. Tests give one that they move by hand. */
export interface Time extends Clock {
  /** Runs once, `ms` from now; the answer cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Node fires a longer timer at once. */
const timerMsMax = 2 ** 31 - 1;

export const systemTime: Time = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, timerMsMax));
    return () => clearTimeout(timer);
  },
};

/** Resolves true after `ms`, false as soon as the signal aborts. */
export function sleep(time: Time, ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onAbort = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = time.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
