import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { diskBytesOf } from '../../harness/temp-dir.ts';
import { HotEdits } from '../../workloads/hot-edits.ts';
import { ContentionArm } from '../contention/arm.ts';
import { moundContender } from '../contention/mound.ts';
import { addFigure, addRound, commitsToOffer, dirOfPlan, measureWithin } from './arm.ts';
import type { ArmFigures, ArmPlan, CommitArm, RoundLimits } from './arm.ts';

/** Mound with all agents on the same few hot files: stale intents are merged, and those that would not merge are kept. */
export class HotArm implements CommitArm {
  readonly plan: ArmPlan;
  readonly figures: ArmFigures = {};
  readonly #dir: string;
  readonly #contention: ContentionArm;
  readonly #load: HotEdits;
  #rateSeen = 0;
  #round = -1;

  private constructor(plan: ArmPlan, dir: string, contention: ContentionArm, load: HotEdits) {
    this.plan = plan;
    this.#dir = dir;
    this.#contention = contention;
    this.#load = load;
  }

  static async prepare(plan: ArmPlan, load: HotEdits, parent: string, signal: AbortSignal): Promise<HotArm> {
    const dir = join(parent, dirOfPlan(plan));
    await mkdir(dir);
    return new HotArm(plan, dir, await ContentionArm.prepare(moundContender, load, dir, signal), load);
  }

  get notes(): readonly string[] {
    return [`hot files: ${this.#load.describe()}; what would not merge is a conflict and counts as no commit`];
  }

  get acknowledgedCount(): number {
    return this.#contention.answeredCount;
  }

  async runRound(limits: RoundLimits, isWarmUp: boolean, signal: AbortSignal): Promise<void> {
    const { load } = this.plan;
    const edits = this.#load.round(this.#round++, commitsToOffer(limits, load.inFlight, this.#rateSeen));
    const bytesBefore = await diskBytesOf(this.#dir);
    const { budgetMs } = limits;
    const [answeredBefore, from] = [this.#contention.answeredCount, performance.now()];
    await measureWithin(limits, async () => {
      await this.#contention.runRound(edits, { budgetMs, signal });
      return edits.length;
    });
    const rate = ((this.#contention.answeredCount - answeredBefore) * 1000) / (performance.now() - from);
    this.#rateSeen = Math.max(this.#rateSeen, rate);
    const round = this.#contention.rounds.at(-1);
    if (isWarmUp || round === undefined) return;
    const { answered, landed, merged, conflicts, seconds, latenciesMs, perAgent } = round;
    const bytes = (await diskBytesOf(this.#dir)) - bytesBefore;
    addRound(this.figures, load, {
      acknowledged: answered,
      landed,
      seconds,
      latenciesMs,
      bytes,
      ...(perAgent && { perAgent }),
    });
    addFigure(this.figures, 'mergesPerCommit', merged / answered);
    addFigure(this.figures, 'conflictsPerCommit', conflicts / answered);
  }

  async verify(): Promise<readonly string[]> {
    const { lost, faults } = await this.#contention.readBack();
    return [...faults, ...lost.map(({ id }) => `edit ${id} is lost`)];
  }

  cleanup(): Promise<void> {
    return this.#contention.close();
  }
}
