import { formatNumber } from '../../harness/format-number.ts';
import type { PeerRate } from './peers.ts';
import type { ReplayResult } from './replay.ts';
import type { Verification } from './verify.ts';

export interface HistoryInput {
  readonly kind: 'git' | 'generated';
  readonly commits: number;
  readonly window: number;
}

export interface HistorySummary {
  readonly input: HistoryInput;
  readonly agents: number;
  readonly windows: number;
  readonly intents: number;
  readonly landed: number;
  readonly merged: number;
  readonly conflicted: number;
  readonly resolved: number;
  readonly parked: number;
  readonly rejected: number;
  readonly unchanged: number;
  /** Share of the workers' intents that were stale when they came to land. */
  readonly staleAtLanding: number;
  readonly resolvedFromRecord: number;
  readonly corrections: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly treeIdentical: boolean;
  readonly exportFsckClean: boolean;
  /** The proof finds what is wrong on purpose. */
  readonly controlShows: boolean;
  readonly faults: readonly string[];
  readonly events: Readonly<Record<string, number>>;
  readonly commitsPerSecond: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  readonly peers: readonly PeerRate[];
  readonly seconds: number;
}

export function summarise(
  input: HistoryInput,
  agents: number,
  replay: ReplayResult,
  verification: Verification,
  events: Readonly<Record<string, number>>,
  peers: readonly PeerRate[],
): HistorySummary {
  const { outcomes, landings, seconds } = replay.swarm;
  const { landed, merged, conflicted, parked, rejected, unchanged, resolved } = outcomes;
  const intents = landed + merged + conflicted + parked + rejected + unchanged;
  const commits = landed + merged + resolved + replay.correctionIntents;
  const { treeIdentical, exportFsckClean, acknowledged, lost, controlShows, faults } = verification;
  return {
    input,
    agents,
    windows: replay.windows,
    intents,
    landed,
    merged,
    conflicted,
    resolved,
    parked,
    rejected,
    unchanged,
    staleAtLanding: intents === 0 ? 0 : (merged + conflicted) / intents,
    resolvedFromRecord: replay.resolvedFromRecord,
    corrections: replay.corrections,
    acknowledged,
    lost,
    treeIdentical,
    exportFsckClean,
    controlShows,
    faults,
    events,
    commitsPerSecond: commits / seconds,
    latencyMs: { p50: landings.p50Ms, p99: landings.p99Ms },
    peers,
    seconds,
  };
}

const round = (value: number, digits = 1): string => value.toFixed(digits);

/** What a result file says of it in words. */
export const historyNotes = (summary: HistorySummary): string[] =>
  rowsOf(summary).map(([name, value]) => `${name}: ${value}`);

export function renderSummary(summary: HistorySummary): string {
  const rows = rowsOf(summary);
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

function rowsOf(summary: HistorySummary): [string, string][] {
  const { input, latencyMs, peers, events } = summary;
  const closed = events['conflict.resolved'] ?? 0;
  const withoutLanding = closed - summary.resolved;
  const label =
    input.kind === 'generated' ? 'a generated history (this checkout has under 200 commits)' : 'a git history';
  return [
    ['input', `${label}: ${input.commits} commits in ${summary.windows} windows of ${input.window}`],
    ['agents', `${summary.agents}`],
    [
      'intents',
      `${summary.intents}: ${summary.landed} landed, ${summary.merged} merged, ${summary.conflicted} conflicted, ${summary.rejected} rejected, ${summary.parked} parked, ${summary.unchanged} unchanged`,
    ],
    ['stale at landing', `${round(summary.staleAtLanding * 100)} %`],
    [
      'conflicts',
      `${closed} of ${summary.conflicted} resolved, ${summary.resolvedFromRecord} from the record` +
        (withoutLanding === 0 ? '' : `, ${withoutLanding} without a landing`),
    ],
    ['corrections', `${summary.corrections} paths whose clean merge differs from the record`],
    ['tree equals git’s', summary.treeIdentical ? 'yes, byte for byte' : 'NO'],
    ['git fsck of the export', summary.exportFsckClean ? 'clean' : 'NOT CLEAN'],
    ['acknowledged, lost', `${summary.acknowledged}, ${summary.lost}`],
    [
      'control',
      summary.controlShows ? 'intents forged on purpose are found to be lost' : 'FORGED INTENTS ARE NOT FOUND',
    ],
    ['commits per second', `${formatNumber(summary.commitsPerSecond)} durable, through the whole swarm`],
    ['latency', `${round(latencyMs.p50, 2)} ms median, ${round(latencyMs.p99, 2)} ms p99`],
    ...peers.map(({ subject, commitsPerSecond, missing }): [string, string] => [
      `  ${subject}`,
      commitsPerSecond === undefined
        ? `missing: ${missing ?? ''}`
        : `${formatNumber(commitsPerSecond)} commits per second, the same commits`,
    ]),
    [
      'events',
      Object.entries(events)
        .toSorted(([, a], [, b]) => b - a)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', '),
    ],
    ['seconds', round(summary.seconds)],
    ...summary.faults.map((fault): [string, string] => ['FAULT', fault]),
  ];
}
