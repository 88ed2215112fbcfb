import type { Repo } from '@mound/vcs';

import { throwIfInterrupted } from '../../harness/interrupt.ts';

const together = 100;

/** Forks `count` branches off the newest seq, one after another; milliseconds of each. */
export async function forkInTurn(repo: Repo, prefix: string, count: number): Promise<Float64Array> {
  const timesMs = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const from = performance.now();
    await repo.fork(`${prefix}-${at}`);
    timesMs[at] = performance.now() - from;
  }
  return timesMs;
}

/** The same, unmeasured and many at once. */
export async function forkMany(repo: Repo, prefix: string, count: number, signal: AbortSignal): Promise<void> {
  for (let from = 0; from < count; from += together) {
    throwIfInterrupted(signal);
    const group = Array.from({ length: Math.min(together, count - from) }, (_, at) => `${prefix}-${from + at}`);
    await Promise.all(group.map((name) => repo.fork(name)));
  }
}
