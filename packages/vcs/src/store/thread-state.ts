import { readFileSync } from 'node:fs';

/** What a thread is doing, as far as `/proc` tells. */
export type ThreadActivity =
  'running' | 'sleeping' | 'waiting for a disk' | 'stopped' | 'traced' | 'frozen' | 'unknown';

export interface ThreadState {
  /** The process that the thread belongs to. */
  readonly pid: number;
  readonly command: string;
  readonly activity: ThreadActivity;
}

const activities: Readonly<Record<string, ThreadActivity>> = {
  R: 'running',
  S: 'sleeping',
  I: 'sleeping',
  D: 'waiting for a disk',
  T: 'stopped',
  t: 'traced',
};

/** Whether it will not go on by itself. */
export const isHalted = (activity: ThreadActivity): boolean =>
  activity === 'stopped' || activity === 'traced' || activity === 'frozen';

/** State of a live thread of any process; undefined: there is none of that id. Linux only. */
export function stateOfThread(threadId: number): ThreadState | undefined {
  const status = textOf(`/proc/${threadId}/status`);
  if (status === undefined) return undefined;
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
  const letter = field('State').charAt(0);
  if (letter === 'Z' || letter === 'X') return undefined;
  const pid = Number(field('Tgid'));
  const words = (textOf(`/proc/${pid}/cmdline`) ?? '').split('\0').filter((word) => word !== '');
  const command = words.length > 0 ? words.join(' ').slice(0, 200) : field('Name');
  const activity = isFrozen(threadId) ? 'frozen' : (activities[letter] ?? 'unknown');
  return { pid, command, activity };
}

/** Under a frozen control group, as container runtimes pause. */
function isFrozen(threadId: number): boolean {
  for (const line of (textOf(`/proc/${threadId}/cgroup`) ?? '').split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    if (controllers === '' && /^frozen 1$/m.test(textOf(`/sys/fs/cgroup${path}/cgroup.events`) ?? '')) return true;
    if (controllers === 'freezer' && textOf(`/sys/fs/cgroup/freezer${path}/freezer.state`)?.startsWith('FROZEN')) {
      return true;
    }
  }
  return /freezer|refrigerator/.test(textOf(`/proc/${threadId}/wchan`) ?? '');
}

/** When a process began, in its system's ticks: with the pid it names one process and no later one. */
export function startOfProcess(pid: number): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  // The command in parentheses may hold anything; the start is the 20th field behind it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
