import { runInFlight, type Measurement, type RunOptions } from '../../harness/measurement.ts';
import { percentileOf } from '../../harness/statistics.ts';
import type { ContendedSubject, ContendedTrunk, EditAnswer } from '../../workloads/contended-trunk.ts';
import type { HotEdit, HotEdits } from '../../workloads/hot-edits.ts';
import { Lineage } from '../../workloads/lineage.ts';
import { readBack, type AnsweredEdit, type ReadBack } from './read-back.ts';

/** What one arm did in one round. */
export interface ContentionRound {
  /** Edits whose author got an answer, whatever it was. */
  readonly answered: number;
  readonly seconds: number;
  readonly latenciesMs: Float64Array;
  readonly landed: number;
  /** Of the landed: merged by the store with what had come before. */
  readonly merged: number;
  readonly conflicts: number;
  readonly stranded: number;
  readonly lockFailures: number;
  readonly racesLost: number;
  readonly perAgent: Measurement['perAgent'];
}

const isConflict = (answer: EditAnswer): boolean =>
  answer.kind === 'kept' || (answer.kind === 'stranded' && answer.because === 'conflict');

/** One subject with a trunk of its own that all its rounds use. */
export class ContentionArm {
  readonly subject: ContendedSubject;
  /** By number; the warm-up is not among them. */
  readonly rounds: ContentionRound[] = [];
  readonly #trunk: ContendedTrunk;
  readonly #load: HotEdits;
  readonly #lineage = new Lineage();
  readonly #answered: AnsweredEdit[] = [];

  private constructor(subject: ContendedSubject, trunk: ContendedTrunk, load: HotEdits) {
    this.subject = subject;
    this.#trunk = trunk;
    this.#load = load;
  }

  static async prepare(
    subject: ContendedSubject,
    load: HotEdits,
    dir: string,
    signal: AbortSignal,
  ): Promise<ContentionArm> {
    const trunk = await subject.prepare(load.files, load.parameters.agents, dir, signal);
    return new ContentionArm(subject, trunk, load);
  }

  get notes(): readonly string[] {
    return this.#trunk.notes;
  }

  /** All agents start together; each begins its next edit when it was told what became of the last. */
  async runRound(edits: readonly HotEdit[], options: Omit<RunOptions, 'inFlight'>): Promise<void> {
    const before = { ...this.#trunk.troubles };
    const from = this.#answered.length;
    const inFlight = this.#load.parameters.agents;
    const measured = await runInFlight(edits, { ...options, inFlight }, (edit) => this.#bring(edit));
    const answers = this.#answered.slice(from).map(({ answer }) => answer);
    if ((edits[0]?.round ?? 0) < 0) return;
    this.rounds.push({
      answered: answers.length,
      seconds: measured.seconds,
      latenciesMs: measured.latenciesMs ?? new Float64Array(),
      landed: answers.filter(({ kind }) => kind === 'landed').length,
      merged: answers.filter((answer) => answer.kind === 'landed' && answer.isMerged === true).length,
      conflicts: answers.filter(isConflict).length,
      stranded: answers.filter(({ kind }) => kind === 'stranded').length,
      lockFailures: this.#trunk.troubles.lockFailures - before.lockFailures,
      racesLost: this.#trunk.troubles.racesLost - before.racesLost,
      perAgent: measured.perAgent,
    });
  }

  async #bring(edit: HotEdit): Promise<void> {
    let offered: Buffer = Buffer.of();
    const answer = await this.#trunk.bring(edit, (seen) => (offered = this.#lineage.rewrite(edit, seen)));
    this.#answered.push({ edit, answer, offered });
  }

  get answeredCount(): number {
    return this.#answered.length;
  }

  /** Compares what the authors were told, in all rounds and the warm-up, with what is there. */
  readBack(): Promise<ReadBack> {
    return readBack(this.#trunk, this.#load, this.#lineage, this.#answered);
  }

  close(): Promise<void> {
    return this.#trunk.close();
  }
}

export const latencyOf = ({ latenciesMs }: ContentionRound, share: number): number => percentileOf(latenciesMs, share);
