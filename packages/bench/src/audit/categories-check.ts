import { percentText } from '../harness/format-number.ts';
import type { CategoryCount } from '../curve/index.ts';
import type { CheckReport, Finding } from './finding.ts';

/** How evenly something was built, by the kinds of its tests. */
export interface Dispersion {
  readonly kinds: number;
  /** All tests together. */
  readonly score: number;
  /** Each kind counts the same. */
  readonly meanOfKinds: number;
  readonly min: number;
  readonly max: number;
  /** Of the kinds' scores. */
  readonly deviation: number;
  /** Spearman's, of how many tests a kind has with its score; undefined where either is the same for all. */
  readonly correlation: number | undefined;
  /** Mean score of the half with most tests, less that of the half with fewest. */
  readonly denseLead: number;
}

const kindsMin = 4;
const correlationMin = 0.6;
const leadMin = 0.2;

const rule = `Score by kind of test. From ${kindsMin} kinds on: a rank correlation of ${correlationMin} or more of score with number of tests, and the half with most tests ${leadMin * 100} points or more above the other, is a build-out where the tests are dense`;

const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Ranks from 1; equal values share the mean of theirs. */
function ranks(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2 + 1);
}

function correlationOf(left: readonly number[], right: readonly number[]): number | undefined {
  const [a, b] = [ranks(left), ranks(right)];
  const [meanA, meanB] = [meanOf(a), meanOf(b)];
  const sum = (of: (at: number) => number): number => a.reduce((total, _, at) => total + of(at), 0);
  const spreadA = sum((at) => ((a[at] ?? 0) - meanA) ** 2);
  const spreadB = sum((at) => ((b[at] ?? 0) - meanB) ** 2);
  if (spreadA === 0 || spreadB === 0) return undefined;
  return sum((at) => ((a[at] ?? 0) - meanA) * ((b[at] ?? 0) - meanB)) / Math.sqrt(spreadA * spreadB);
}

export function dispersionOf(categories: readonly CategoryCount[]): Dispersion {
  const byTests = categories.filter(({ total }) => total > 0).toSorted((a, b) => a.total - b.total);
  const scores = byTests.map(({ passed, total }) => passed / total);
  const totals = byTests.map(({ total }) => total);
  const passed = byTests.reduce((sum, one) => sum + one.passed, 0);
  const total = totals.reduce((sum, one) => sum + one, 0);
  const mean = meanOf(scores);
  const half = Math.floor(scores.length / 2);
  return {
    kinds: scores.length,
    score: total === 0 ? 0 : passed / total,
    meanOfKinds: mean,
    min: Math.min(1, ...scores),
    max: Math.max(0, ...scores),
    deviation: Math.sqrt(meanOf(scores.map((score) => (score - mean) ** 2))),
    correlation: correlationOf(totals, scores),
    denseLead: half === 0 ? 0 : meanOf(scores.slice(-half)) - meanOf(scores.slice(0, half)),
  };
}

/** `categories` undefined: no curve was given. */
export function categoriesCheck(categories: readonly CategoryCount[] | undefined): CheckReport {
  if (categories === undefined || categories.length === 0) {
    const skipped = categories === undefined ? 'no curve was given (--curve)' : 'the curve has no kinds of tests';
    return { check: 'categories', rule, looked: '', skipped, findings: [] };
  }
  const found = dispersionOf(categories);
  const { kinds, score, meanOfKinds, min, max, deviation, correlation, denseLead } = found;
  const evidence = `${percentText(score)} of all tests, ${percentText(meanOfKinds)} of the kinds, from ${percentText(min)} to ${percentText(max)}, deviation ${percentText(deviation)}; rank correlation with the number of tests ${correlation?.toFixed(2) ?? 'none'}, dense half ${percentText(denseLead)} above the sparse one`;
  const isDense = kinds >= kindsMin && (correlation ?? 0) >= correlationMin && denseLead >= leadMin;
  const all: Finding = {
    weight: isDense ? 'finding' : 'note',
    what: isDense ? 'built out where the tests are dense' : 'dispersion',
    place: `${kinds} kinds`,
    evidence,
  };
  const each = categories.map(({ category, passed, total }): Finding => ({
    weight: 'note',
    what: 'kind of test',
    place: category,
    evidence: `${percentText(total === 0 ? 0 : passed / total)} (${passed} of ${total})`,
  }));
  return { check: 'categories', rule, looked: `${kinds} kinds`, findings: [all, ...each] };
}
