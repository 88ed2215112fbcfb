import { setMaxListeners } from 'node:events';

import { removeTempDirsNow } from '../harness/temp-dir.ts';
import { exitCodes } from '@mound/vcs';

export interface Interruption {
  readonly signal: AbortSignal;
  /** Gives the process's signals back. */
  release(): void;
}

/** The first Ctrl-C ends the run in order; the second does not wait. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  // Every process that a suite starts listens.
  setMaxListeners(0, controller.signal);
  const onSignal = (): void => {
    if (controller.signal.aborted) {
      removeTempDirsNow();
      process.exit(exitCodes.interrupted);
    }
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const name of signals) process.on(name, onSignal);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of signals) process.off(name, onSignal);
    },
  };
}
