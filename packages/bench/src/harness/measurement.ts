import { throwIfInterrupted } from './interrupt.ts';

/** What one subject did in one round. */
export interface Measurement {
  /** The first so many of the given operations were acknowledged, and no other. */
  readonly acknowledged: number;
  readonly seconds: number;
  /** One value a commit, from the call to its acknowledgement; absent where a subject acknowledges nothing by itself. */
  readonly latenciesMs?: Float64Array;
  /**
   * Commits of the slowest and the fastest agent at the moment when the first
   * agent had made its last: an agent that starves is far behind the others then.
   */
  readonly perAgent?: { readonly least: number; readonly most: number };
}

export interface RunOptions {
  /** Commits that wait for their acknowledgement at the same time. */
  readonly inFlight: number;
  /** After so long no further group is started. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

/**
 * `inFlight` agents, each with one commit in flight: agent k takes operations
 * k, k + inFlight, … When the time is up, every agent still finishes the group
 * that somebody has begun, so that what was acknowledged is a prefix.
 */
export async function runInFlight<Operation>(
  operations: readonly Operation[],
  options: RunOptions,
  commit: (operation: Operation) => Promise<void>,
): Promise<Measurement> {
  const { inFlight, budgetMs, signal } = options;
  const latencies = new Float64Array(operations.length);
  const failures: unknown[] = [];
  const agents = Math.min(inFlight, operations.length);
  const made = new Uint32Array(agents);
  let perAgent: { least: number; most: number } | undefined;
  const started = performance.now();
  let stop = operations.length;
  let begun = 0;

  const comesToItsEnd = (): void => {
    perAgent ??= { least: Math.min(...made), most: Math.max(...made) };
  };

  const agent = async (first: number): Promise<void> => {
    for (let index = first; index < stop; index += inFlight) {
      const group = Math.floor(index / inFlight);
      const from = performance.now();
      if (group > begun) {
        if (from - started > budgetMs || signal.aborted) {
          stop = Math.min(stop, (begun + 1) * inFlight);
          break;
        }
        begun = group;
      }
      const operation = operations[index];
      if (operation === undefined) break;
      try {
        await commit(operation);
      } catch (error) {
        failures.push(error);
        stop = 0;
        return;
      }
      latencies[index] = performance.now() - from;
      made[first] = (made[first] ?? 0) + 1;
    }
    comesToItsEnd();
  };

  await Promise.all(Array.from({ length: agents }, (_, first) => agent(first)));
  throwIfInterrupted(signal);
  if (failures.length > 0) throw failures[0];
  const seconds = (performance.now() - started) / 1000;
  return {
    acknowledged: stop,
    seconds,
    latenciesMs: latencies.subarray(0, stop),
    ...(perAgent !== undefined && { perAgent }),
  };
}

/** Time after which a synchronous run lets the event loop turn, so that Ctrl-C is heard. */
const yieldEveryMs = 50;

/**
 * For subjects that commit a whole group in one synchronous step: all of a
 * group's commits are acknowledged together, so they share its latency.
 */
export async function runGroups<Operation>(
  operations: readonly Operation[],
  options: RunOptions,
  commitGroup: (group: readonly Operation[]) => void,
): Promise<Measurement> {
  const { inFlight, budgetMs, signal } = options;
  const latencies = new Float64Array(operations.length);
  const started = performance.now();
  let acknowledged = 0;
  let yielded = started;
  let from = started;
  while (acknowledged < operations.length && (acknowledged === 0 || from - started <= budgetMs)) {
    const end = Math.min(acknowledged + inFlight, operations.length);
    commitGroup(operations.slice(acknowledged, end));
    const now = performance.now();
    latencies.fill(now - from, acknowledged, end);
    acknowledged = end;
    from = now;
    if (now - yielded > yieldEveryMs) {
      await new Promise((resolve) => setImmediate(resolve));
      throwIfInterrupted(signal);
      yielded = performance.now();
    }
  }
  const seconds = (performance.now() - started) / 1000;
  return { acknowledged, seconds, latenciesMs: latencies.subarray(0, acknowledged) };
}
