import type { Metric } from '../../harness/metric.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { latencyOf, type ContentionArm, type ContentionRound } from './arm.ts';
import { overwritingContender } from './mound.ts';
import type { ReadBack } from './read-back.ts';

export interface MeasuredArm {
  readonly arm: ContentionArm;
  readonly found: ReadBack;
}

type Figure = (round: ContentionRound, number: number, found: ReadBack) => number;

/** Everything that is told of an arm, in the order of the table. */
const figures: readonly { readonly metric: Metric; readonly of: Figure }[] = [
  { metric: 'commitsPerSecond', of: ({ landed, seconds }) => landed / seconds },
  { metric: 'latencyMsP50', of: (round) => latencyOf(round, 0.5) },
  { metric: 'latencyMsP99', of: (round) => latencyOf(round, 0.99) },
  { metric: 'commitsPerRound', of: ({ answered }) => answered },
  { metric: 'conflictsPerCommit', of: ({ conflicts, answered }) => conflicts / answered },
  {
    metric: 'lostUpdates',

    of: (_, number, { lost }) => lost.filter(({ round }) => round === number).length,
  },
  { metric: 'strandedEdits', of: ({ stranded }) => stranded },
  { metric: 'lockFailures', of: ({ lockFailures }) => lockFailures },
  { metric: 'racesLost', of: ({ racesLost }) => racesLost },
];

const referenceName = 'mound';

export function contentionSamples(measured: readonly MeasuredArm[], workload: WorkloadFields): Sample[] {
  const samples: Sample[] = [];
  for (const { arm, found } of measured) {
    for (const { metric, of } of figures) {
      const values = arm.rounds.map((round, number) => of(round, number, found));
      samples.push(sampleOf(arm.subject.name, workload, metric, values));
    }
  }
  const reference = measured.find(({ arm }) => arm.subject.name === referenceName);
  for (const { arm } of measured) {
    if (reference === undefined || arm === reference.arm || arm.subject === overwritingContender) continue;
    const ratios = ratiosWithinRounds(reference.arm, arm);
    if (ratios.length === 0) continue;
    samples.push(sampleOf(referenceName, { ...workload, peer: arm.subject.name }, 'ratioToPeer', ratios));
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
