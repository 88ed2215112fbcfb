import { readdirSync, readFileSync } from 'node:fs';

/** /proc counts processor time in hundredths of a second, whatever the kernel's own tick is. */
const ticksPerSecond = 100;

/** Of this process and, apart, of the children that it has waited for; undefined where there is no /proc. */
export function cpuSecondsOfSelf(): { readonly own: number; readonly children: number } | undefined {
  const stat = readText('/proc/self/stat');
  if (stat === undefined) return undefined;
  // The name in parentheses may hold anything; what counts stands behind it, field 3 first.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const seconds = (first: number): number => ((fields[first - 3] ?? 0) + (fields[first - 2] ?? 0)) / ticksPerSecond;
  return { own: seconds(14), children: seconds(16) };
}

/** How often the memory of the processes is looked at: a peak that is shorter may be missed. */
const everyMs = 20;

/** The largest resident memory that a process and all below it had together, by looking again and again. */
export class PeakMemory {
  private readonly root: number;
  private readonly withRoot: boolean;
  private readonly timer: NodeJS.Timeout;
  private peakKiB: number | undefined;

  /** Without the root where that one only waits for the processes that are meant. */
  constructor(root: number, withRoot: boolean) {
    this.root = root;
    this.withRoot = withRoot;
    this.timer = setInterval(() => this.look(), everyMs);
    this.look();
  }

  private look(): void {
    let sum = 0;
    const waiting = [this.root];
    for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
      waiting.push(...childrenOf(pid));
      if (pid === this.root && !this.withRoot) continue;
      const resident = residentKiBOf(pid);
      if (resident !== undefined) sum += resident;
    }
    if (sum > (this.peakKiB ?? 0)) this.peakKiB = sum;
  }

  /** MiB; undefined where there is no /proc or all was over before the first look. */
  end(): number | undefined {
    clearInterval(this.timer);
    return this.peakKiB === undefined ? undefined : this.peakKiB / 1024;
  }
}

function childrenOf(pid: number): number[] {
  let tasks: string[];
  try {
    tasks = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  const lists = tasks.map((task) => readText(`/proc/${pid}/task/${task}/children`) ?? '');
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

function residentKiBOf(pid: number): number | undefined {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/status`) ?? '');
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
