import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { rotate } from '../../harness/rounds.ts';
import type { MergeTriple } from '../../workloads/merge-triples.ts';
import type { MergeArm } from './arm.ts';
import { Comparison } from './comparison.ts';
import type { DisagreementFiles } from './disagreement-files.ts';

/** Triples that are staged at once. */
const batchTriples = 100;
const batchBytesMax = 64 * 1024 * 1024;

/** Every triple through every arm, a batch after the other, the arms in another order each time. */
export class Replay {
  readonly comparison: Comparison;
  readonly arms: readonly MergeArm[];
  /** By arm: ms of each merge. */
  readonly ms: ReadonlyMap<string, number[]>;
  /** By arm: ms a merge of each batch, streamed; empty where an arm cannot. */
  readonly streamedMs: ReadonlyMap<string, number[]>;
  merges = 0;
  #batches = 0;

  constructor(arms: readonly MergeArm[], mounds: readonly string[], files: DisagreementFiles) {
    this.arms = arms;
    const names = arms.map(({ name }) => name);
    this.comparison = new Comparison(names, mounds, (found) => files.add(found));
    this.ms = new Map(names.map((name) => [name, []]));
    this.streamedMs = new Map(names.map((name) => [name, []]));
  }

  async run(triples: AsyncIterable<MergeTriple>, signal: AbortSignal): Promise<void> {
    let batch: MergeTriple[] = [];
    let bytes = 0;
    for await (const triple of triples) {
      batch.push(triple);
      bytes += triple.base.length + triple.current.length + triple.incoming.length;
      if (batch.length < batchTriples && bytes < batchBytesMax) continue;
      await this.#runBatch(batch, signal);
      [batch, bytes] = [[], 0];
    }
    if (batch.length > 0) await this.#runBatch(batch, signal);
  }

  async #runBatch(batch: readonly MergeTriple[], signal: AbortSignal): Promise<void> {
    const round = this.#batches++;
    const results = new Map<string, Awaited<ReturnType<MergeArm['merge']>>>();
    for (const arm of rotate(this.arms, round)) {
      throwIfInterrupted(signal);
      const merged = await arm.merge(batch);
      results.set(arm.name, merged);
      this.ms.get(arm.name)?.push(...merged.ms);
      const streamed = await arm.stream(batch);
      if (streamed !== undefined) this.streamedMs.get(arm.name)?.push(streamed);
    }
    batch.forEach((triple, index) => {
      const verdicts = this.arms.flatMap(({ name }) => {
        const verdict = results.get(name)?.verdicts[index];
        return verdict === undefined ? [] : ([[name, verdict]] as const);
      });
      this.comparison.add(triple, new Map(verdicts));
    });
    this.merges += batch.length;
  }
}
