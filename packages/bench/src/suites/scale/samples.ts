import type { Metric } from '../../harness/metric.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import type { Stretch } from './growth.ts';

/** Samples of one large repository, as they come. */
export class ScaleSamples {
  readonly all: Sample[] = [];
  readonly #fields: WorkloadFields;

  constructor(fields: WorkloadFields) {
    this.#fields = fields;
  }

  add(metric: Metric, where: WorkloadFields, values: readonly number[], subject = 'mound'): void {
    if (values.length > 0) this.all.push(sampleOf(subject, { ...this.#fields, ...where }, metric, values));
  }

  addStretch(number: number, stretch: Stretch): void {
    const { fromCommit, commits, seconds, floorCommitsPerSecond, latencyMsP50, latencyMsP99, bytes } = stretch;
    const where = { stretch: number + 1, fromCommit };
    this.add('commitsPerSecond', where, [commits / seconds]);
    this.add('commitsPerSecond', where, [floorCommitsPerSecond], 'floor');
    this.add('ratioToFloor', where, [commits / seconds / floorCommitsPerSecond]);
    this.add('latencyMsP50', where, [latencyMsP50]);
    this.add('latencyMsP99', where, [latencyMsP99]);
    this.add('bytesPerCommit', where, [bytes / commits]);
  }

  /** The last whole stretch beside the first, and what all commits added to the disk. */
  addGrowth(stretches: readonly Stretch[]): void {
    const [first] = stretches;
    const last = stretches.findLast(({ commits }) => commits === first?.commits);
    if (first === undefined || last === undefined) return;
    this.add('commitsPerSecond', { stretch: 'last' }, [last.commits / last.seconds]);
    this.add('ratioToFirstStretch', { stretch: 'all' }, [
      last.commits / last.seconds / (first.commits / first.seconds),
    ]);
    const commits = stretches.reduce((sum, stretch) => sum + stretch.commits, 0);
    this.add('bytesPerCommit', { stretch: 'all' }, [stretches.reduce((sum, { bytes }) => sum + bytes, 0) / commits]);
  }
}
