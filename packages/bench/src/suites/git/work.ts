import { AskedProcess } from '../../harness/asked-process.ts';
import { PeakMemory } from '../../harness/process-tree.ts';
import type { ReadVersionsAnswer, WorkAnswer, WorkRequest } from './work-process.ts';

/** What one run took. */
export interface Cost extends WorkAnswer {
  /** Of all its processes together; undefined where the system does not tell. */
  readonly peakResidentMiB: number | undefined;
}

/** Does one piece of work in a fresh process. */
export async function doWork(request: Exclude<WorkRequest, { kind: 'read' }>, signal: AbortSignal): Promise<Cost> {
  const worker = new AskedProcess<WorkRequest>('git-work', signal);
  const memory = worker.pid === undefined ? undefined : new PeakMemory(worker.pid, request.kind !== 'git');
  try {
    const answer = await worker.ask<WorkAnswer>(request);
    return { ...answer, peakResidentMiB: memory?.end() };
  } finally {
    memory?.end();
    await worker.close();
  }
}

export async function readInFreshProcess(
  request: Extract<WorkRequest, { kind: 'read' }>,
  signal: AbortSignal,
): Promise<ReadVersionsAnswer> {
  const worker = new AskedProcess<WorkRequest>('git-work', signal);
  try {
    return await worker.ask<ReadVersionsAnswer>(request);
  } finally {
    await worker.close();
  }
}
