import { readdirSync, readFileSync } from 'node:fs';

/** A process by what no later one shares: its number and when it began. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In ticks since boot; undefined where the system does not tell. */
  readonly startTime: number | undefined;
}

/** Field 22 of `/proc/PID/stat`; the name in field 2 may hold anything. */
export function startTimeOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const time = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    return Number.isFinite(time) ? time : undefined;
  } catch {
    return undefined;
  }
}

/** True where it is still that process. */
export const isSame = ({ pid, startTime }: ProcessIdentity): boolean =>
  startTime !== undefined && startTimeOf(pid) === startTime;

/** Processes that hold `entry` in the environment that they were started with (Linux; elsewhere none is found). */
export function processesWith(entry: string): ProcessIdentity[] {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0');
      const pid = Number(name);
      return environment.includes(entry) ? [{ pid, startTime: startTimeOf(pid) }] : [];
    } catch {
      // Another user's, or gone.
      return [];
    }
  });
}

/** True where somebody took the signal; `pid` below 0 is a process group. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
