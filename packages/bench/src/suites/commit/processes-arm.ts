import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { AskedProcess } from '../../harness/asked-process.ts';
import type { Measurement } from '../../harness/measurement.ts';
import { diskBytesOf } from '../../harness/temp-dir.ts';
import type { PreparedSubject } from '../../subjects/subject.ts';
import type { Acknowledged, OperationStream } from '../../workloads/operation.ts';
import type { W1 } from '../../workloads/w1.ts';
import type { AgentsRequest, AgentsRun } from './agents-process.ts';
import { addRound, commitsToOffer, dirOfPlan } from './arm.ts';
import type { ArmFigures, ArmPlan, CommitArm, RoundLimits } from './arm.ts';

/** A process with its part of the agents, and what they must have made: the same commits follow from the same seed. */
interface Part {
  readonly process: AskedProcess<AgentsRequest>;
  readonly stream: OperationStream;
}

/** A subject's store used by several processes at once; this one makes it and reads it back. */
export class ProcessesArm implements CommitArm {
  readonly plan: ArmPlan;
  readonly figures: ArmFigures = {};
  readonly #dir: string;
  readonly #prepared: PreparedSubject;
  readonly #parts: readonly Part[];
  #rateSeen = 0;

  private constructor(plan: ArmPlan, dir: string, prepared: PreparedSubject, parts: readonly Part[]) {
    this.plan = plan;
    this.#dir = dir;
    this.#prepared = prepared;
    this.#parts = parts;
  }

  static async prepare(plan: ArmPlan, workload: W1, parent: string, signal: AbortSignal): Promise<ProcessesArm> {
    const { subject, load } = plan;
    const { processes, inFlight } = load;
    const dir = join(parent, dirOfPlan(plan));
    await mkdir(dir);
    const prepared = await subject.prepare(workload.files, dir, signal);
    const parts = Array.from({ length: processes }, (_, process) => ({
      process: new AskedProcess<AgentsRequest>('commit-agents', signal),
      stream: workload.stream(inFlight, { process, processes }),
    }));
    const arm = new ProcessesArm(plan, dir, prepared, parts);
    const common = { kind: 'attach', subject: subject.name, dir, workload: workload.parameters, inFlight } as const;
    try {
      await Promise.all(parts.map((part, process) => part.process.ask({ ...common, part: { process, processes } })));
    } catch (error) {
      await arm.cleanup();
      throw error;
    }
    return arm;
  }

  get notes(): readonly string[] {
    return this.#prepared.notes;
  }

  get acknowledgedCount(): number {
    return this.#acknowledged().operationIds.length;
  }

  async runRound(limits: RoundLimits, isWarmUp: boolean): Promise<void> {
    const { load } = this.plan;
    const commits = Math.ceil(commitsToOffer(limits, load.inFlight, this.#rateSeen) / load.processes);
    await Promise.all(this.#parts.map(({ process }) => process.ask({ kind: 'offer', commits })));
    const bytesBefore = await diskBytesOf(this.#dir);
    const runs = await Promise.all(
      this.#parts.map(({ process }) => process.ask<AgentsRun>({ kind: 'run', budgetMs: limits.budgetMs })),
    );
    const bytes = (await diskBytesOf(this.#dir)) - bytesBefore;
    for (const [at, { stream }] of this.#parts.entries()) {
      const { acknowledged = 0 } = runs[at] ?? {};
      stream.peek(acknowledged);
      stream.acknowledge(acknowledged);
    }
    const measured = together(runs);
    this.#rateSeen = Math.max(this.#rateSeen, measured.acknowledged / measured.seconds);
    if (!isWarmUp) addRound(this.figures, load, { ...measured, bytes });
  }

  verify(): Promise<readonly string[]> {
    return this.#prepared.verify(this.#acknowledged());
  }

  async cleanup(): Promise<void> {
    await Promise.all(this.#parts.map(({ process }) => process.close()));
    await this.#prepared.cleanup();
  }

  #acknowledged(): Acknowledged {
    const all = this.#parts.map(({ stream }) => stream.acknowledged);
    return {
      operationIds: all.flatMap(({ operationIds }) => operationIds),
      files: new Map(all.flatMap(({ files }) => [...files])),
    };
  }
}

/** From the first process's start to the last one's end. */
export function together(runs: readonly AgentsRun[]): Measurement {
  const nsOf = (of: (run: AgentsRun) => bigint): bigint[] => runs.map(of).toSorted((a, b) => (a < b ? -1 : 1));
  const [started = 0n] = nsOf(({ startedNs }) => startedNs);
  const ended = nsOf(({ endedNs }) => endedNs).at(-1) ?? 0n;
  const latencies = runs.flatMap(({ latenciesMs }) => (latenciesMs === undefined ? [] : [...latenciesMs]));
  const agents = runs.flatMap(({ perAgent }) => perAgent ?? []);
  return {
    acknowledged: runs.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    seconds: Number(ended - started) / 1e9,
    ...(latencies.length > 0 && { latenciesMs: Float64Array.from(latencies) }),
    ...(agents.length > 0 && {
      perAgent: {
        least: Math.min(...agents.map(({ least }) => least)),
        most: Math.max(...agents.map(({ most }) => most)),
      },
    }),
  };
}
