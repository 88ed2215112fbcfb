import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { diskBytesOf } from '../../harness/temp-dir.ts';
import type { PreparedSubject } from '../../subjects/subject.ts';
import type { OperationStream } from '../../workloads/operation.ts';
import type { W1 } from '../../workloads/w1.ts';
import { addRound, commitsToOffer, dirOfPlan, measureWithin } from './arm.ts';
import type { ArmFigures, ArmPlan, CommitArm, RoundLimits } from './arm.ts';

/** A subject in the bench's own process. */
export class LoneArm implements CommitArm {
  readonly plan: ArmPlan;
  readonly figures: ArmFigures = {};
  readonly #storeDir: string;
  readonly #prepared: PreparedSubject;
  readonly #stream: OperationStream;
  #rateSeen = 0;

  private constructor(plan: ArmPlan, storeDir: string, prepared: PreparedSubject, stream: OperationStream) {
    this.plan = plan;
    this.#storeDir = storeDir;
    this.#prepared = prepared;
    this.#stream = stream;
  }

  static async prepare(plan: ArmPlan, workload: W1, parent: string, signal: AbortSignal): Promise<LoneArm> {
    const dir = join(parent, dirOfPlan(plan));
    await mkdir(dir);
    const prepared = await plan.subject.prepare(workload.files, dir, signal);
    const storeDir = join(dir, plan.subject.storeIn ?? '');
    return new LoneArm(plan, storeDir, prepared, workload.stream(plan.load.inFlight));
  }

  get notes(): readonly string[] {
    return this.#prepared.notes;
  }

  get acknowledgedCount(): number {
    return this.#stream.acknowledged.operationIds.length;
  }

  async runRound(limits: RoundLimits, isWarmUp: boolean, signal: AbortSignal): Promise<void> {
    const { load } = this.plan;
    const { inFlight } = load;
    const operations = this.#stream.peek(commitsToOffer(limits, inFlight, this.#rateSeen));
    const bytesBefore = await diskBytesOf(this.#storeDir);
    const { budgetMs } = limits;
    const measured = await measureWithin(limits, () => this.#prepared.run(operations, { inFlight, budgetMs, signal }));
    this.#stream.acknowledge(measured.acknowledged);
    this.#rateSeen = Math.max(this.#rateSeen, measured.acknowledged / measured.seconds);
    if (isWarmUp) return;
    addRound(this.figures, load, { ...measured, bytes: (await diskBytesOf(this.#storeDir)) - bytesBefore });
  }

  verify(): Promise<readonly string[]> {
    return this.#prepared.verify(this.#stream.acknowledged);
  }

  cleanup(): Promise<void> {
    return this.#prepared.cleanup();
  }
}
