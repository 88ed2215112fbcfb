import { titleOfMetric, type Metric } from '../../harness/metric.ts';
import { medianOf } from '../../harness/statistics.ts';
import type { ArmFigures } from './arm.ts';

type Figure = readonly [Metric, (figures: ArmFigures) => number | undefined];

/** What is told of an arm, by stream of work; the first are those by which arms are compared. */
export const figures: readonly Figure[] = [
  ['conflictsPerAcceptedLine', ({ conflicts, accepted }) => conflicts / Math.max(1, accepted)],
  ['conflictsPerCommit', ({ conflicts, commits }) => conflicts / Math.max(1, commits)],
  ['acceptedLines', ({ accepted }) => accepted],
  ['lostUpdates', ({ lost }) => lost],
  ['oscillations', ({ oscillations }) => oscillations],
  ['brokenBuilds', ({ builds, brokenBuilds }) => (builds === 0 ? undefined : brokenBuilds / builds)],
  ['duplicateWork', ({ duplicateWork }) => duplicateWork],
  ['refusedTries', ({ refusedTries }) => refusedTries],
  ['neutralCommits', ({ neutralCommits }) => neutralCommits],
  ['wallSeconds', ({ seconds }) => seconds],
  ['tokensTotal', ({ tokens }) => tokens],
  ['toldTokens', ({ toldTokens }) => toldTokens],
  ['commitsPerRound', ({ commits }) => commits],
  ['mergeQueueMsP50', ({ mergeQueueMsP50 }) => mergeQueueMsP50],
  ['mergeQueueMsP99', ({ mergeQueueMsP99 }) => mergeQueueMsP99],
  ['buildPassRate', ({ passRate }) => passRate],
];
const comparedCount = 12;

/** Less than this share of the larger of the two is taken for noise, where time is measured. */
const noise = 0.05;

/** What an arm and the one with everything came to under the same assumptions. */
export interface Comparison {
  /** Empty: the run's own assumptions. */
  readonly assumed: string;
  /** By stream of work, the same in both. */
  readonly with: readonly ArmFigures[];
  readonly without: readonly ArmFigures[];
}

export interface Effect {
  readonly says: string;
  /** The same in every stream of work. */
  readonly isSteady: boolean;
}

const plain = (value: number): string => `${value > 0 ? '+' : ''}${Number(value.toPrecision(3))}`;

function differencesOf(of: Figure[1], metric: Metric, { with: on, without: off }: Comparison): number[] {
  return on.flatMap((figure, at) => {
    const other = off[at];
    const [left, right] = [of(figure), other && of(other)];
    if (left === undefined || right === undefined) return [];
    const isNoise = metric === 'wallSeconds' && Math.abs(right - left) < noise * Math.max(left, right);
    return [isNoise ? 0 : right - left];
  });
}

const signsOf = (differences: readonly number[]): Set<number> =>
  new Set(differences.map(Math.sign).filter((sign) => sign !== 0));

/**
 * For each figure by which an arm differs from the one with everything: the median of the differences, the least and
 * the most, and where its sign changes, with the stream of work or with what is assumed.
 */
export function effectsOf(comparisons: readonly Comparison[]): Effect[] {
  const [own, ...others] = comparisons;
  if (own === undefined) return [];
  return figures.slice(0, comparedCount).flatMap(([metric, of]) => {
    const differences = differencesOf(of, metric, own);
    const byAssumption = others.map((one) => ({ assumed: one.assumed, differences: differencesOf(of, metric, one) }));
    const signs = signsOf(differences);
    if (signs.size === 0 && byAssumption.every((one) => signsOf(one.differences).size === 0)) return [];
    const median = differences.length === 0 ? 0 : medianOf(differences);
    const range = differences.length > 1 ? ` (${plain(Math.min(...differences))} to ${plain(Math.max(...differences))})` : ''; // prettier-ignore
    const bySeed = signs.size > 1 ? '; THE SIGN CHANGES with the stream of work' : '';
    const turned = byAssumption.flatMap((one) => {
      const other = one.differences.length === 0 ? 0 : medianOf(one.differences);
      return Math.sign(other) * Math.sign(median) < 0 ? [`${one.assumed} (${plain(other)})`] : [];
    });
    const byAssumed = turned.length > 0 ? `; THE SIGN CHANGES with ${turned.join(', ')}` : '';
    return [
      { says: `${titleOfMetric(metric)} ${plain(median)}${range}${bySeed}${byAssumed}`, isSteady: signs.size === 1 },
    ];
  });
}
