import { formatNumber, percentText } from '../harness/format-number.ts';
import type { Metric } from '../harness/metric.ts';
import type { Sample } from '../harness/result-file.ts';
import type { Chart } from './chart.ts';
import { betterText, isFarApart, logText } from './general-chart.ts';

const kinds: readonly unknown[] = ['sqllogictest', 'records'];

/** Scores of SQL engines, of all records or of a kind of test. */
export const isOfSql = ({ workload }: Sample): boolean => kinds.includes(workload['workload']);

const outcomes: readonly (readonly [string, Metric, string])[] = [
  ['right', 'testsPassed', 'right'],
  ['wrong', 'recordsWrong', 'wrong'],
  ['refused', 'recordsFailed', 'failed'],
  ['crashed', 'recordsCrashed', 'crashed'],
  ['timed out', 'recordsTimedOut', 'timed-out'],
  ['skipped', 'recordsSkipped', 'skipped'],
];

interface Kind {
  readonly subject: string;
  readonly category: string;
  of(metric: Metric): number;
  /** Of the time of its thread. */
  share(phase: string): number;
}

/** Files at the top of a corpus have no kind of their own. */
const nameOf = (category: string): string => (category === '.' ? 'no directory' : category);

function kindsOf(samples: readonly Sample[]): Kind[] {
  const found = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = JSON.stringify([sample.subject, sample.workload['category'] ?? '']);
    found.set(key, [...(found.get(key) ?? []), sample]);
  }
  return [...found.values()].map((some) => ({
    subject: some[0]?.subject ?? '',
    category: nameOf(String(some[0]?.workload['category'] ?? 'all')),
    of: (wanted) => some.find(({ metric, workload }) => metric === wanted && workload['phase'] === undefined)?.median ?? 0, // prettier-ignore
    share: (phase) => some.find(({ workload }) => workload['phase'] === phase)?.median ?? 0,
  }));
}

function scoreText(kind: Kind): string {
  const [right, total] = [kind.of('testsPassed'), kind.of('testsTotal')];
  if (total === 0) return '-';
  const text = percentText(right / total, right / total > 0.99 ? 3 : 1);
  return right === total ? text : `${text}, ${formatNumber(total - right)} not`;
}

/** What became of the records, how fast, and who took the time, by kind of test. */
export function sqlCharts(samples: readonly Sample[]): Chart[] {
  if (samples.length === 0) return [];
  const whole = kindsOf(samples.filter(({ workload }) => workload['workload'] === 'sqllogictest'));
  const byKind = kindsOf(samples.filter(({ workload }) => workload['workload'] === 'records'));
  return [outcomesChart([...whole, ...byKind.toSorted(byScore)]), ...speedChart(byKind), ...timeChart(byKind)];
}

/** Of which nothing was asked, that is not bad. */
const scoreOf = (kind: Kind): number =>
  kind.of('testsTotal') === 0 ? 1 : kind.of('testsPassed') / kind.of('testsTotal');

/** The worst first: that is what one looks for. */
const byScore = (a: Kind, b: Kind): number => scoreOf(a) - scoreOf(b) || (a.category < b.category ? -1 : 1);

const labelOf = (kind: Kind): string => `${kind.category} (${formatNumber(kind.of('testsTotal'))})`;

function outcomesChart(all: readonly Kind[]): Chart {
  const subjects = [...new Set(all.map(({ subject }) => subject))].join(', ');
  return {
    kind: 'parts',
    title: `What became of the records of ${subjects}`,
    caption: '↑ more that are right is better; in brackets how many were asked, behind the bars the share of them that is right. Skipped ones are not for this engine and count nowhere; the worst kinds of test stand first', // prettier-ignore
    isLog: false,
    parts: outcomes.map(([name]) => name),
    hues: outcomes.map(([, , hue]) => hue),
    bars: all.map((kind) => ({
      label: labelOf(kind),
      shares: outcomes.map(([, metric]) => kind.of(metric)),
      says: scoreText(kind),
    })),
  };
}

function speedChart(byKind: readonly Kind[]): Chart[] {
  const rated = byKind.filter((kind) => kind.of('recordsPerSecond') > 0);
  if (rated.length < 2) return [];
  const bars = rated
    .map((kind) => {
      const rate = kind.of('recordsPerSecond');
      return { subject: kind.subject, label: kind.category, median: rate, min: rate, max: rate };
    })
    .toSorted((a, b) => b.median - a.median);
  const isLog = isFarApart(bars.map(({ median }) => median));
  const caption = `${betterText('more')}; engine and runner together${isLog ? `; ${logText}` : ''}`;
  return [{ kind: 'bars', title: 'Records a second of one thread', caption, isLog, groups: [{ heading: '', bars }], mark: undefined }]; // prettier-ignore
}

const phases = ['engine', 'comparing', 'reading', 'starting, waiting'];

function timeChart(byKind: readonly Kind[]): Chart[] {
  const timed = byKind.filter((kind) => phases.some((phase) => kind.share(phase) > 0));
  if (timed.length === 0) return [];
  const bars = timed
    .map((kind) => ({ label: kind.category, shares: phases.map((phase) => kind.share(phase)) }))
    .toSorted((a, b) => (b.shares[0] ?? 0) - (a.shares[0] ?? 0));
  const caption = 'Share of a thread’s time: the engine’s own, and the runner’s for comparing (sorting, hashing, labels) and reading files'; // prettier-ignore
  return [{ kind: 'parts', title: 'Who takes the time', caption, isLog: false, parts: phases, bars }];
}
