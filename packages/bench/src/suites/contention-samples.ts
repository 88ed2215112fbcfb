import { sampleOf, type Metric, type Sample, type WorkloadFields } from '../harness/result-file.ts';
import { latencyOf, type ContentionArm, type ContentionRound } from './contention-arm.ts';
import { overwritingContender } from './contention-mound.ts';
import type { ReadBack } from './contention-read-back.ts';

export type ContentionMetric = Metric | 'strandedEdits' | 'lockFailures' | 'racesLost';

export type ContentionSample = Omit<Sample, 'metric'> & { readonly metric: ContentionMetric };

export interface MeasuredArm {
  readonly arm: ContentionArm;
  readonly found: ReadBack;
}

type Figure = (round: ContentionRound, number: number, found: ReadBack) => number;

/** Everything that is told of an arm, in the order of the table. */
const figures: readonly { readonly metric: ContentionMetric; readonly unit: string; readonly of: Figure }[] = [
  { metric: 'commitsPerSecond', unit: 'commits/s', of: ({ landed, seconds }) => landed / seconds },
  { metric: 'latencyMsP50', unit: 'ms', of: (round) => latencyOf(round, 0.5) },
  { metric: 'latencyMsP99', unit: 'ms', of: (round) => latencyOf(round, 0.99) },
  { metric: 'commitsPerRound', unit: 'commits', of: ({ answered }) => answered },
  { metric: 'conflictsPerCommit', unit: 'conflicts', of: ({ conflicts, answered }) => conflicts / answered },
  {
    metric: 'lostUpdates',
    unit: 'edits',
    of: (_, number, { lost }) => lost.filter(({ round }) => round === number).length,
  },
  { metric: 'strandedEdits', unit: 'edits', of: ({ stranded }) => stranded },
  { metric: 'lockFailures', unit: 'calls', of: ({ lockFailures }) => lockFailures },
  { metric: 'racesLost', unit: 'calls', of: ({ racesLost }) => racesLost },
];

const referenceName = 'mound';

export function contentionSamples(measured: readonly MeasuredArm[], workload: WorkloadFields): ContentionSample[] {
  const samples: ContentionSample[] = [];
  for (const { arm, found } of measured) {
    for (const { metric, unit, of } of figures) {
      const values = arm.rounds.map((round, number) => of(round, number, found));
      // The values are summed up alike, whatever they are called.
      samples.push({ ...sampleOf(arm.subject.name, workload, 'commitsPerRound', unit, values), metric });
    }
  }
  const reference = measured.find(({ arm }) => arm.subject.name === referenceName);
  for (const { arm } of measured) {
    if (reference === undefined || arm === reference.arm || arm.subject === overwritingContender) continue;
    const ratios = ratiosWithinRounds(reference.arm, arm);
    if (ratios.length === 0) continue;
    samples.push(sampleOf(referenceName, workload, `ratioTo:${arm.subject.name}`, 'times', ratios));
  }
  return samples;
}

/** How many times as many edits a second reach the trunk, round by round; none where the other landed nothing. */
function ratiosWithinRounds(arm: ContentionArm, other: ContentionArm): number[] {
  return arm.rounds.flatMap(({ landed, seconds }, number) => {
    const beside = other.rounds[number];
    return beside === undefined || beside.landed === 0 ? [] : [landed / seconds / (beside.landed / beside.seconds)];
  });
}
