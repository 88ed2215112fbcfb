import type { Metric } from '../../harness/metric.ts';
import { sampleOf, type Sample } from '../../harness/result-file.ts';
import { medianOf } from '../../harness/statistics.ts';
import { agentsOfFew } from '../../subjects/subject.ts';
import type { CommitArm } from './arm.ts';
import { referenceName } from './parameters.ts';

const floorName = 'floor';

/** Everything that was measured, and the ratios within each round. */
export function samplesOf(arms: readonly CommitArm[]): Sample[] {
  const own = arms.flatMap((arm) => [...figureSamples(arm), ...ownRatios(arm, arms)]);
  return [...own, ...arms.flatMap((arm) => peerRatios(arm, arms))];
}

function figureSamples({ plan, figures }: CommitArm): Sample[] {
  const rounds = figures.commitsPerSecond?.length ?? 0;
  return (Object.keys(figures) as Metric[]).flatMap((metric) => {
    const values = figures[metric] ?? [];
    // What only the rounds with most commits have is no figure of the subject.
    const isOfAll = metric !== 'latencyMsP999' || values.length === rounds;
    return isOfAll ? [sampleOf(plan.subject.name, plan.fields, metric, values)] : [];
  });
}

/** How many times as fast as another arm, round by round. */
export function ratiosWithinRounds(arm: CommitArm, other: CommitArm): number[] {
  const others = other.figures.commitsPerSecond ?? [];
  return (arm.figures.commitsPerSecond ?? [])
    .slice(0, others.length)
    .map((rate, round) => rate / (others[round] ?? Number.NaN));
}

/** Beside the floor program under the same load, and for Mound beside its own W1. */
function ownRatios(arm: CommitArm, arms: readonly CommitArm[]): Sample[] {
  const samples: Sample[] = [];
  const add = (metric: Metric, other: CommitArm | undefined): void => {
    if (other === undefined || other === arm) return;
    const ratios = ratiosWithinRounds(arm, other);
    if (ratios.length > 0) samples.push(sampleOf(arm.plan.subject.name, arm.plan.fields, metric, ratios));
  };
  add('ratioToFloor', floorBeside(arm, arms));
  if (arm.plan.subject.name === referenceName) add('ratioToW1', w1Beside(arm, arms));
  return samples;
}

/** The floor program with the same commits in groups as large, in its one process. */
function floorBeside(arm: CommitArm, arms: readonly CommitArm[]): CommitArm | undefined {
  const { load, subject } = arm.plan;
  if (subject.name === floorName || load.skew !== 'uniform') return undefined;
  const floors = arms.filter(({ plan }) => plan.subject.name === floorName && isSameWork(plan.load, load));
  return floors.find(({ plan }) => plan.load.inFlight === load.inFlight);
}

/** Mound itself in W1, as many in flight in one process; where it was measured with as many files, there. */
function w1Beside(arm: CommitArm, arms: readonly CommitArm[]): CommitArm | undefined {
  const { load } = arm.plan;
  const isW1 = ({ plan: { subject, load: found } }: CommitArm): boolean =>
    subject.name === referenceName &&
    found.skew === 'uniform' &&
    found.filesPerCommit === 1 &&
    found.processes === 1 &&
    found.inFlight === load.inFlight;
  const candidates = arms.filter(isW1).toSorted((a, b) => a.plan.load.files - b.plan.load.files);
  if (load.filesPerCommit === 1 && load.processes === 1 && load.skew === 'uniform') {
    return candidates[0] === arm ? undefined : candidates[0];
  }
  return candidates.find(({ plan }) => plan.load.files === load.files) ?? candidates[0];
}

type Work = CommitArm['plan']['load'];

const isSameWork = (one: Work, other: Work): boolean =>
  one.files === other.files && one.filesPerCommit === other.filesPerCommit && one.skew === other.skew;

/** Mound beside each of its peers. */
function peerRatios(arm: CommitArm, arms: readonly CommitArm[]): Sample[] {
  const { subject, fields, load } = arm.plan;
  if (subject.name !== referenceName) return [];
  return arms.flatMap((other) => {
    if (!isBeside(other, arm) || other.plan.subject.name === floorName) return [];
    const ratios = ratiosWithinRounds(arm, other);
    if (ratios.length === 0) return [];
    // A peer that cannot have as many in flight is compared at what it can.
    const isAlike = other.plan.load.inFlight === load.inFlight;
    const workload = {
      ...fields,
      peer: other.plan.subject.name,
      ...(!isAlike && { peerInFlight: other.plan.load.inFlight }),
    };
    return [sampleOf(subject.name, workload, 'ratioToPeer', ratios)];
  });
}

function isBeside({ plan: other }: CommitArm, { plan }: CommitArm): boolean {
  if (other.subject.name === plan.subject.name || !isSameWork(other.load, plan.load)) return false;
  if (other.load.processes !== plan.load.processes) return false;
  const { inFlight } = plan.load;
  if (other.subject.pace === 'few-in-flight') return other.load.inFlight === Math.min(inFlight, agentsOfFew);
  return other.load.inFlight === inFlight || other.subject.pace !== 'in-flight';
}

/** Milliseconds of a process for a commit, round by round. */
const msPerCommit = ({ plan, figures }: CommitArm): number[] =>
  (figures.commitsPerSecond ?? []).map((rate) => (plan.load.processes * 1000) / rate);

/**
 * The injected slowdown at each load: milliseconds that a commit takes longer, by the median of the rounds. It shows
 * where commits take longer at every load, and by half of it at least where they take less than it by themselves:
 * slower commits wait for the disk while the slowdown passes.
 */
export function slowdownOf(
  arms: readonly CommitArm[],
  slowedName: string,
  injectedMs: number,
): { readonly shows: boolean; readonly addedMs: readonly number[] } {
  const found = arms
    .filter(({ plan }) => plan.subject.name === slowedName)
    .map((arm) => {
      const reference = arms.find((other) => other.plan.subject.name === referenceName && isBeside(other, arm));
      const own = reference === undefined ? [] : msPerCommit(reference);
      const added = msPerCommit(arm).flatMap((ms, round) => (own[round] === undefined ? [] : [ms - own[round]]));
      if (added.length === 0) return { shows: false, ms: Number.NaN };
      const ms = medianOf(added);
      return { shows: ms > (medianOf(own) < injectedMs ? injectedMs / 2 : 0), ms };
    });
  return { shows: found.length > 0 && found.every(({ shows }) => shows), addedMs: found.map(({ ms }) => ms) };
}
