import { createHistogram } from 'node:perf_hooks';
import type { WaitReport } from '../core/wait-report.ts';

const perMs = 1000;

/** How long intents waited for their outcome. */
export class Waits {
  /** Times that an intent was found stale and went round once more. */
  staleCount = 0;
  private readonly histogram = createHistogram();

  /** `since` by `performance.now()`. */
  record(since: number): void {
    this.histogram.record(Math.max(1, Math.round((performance.now() - since) * perMs)));
  }

  report(): WaitReport {
    const { count } = this.histogram;
    const at = (percentile: number): number => (count === 0 ? 0 : this.histogram.percentile(percentile) / perMs);
    return {
      count,
      stale: this.staleCount,
      msP50: at(50),
      msP99: at(99),
      msP999: at(99.9),
      msMax: count === 0 ? 0 : this.histogram.max / perMs,
    };
  }
}
