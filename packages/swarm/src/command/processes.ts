import { readdirSync, readFileSync } from 'node:fs';

/** A process, told apart from a later one with the same pid. */
interface ProcessStat {
  readonly pid: number;
  readonly group: number;
  readonly startTicks: string;
  readonly residentPages: number;
}

const pageBytes = 4096;

/** What the system says of a process; undefined where there is none, or where it does not tell. */
export function statOf(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, group: Number(fields[2]), startTicks: fields[19] ?? '', residentPages: Number(fields[21]) };
  } catch {
    return undefined;
  }
}

function allPids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
  } catch {
    return false;
  }
}

/** Resident bytes of a group, and of the processes that carry the mark. */
export function memoryOf(group: number, mark: string): number {
  let pages = 0;
  for (const pid of allPids()) {
    const stat = statOf(pid);
    if (stat !== undefined && (stat.group === group || hasMark(pid, mark))) pages += stat.residentPages;
  }
  return pages * pageBytes;
}

/** Kills every process that carries the mark: it is random, so none but the command's own does. */
export function killMarked(mark: string): void {
  for (const pid of allPids()) {
    if (pid === process.pid || !hasMark(pid, mark)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** What names a running process for another: pid, start time, boot. */
export interface ProcessName {
  readonly pid: number;
  readonly startTicks: string;
  readonly boot: string;
}

export function ownName(): ProcessName {
  return { pid: process.pid, startTicks: statOf(process.pid)?.startTicks ?? '', boot: bootId() };
}

/** False where the process has certainly ended. */
export function mayBeAlive(name: ProcessName): boolean {
  if (name.boot !== bootId()) return false;
  const stat = statOf(name.pid);
  if (stat !== undefined) return stat.startTicks === name.startTicks;
  if (name.startTicks !== '') return false;
  try {
    process.kill(name.pid, 0);
    return true;
  } catch {
    return false;
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
