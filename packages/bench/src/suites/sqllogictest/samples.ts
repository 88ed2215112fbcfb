import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import type { Metric } from '../../harness/metric.ts';
import { timePhases } from '../../sqllogictest/ledger.ts';
import type { Counts } from '../../sqllogictest/outcome.ts';
import type { SqlScore } from '../../sqllogictest/summary.ts';

const counted: readonly (readonly [Metric, (counts: Counts) => number])[] = [
  ['testsPassed', ({ right }) => right],
  ['testsTotal', ({ attempted }) => attempted],
  ['recordsWrong', ({ wrong }) => wrong],
  ['recordsFailed', ({ errors }) => errors],
  ['recordsCrashed', ({ crashed }) => crashed],
  ['recordsTimedOut', ({ timedOut }) => timedOut],
  ['recordsSkipped', ({ skipped }) => skipped],
];

const phaseNames = { read: 'reading', engine: 'engine', judge: 'comparing' } as const;

/** Of nothing there is no share. */
const countSamples = (subject: string, workload: WorkloadFields, counts: Counts): Sample[] => [
  ...(counts.attempted === 0 ? [] : [sampleOf(subject, workload, 'score', [counts.right / counts.attempted])]),
  ...counted.map(([metric, of]) => sampleOf(subject, workload, metric, [of(counts)])),
];

/** A score as samples of a result file: of all records, and of each kind of file. */
export function sqlSamples(score: SqlScore): Sample[] {
  const { engine, dialect, workers, recordSecondsMax, categories } = score;
  const all = { workload: 'sqllogictest', dialect, workers, recordSeconds: recordSecondsMax };
  return [
    ...countSamples(engine, all, score),
    // Where a journal held all files nothing was timed now.
    ...(score.filesKept === score.files.length
      ? []
      : [
          ...(score.attempted === 0 ? [] : [sampleOf(engine, all, 'recordsPerSecond', [score.recordsPerSecond])]),
          sampleOf(engine, all, 'wallSeconds', [score.seconds]),
        ]),
    ...categories.flatMap((one) => {
      const workload = { workload: 'records', category: one.category };
      const told = timePhases.map((phase): [string, number] => [phaseNames[phase], one.shareOf[phase]]);
      const rest = ['starting, waiting', Math.max(0, 1 - told.reduce((sum, [, share]) => sum + share, 0))] as const;
      return [
        ...countSamples(engine, workload, one),
        ...(one.attempted === 0 ? [] : [sampleOf(engine, workload, 'recordsPerSecond', [one.recordsPerThreadSecond])]),
        ...[...told, rest].map(([phase, share]) => sampleOf(engine, { ...workload, phase }, 'share', [share])),
      ];
    }),
  ];
}
