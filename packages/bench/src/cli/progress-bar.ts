import { SingleBar } from 'cli-progress';

import { noProgress, type Progress } from '../suites/suite.ts';

/** A bar on standard error, only where a person sees it. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return noProgress;
  const bar = new SingleBar({
    stream,
    format: '{bar} {percentage}% {label}',
    hideCursor: true,
    clearOnComplete: true,
    // Ctrl-C is the command's to handle.
    gracefulExit: false,
  });
  return {
    begin: (steps) => bar.start(steps, 0, { label: '' }),
    step: (label) => bar.increment(1, { label }),
    end: () => bar.stop(),
  };
}
