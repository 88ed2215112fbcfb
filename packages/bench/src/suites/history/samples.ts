import { sampleOf, type Sample } from '../../harness/result-file.ts';
import type { HistorySummary } from './summary.ts';

/** A replayed history as samples of a result file, git's own rates with it. */
export function historySamples(summary: HistorySummary): Sample[] {
  const { input, agents, intents, landed, merged, conflicted, lost, treeIdentical, peers, latencyMs } = summary;
  const workload = { workload: 'history', input: input.kind, commits: input.commits, window: input.window, agents };
  const of = (metric: Sample['metric'], value: number): Sample => sampleOf('mound', workload, metric, [value]);
  return [
    of('commitsPerSecond', summary.commitsPerSecond),
    of('latencyMsP50', latencyMs.p50),
    of('latencyMsP99', latencyMs.p99),
    of('conflictsPerCommit', conflicted / Math.max(1, landed + merged)),
    of('mergesPerCommit', merged / Math.max(1, landed + merged)),
    of('commitsPerRound', intents),
    of('lostUpdates', lost),
    of('wrongTrees', treeIdentical ? 0 : 1),
    of('wallSeconds', summary.seconds),
    ...peers.flatMap(({ subject, commitsPerSecond }) =>
      commitsPerSecond === undefined
        ? []
        : [sampleOf(subject, { ...workload, agents: 1 }, 'commitsPerSecond', [commitsPerSecond])],
    ),
  ];
}
