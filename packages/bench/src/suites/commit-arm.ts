import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';

import type { WorkloadFields } from '../harness/result-file.ts';
import { percentileOf } from '../harness/statistics.ts';
import { diskBytesOf } from '../harness/temp-dir.ts';
import type { PreparedSubject, Subject } from '../subjects/subject.ts';
import type { InitialFiles, OperationStream } from '../workloads/operation.ts';

/** One value a round, in the order of the rounds. */
export interface ArmFigures {
  readonly commitsPerSecond: number[];
  readonly latencyMsP50: number[];
  readonly latencyMsP99: number[];
  readonly bytesPerCommit: number[];
  readonly commitsPerRound: number[];
}

export interface ArmPlan {
  readonly subject: Subject;
  readonly inFlight: number;
  readonly files: InitialFiles;
  readonly stream: OperationStream;
  readonly fields: WorkloadFields;
}

export interface RoundLimits {
  readonly budgetMs: number;
  readonly commitsMax: number;
}

/** More than a subject will manage in its time, judged by its rate so far; the rest need not be made up in advance. */
const headroom = 1.6;
const groupsFirst = 2;
const commitsFirst = 64;

/** One subject under one load, with a store of its own that all its rounds use. */
export class CommitArm {
  readonly plan: ArmPlan;
  readonly figures: ArmFigures = {
    commitsPerSecond: [],
    latencyMsP50: [],
    latencyMsP99: [],
    bytesPerCommit: [],
    commitsPerRound: [],
  };
  readonly #dir: string;
  readonly #prepared: PreparedSubject;
  #rateSeen = 0;

  private constructor(plan: ArmPlan, dir: string, prepared: PreparedSubject) {
    this.plan = plan;
    this.#dir = dir;
    this.#prepared = prepared;
  }

  static async prepare(plan: ArmPlan, parent: string, signal: AbortSignal): Promise<CommitArm> {
    const dir = join(parent, `${plan.subject.name}-${plan.inFlight}`);
    await mkdir(dir);
    return new CommitArm(plan, dir, await plan.subject.prepare(plan.files, dir, signal));
  }

  get name(): string {
    return `${this.plan.subject.name} at ${this.plan.inFlight}`;
  }

  get notes(): readonly string[] {
    return this.#prepared.notes;
  }

  get acknowledgedCount(): number {
    return this.plan.stream.acknowledged.operationIds.length;
  }

  /** Makes commits for as long as the limits allow; the warm-up's figures are not kept. */
  async runRound(limits: RoundLimits, isWarmUp: boolean, signal: AbortSignal): Promise<void> {
    const { inFlight, stream } = this.plan;
    const operations = stream.peek(this.#commitsFor(limits));
    const bytesBefore = await diskBytesOf(this.#dir);
    const measured = await this.#prepared.run(operations, { inFlight, budgetMs: limits.budgetMs, signal });
    stream.acknowledge(measured.acknowledged);
    const rate = measured.acknowledged / measured.seconds;
    this.#rateSeen = Math.max(this.#rateSeen, rate);
    if (isWarmUp) return;
    this.figures.commitsPerSecond.push(rate);
    this.figures.commitsPerRound.push(measured.acknowledged);
    this.figures.bytesPerCommit.push(((await diskBytesOf(this.#dir)) - bytesBefore) / measured.acknowledged);
    if (measured.latenciesMs !== undefined) {
      this.figures.latencyMsP50.push(percentileOf(measured.latenciesMs, 0.5));
      this.figures.latencyMsP99.push(percentileOf(measured.latenciesMs, 0.99));
    }
  }

  verify(): Promise<readonly string[]> {
    return this.#prepared.verify(this.plan.stream.acknowledged);
  }

  cleanup(): Promise<void> {
    return this.#prepared.cleanup();
  }

  /** Whole groups, so that each agent has the same share. */
  #commitsFor({ budgetMs, commitsMax }: RoundLimits): number {
    const { inFlight } = this.plan;
    const likely =
      this.#rateSeen === 0
        ? Math.max(commitsFirst, groupsFirst * inFlight)
        : (this.#rateSeen * budgetMs * headroom) / 1000;
    return Math.ceil(Math.min(likely, commitsMax) / inFlight) * inFlight;
  }
}
