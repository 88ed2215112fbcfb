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

/** Its entries, each between two NULs; empty where it is another user's, or gone. */
function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`;
  } catch {
    return '';
  }
}

/** Processes that hold `entry` in the environment that they were started with (Linux; elsewhere none is found). */
export function processesWith(entry: string): ProcessIdentity[] {
  return pids()
    .filter((pid) => environmentOf(pid).includes(`\0${entry}\0`))
    .map((pid) => ({ pid, startTime: startTimeOf(pid) }));
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

interface Resident {
  readonly group: number;
  readonly environment: string;
  readonly pages: number;
}

/** Looks at all processes are shared: many commands at once ask several times a second. */
const lookMs = 200;
let lastLook: { readonly atMs: number; readonly all: readonly Resident[] } | undefined;

function residents(): readonly Resident[] {
  const atMs = performance.now();
  if (lastLook !== undefined && atMs - lastLook.atMs < lookMs) return lastLook.all;
  const all = pids().flatMap((pid): Resident[] => {
    const fields = statOf(pid);
    if (fields === undefined) return [];
    return [{ group: Number(fields[2]), environment: environmentOf(pid), pages: Number(fields[21]) }];
  });
  lastLook = { atMs, all };
  return all;
}

/** Resident bytes of a group, and of the processes that hold `entry` in their environment, a moment ago. */
export function memoryOf(group: number, entry: string): number {
  const own = residents().filter((each) => each.group === group || each.environment.includes(`\0${entry}\0`));
  return own.reduce((sum, { pages }) => sum + pages, 0) * pageBytes;
}
