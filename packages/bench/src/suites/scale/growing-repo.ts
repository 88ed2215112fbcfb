import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { openRepo, type Repo } from '@mound/vcs';

import { floorSubject } from '../../subjects/floor.ts';
import { seedMound, type SeenVersions } from '../../subjects/mound.ts';
import type { PreparedSubject } from '../../subjects/subject.ts';
import { W1 } from '../../workloads/w1.ts';
import type { OperationStream } from '../../workloads/operation.ts';
import type { GrowthContext } from './growth.ts';
import { Journal } from './journal.ts';
import type { ScaleParameters } from './parameters.ts';

/** A repository that grows, and the floor program beside it. */
export class GrowingRepo implements GrowthContext {
  readonly workload: W1;
  readonly dir: string;
  readonly repo: Repo;
  readonly seen: SeenVersions;
  readonly floor: PreparedSubject;
  readonly stream: OperationStream;
  readonly journal = new Journal();
  readonly inFlight: number;
  readonly signal: AbortSignal;
  /** The seq at which all files were in place. */
  readonly seededSeq: number;
  #isOpen = true;

  private constructor(
    workload: W1,
    dir: string,
    repo: Repo,
    seen: SeenVersions,
    floor: PreparedSubject,
    { inFlight }: ScaleParameters,
    signal: AbortSignal,
  ) {
    this.workload = workload;
    this.dir = dir;
    this.repo = repo;
    this.seen = seen;
    this.floor = floor;
    this.inFlight = inFlight;
    this.signal = signal;
    this.stream = workload.stream(inFlight);
    this.seededSeq = repo.snapshot().seq;
  }

  static async make(parameters: ScaleParameters, parent: string, signal: AbortSignal): Promise<GrowingRepo> {
    const { files, seed } = parameters;
    const workload = new W1({ files, filesPerCommit: 1, seed });
    const [dir, floorDir] = [join(parent, 'mound'), join(parent, 'floor')];
    await mkdir(dir);
    await mkdir(floorDir);
    const repo = await openRepo(dir, { create: true });
    try {
      const seen = await seedMound(repo, workload.files);
      const floor = await floorSubject.prepare(workload.files, floorDir, signal);
      return new GrowingRepo(workload, dir, repo, seen, floor, parameters, signal);
    } catch (error) {
      await repo.close();
      throw error;
    }
  }

  /** Before it is read by others alone; may be called again. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.floor.cleanup();
    await this.repo.close();
  }
}
