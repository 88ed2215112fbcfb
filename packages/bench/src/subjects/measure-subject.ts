import { mkdir } from 'node:fs/promises';

import type { Measurement, RunOptions } from '../harness/measurement.ts';
import { acknowledgedBy } from '../workloads/acknowledged.ts';
import type { CommitOperation, InitialFiles } from '../workloads/operation.ts';
import { agentsOfFew, type Subject } from './subject.ts';

export interface SubjectRun extends RunOptions {
  readonly files: InitialFiles;
  readonly operations: readonly CommitOperation[];
  /** Where the subject's store is made; not there yet, or empty. */
  readonly dir: string;
}

export type SubjectFinding =
  | { readonly missing: string }
  | {
      readonly measurement: Measurement;
      readonly commitsPerSecond: number;
      /** What was acknowledged and is not there; empty where all is well. */
      readonly faults: readonly string[];
      readonly notes: readonly string[];
    };

/** One subject making given commits once, read back afterwards: for suites that bring their own commits. */
export async function measureSubject(subject: Subject, run: SubjectRun): Promise<SubjectFinding> {
  const available = await subject.available();
  if (available !== true) return available;
  const { files, operations, dir, budgetMs, signal } = run;
  await mkdir(dir, { recursive: true });
  const prepared = await subject.prepare(files, dir, signal);
  try {
    const most = { 'one-at-a-time': 1, 'few-in-flight': agentsOfFew, 'in-flight': Infinity, stream: Infinity };
    const inFlight = Math.min(run.inFlight, most[subject.pace]);
    const measurement = await prepared.run(operations, { inFlight, budgetMs, signal });
    const { acknowledged, seconds } = measurement;
    const faults = await prepared.verify(acknowledgedBy(operations.slice(0, acknowledged)));
    return { measurement, commitsPerSecond: acknowledged / seconds, faults, notes: prepared.notes };
  } finally {
    await prepared.cleanup();
  }
}
