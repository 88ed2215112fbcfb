import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process by what no later one shares: its number and when it began. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In ticks since boot; undefined where the system does not tell. */
  readonly startTime: number | undefined;
}

/** Fields of `/proc/PID/stat` from the third on; the name in the second may hold anything. undefined: gone, or only to be collected. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields;
  } catch {
    return undefined;
  }
}

export function startTimeOf(pid: number): number | undefined {
  const time = Number(statOf(pid)?.[19] ?? Number.NaN);
  return Number.isFinite(time) ? time : undefined;
}

const pids = (): number[] => {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
};

/** True while somebody of the group lives. One that only waits to be collected does not: nobody may ever come. */
export function isGroupLive(group: number): boolean {
  if (!signal(-group, 0)) return false;
  const all = pids();
  return all.length === 0 || all.some((pid) => statOf(pid)?.[2] === String(group));
}

/** True where it is still that process. */
export const isSame = ({ pid, startTime }: ProcessIdentity): boolean =>
  startTime !== undefined && startTimeOf(pid) === startTime;

/** Processes that hold `entry` in the environment that they were started with (Linux; elsewhere none is found). */
export function processesWith(entry: string): ProcessIdentity[] {
  return pids().flatMap((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
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

/** Where numbers of processes mean the same: one boot, one namespace. undefined where the system does not tell. */
export function processSpace(): string | undefined {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

const pageBytes = 4096;

/** Resident bytes of a group, and of the processes that hold `entry` in their environment. */
export function memoryOf(group: number, entry: string): number {
  const marked = new Set(processesWith(entry).map(({ pid }) => pid));
  let pages = 0;
  for (const pid of pids()) {
    const fields = statOf(pid);
    if (fields !== undefined && (fields[2] === String(group) || marked.has(pid))) pages += Number(fields[21]);
  }
  return pages * pageBytes;
}
