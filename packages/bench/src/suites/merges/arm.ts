import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { MergeSubject, MergeVerdict, OpenMergeSubject } from '../../subjects/merges/merge-subject.ts';
import type { MergeTriple } from '../../workloads/merge-triples.ts';

/** What one subject made of some triples, with the time of each. */
export interface MergedTriples {
  readonly verdicts: readonly MergeVerdict[];
  readonly ms: readonly number[];
}

/** One subject of a run. */
export class MergeArm {
  readonly name: string;
  readonly #open: OpenMergeSubject;

  private constructor(name: string, open: OpenMergeSubject) {
    this.name = name;
    this.#open = open;
  }

  static async open(subject: MergeSubject, parent: string, signal: AbortSignal): Promise<MergeArm> {
    const dir = join(parent, subject.name);
    await mkdir(dir);
    return new MergeArm(subject.name, await subject.open(dir, signal));
  }

  async merge(triples: readonly MergeTriple[]): Promise<MergedTriples> {
    const staged = await this.#open.stage(triples);
    const ms: number[] = [];
    for (const index of triples.keys()) {
      const from = performance.now();
      const pending = staged.merge(index);
      if (pending !== undefined) await pending;
      ms.push(performance.now() - from);
    }
    return { verdicts: await staged.verdicts(), ms };
  }

  /** ms a merge, all in one stream; undefined where the subject has no such form. */
  async stream(triples: readonly MergeTriple[]): Promise<number | undefined> {
    const staged = await this.#open.stage(triples);
    if (staged.mergeAll === undefined) return undefined;
    const from = performance.now();
    await staged.mergeAll();
    return (performance.now() - from) / triples.length;
  }

  async close(): Promise<void> {
    await this.#open.close();
  }
}
