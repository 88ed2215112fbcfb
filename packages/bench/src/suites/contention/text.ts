import type { Machine } from '../../harness/machine.ts';
import type { Metric } from '../../harness/metric.ts';
import type { Sample } from '../../harness/result-file.ts';
import type { ContendedSubject } from '../../workloads/contended-trunk.ts';

const rows: readonly (readonly [Metric, string])[] = [
  ['commitsPerSecond', 'edits on the trunk a second'],
  ['latencyMsP50', 'ms to an answer, median'],
  ['latencyMsP99', 'ms to an answer, p99'],
  ['commitsPerRound', 'edits made a round'],
  ['conflictsPerCommit', 'conflicts per edit'],
  ['lostUpdates', 'edits lost'],
  ['strandedEdits', 'edits stranded'],
  ['lockFailures', 'calls failed at a lock'],
  ['racesLost', "calls that lost the trunk's race"],
];

export interface ContentionReport {
  readonly title: string;
  readonly machine: Machine;
  readonly subjects: readonly ContendedSubject[];
  readonly samples: readonly Sample[];
  readonly notes: readonly string[];
}

const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));

/** Median, and where the rounds differ their range. */
function cellOf(sample: Sample | undefined): string {
  if (sample === undefined) return '-';
  const [median, min, max] = [sample.median, sample.min, sample.max].map(shown);
  return min === max ? `${median}` : `${median} (${min} to ${max})`;
}

/** A column for each arm, and under it what a conflict does in each. */
export function contentionText({ title, machine, subjects, samples, notes }: ContentionReport): string {
  const table = [
    ['', ...subjects.map(({ name }) => name)],
    ...rows.map(([metric, label]) => [
      label,
      ...subjects.map(({ name }) => cellOf(samples.find((found) => found.subject === name && found.metric === metric))),
    ]),
  ];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [
    `contention: ${title}`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.platform}, Node ${machine.node}, git ${machine.git}`,
    '',
    ...lines,
    '',
    ...subjects.map(({ name, onConflict }) => `a conflict in ${name}: ${onConflict}`),
    '',
    ...notes.map((note) => `- ${note}`),
    '',
  ].join('\n');
}
