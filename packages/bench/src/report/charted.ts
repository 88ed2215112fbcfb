import type { Metric } from '../harness/metric.ts';

/** What a chart of a metric says over itself, and which way is better. */
export interface ChartedMetric {
  readonly title: string;
  readonly better: 'more' | 'less';
}

const more = (title: string): ChartedMetric => ({ title, better: 'more' });
const less = (title: string): ChartedMetric => ({ title, better: 'less' });

/** Metrics that a picture helps with; the others stand in the tables. */
const charted: Readonly<Partial<Record<Metric, ChartedMetric>>> = {
  commitsPerSecond: more('Commits a second'),
  filesPerSecond: more('Files a second'),
  recordsPerSecond: more('Records a second'),
  latencyMsP50: less('Milliseconds from a call to its answer: half take at most this'),
  latencyMsP99: less('Milliseconds from a call to its answer: 99 of 100 take at most this'),
  bytesPerCommit: less('Bytes on disk a commit'),
  ratioToFloor: more('Share of the rate of a program that only hashes, writes and flushes'),
  ratioToPeer: more('Times as fast as each peer, in the same run'),
  conflictsPerCommit: less('Conflicts a commit'),
  conflictsPerAcceptedLine: less('Conflicts a line that was accepted'),
  brokenBuilds: less('Share of the trunk’s trees that do not build'),
  oscillations: less('Files that came back to an earlier content'),
  tokensTotal: less('Tokens of all requests'),
  staleRetriesPerCommit: less('Times that a commit was found stale'),
  lostUpdates: less('Updates lost'),
  strandedEdits: less('Edits that somebody must bring to the trunk by hand'),
  stepOverheadMs: less('Milliseconds of processor time a step, beside the model and the tools'),
  agreement: more('Share of merges with the same result'),
  mergeMsP50: less('Milliseconds a merge, median'),
  streamedMergeMs: less('Milliseconds a merge, many in one stream'),
  workspaceMs: less('Milliseconds an operation on a workspace'),
  wallSeconds: less('Seconds from start to end'),
  cpuSeconds: less('Seconds of processor time'),
  peakResidentMiB: less('MiB of memory, at most'),
  residentMiB: less('MiB of memory'),
  storeMiB: less('MiB on disk'),
  readUsP50: less('Microseconds a read, median'),
  listMs: less('Milliseconds a listing of all files'),
};

export const chartedMetric = (metric: Metric): ChartedMetric | undefined => charted[metric];
