import { startTimeOf, processSpace, signal } from './processes.ts';

/** What names a running process for another: its number, when it began, and where both mean the same. */
export interface ProcessName {
  readonly pid: number;
  readonly startTime: number | undefined;
  readonly space: string | undefined;
}

export const ownName = (): ProcessName => ({
  pid: process.pid,
  startTime: startTimeOf(process.pid),
  space: processSpace(),
});

/** False where the process has certainly ended. */
export function mayBeAlive({ pid, startTime, space }: ProcessName): boolean {
  if (space !== processSpace()) return false;
  // A system that does not tell when a process began tells at least whether there is one.
  return startTime === undefined ? signal(pid, 0) : startTimeOf(pid) === startTime;
}
