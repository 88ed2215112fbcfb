import { Session, type Profiler } from 'node:inspector';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** What one run of code in this process's main thread spent, by V8's sampling profiler and the kernel's accounts. */
export interface CpuProfile {
  readonly profile: Profiler.Profile;
  readonly wallMs: number;
  /** Of the main thread: on a processor, and ready to run without one. Undefined where the kernel does not tell. */
  readonly thread: { readonly onCpuMs: number; readonly runnableMs: number } | undefined;
}

const samplingIntervalUs = 200;

/** Linux: nanoseconds on a processor, nanoseconds ready and waiting for one, of the main thread. */
function threadTimes(): readonly [number, number] | undefined {
  try {
    const [onCpu, runnable] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return [Number(onCpu) / 1e6, Number(runnable) / 1e6];
  } catch {
    return undefined;
  }
}

/** Runs `work` under the profiler; its own start and stop are not counted. */
export async function profileCpu(work: () => Promise<void>): Promise<CpuProfile> {
  const session = new Session();
  session.connect();
  const post = promisify(session.post.bind(session)) as (method: string, parameters?: object) => Promise<unknown>;
  try {
    await post('Profiler.enable');
    await post('Profiler.setSamplingInterval', { interval: samplingIntervalUs });
    await post('Profiler.start');
    const before = threadTimes();
    const from = performance.now();
    await work();
    const wallMs = performance.now() - from;
    const after = threadTimes();
    const { profile } = (await post('Profiler.stop')) as { profile: Profiler.Profile };
    const thread = before && after && { onCpuMs: after[0] - before[0], runnableMs: after[1] - before[1] };
    return { profile, wallMs, thread };
  } finally {
    session.disconnect();
  }
}
