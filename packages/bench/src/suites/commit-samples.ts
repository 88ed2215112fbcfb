import { sampleOf, type Metric, type Sample } from '../harness/result-file.ts';
import { medianOf } from '../harness/statistics.ts';
import type { ArmFigures, CommitArm } from './commit-arm.ts';

const units: Readonly<Record<keyof ArmFigures, string>> = {
  commitsPerSecond: 'commits/s',
  latencyMsP50: 'ms',
  latencyMsP99: 'ms',
  bytesPerCommit: 'bytes',
  commitsPerRound: 'commits',
};

const referenceName = 'mound';
const floorName = 'floor';

/** Everything that was measured, and the ratios within each round. */
export function samplesOf(arms: readonly CommitArm[]): Sample[] {
  return [...arms.flatMap(figureSamples), ...arms.flatMap((arm) => ratioSamples(arm, arms))];
}

function figureSamples(arm: CommitArm): Sample[] {
  const { subject, fields } = arm.plan;
  return (Object.keys(units) as (keyof ArmFigures)[])
    .filter((metric) => arm.figures[metric].length > 0)
    .map((metric) => sampleOf(subject.name, fields, metric, units[metric], arm.figures[metric]));
}

/** How many times as fast as another arm, round by round. */
export function ratiosWithinRounds(arm: CommitArm, other: CommitArm): number[] {
  const others = other.figures.commitsPerSecond;
  return arm.figures.commitsPerSecond
    .slice(0, others.length)
    .map((rate, round) => rate / (others[round] ?? Number.NaN));
}

/** Each subject beside the floor program; Mound beside each of its peers. */
function ratioSamples(arm: CommitArm, arms: readonly CommitArm[]): Sample[] {
  const { subject, fields } = arm.plan;
  const samples: Sample[] = [];
  const add = (metric: Metric, other: CommitArm): void => {
    const ratios = ratiosWithinRounds(arm, other);
    if (ratios.length === 0) return;
    // A peer that cannot have as many in flight is compared at what it can.
    const workload =
      other.plan.inFlight === arm.plan.inFlight ? fields : { ...fields, peerInFlight: other.plan.inFlight };
    samples.push(sampleOf(subject.name, workload, metric, 'times', ratios));
  };
  for (const other of arms.filter((candidate) => isBeside(candidate, arm))) {
    if (other.plan.subject.name === floorName) add('ratioToFloor', other);
    else if (subject.name === referenceName) add(`ratioTo:${other.plan.subject.name}`, other);
  }
  return samples;
}

function isBeside(other: CommitArm, arm: CommitArm): boolean {
  if (other === arm || other.plan.subject.name === arm.plan.subject.name) return false;
  return other.plan.inFlight === arm.plan.inFlight || other.plan.subject.pace !== 'in-flight';
}

/** True where the injected slowdown shows at every load. */
export function slowdownShows(arms: readonly CommitArm[], slowedName: string): boolean {
  const slowed = arms.filter(({ plan }) => plan.subject.name === slowedName);
  return (
    slowed.length > 0 &&
    slowed.every((arm) => {
      const reference = arms.find((other) => other.plan.subject.name === referenceName && isBeside(other, arm));
      return reference !== undefined && medianOf(ratiosWithinRounds(reference, arm)) > 1;
    })
  );
}
