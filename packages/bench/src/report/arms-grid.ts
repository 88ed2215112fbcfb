import { formatNumber } from '../harness/format-number.ts';
import { titleOfMetric, type Metric } from '../harness/metric.ts';
import type { Sample } from '../harness/result-file.ts';
import type { Chart } from './chart.ts';

/** What arms of coordination are told apart by; of the first ones less is better. */
const worse: readonly Metric[] = ['conflictsPerAcceptedLine', 'wallSeconds', 'refusedTries', 'duplicateWork', 'brokenBuilds', 'oscillations', 'tokensTotal']; // prettier-ignore
const better: readonly Metric[] = ['acceptedLines'];
const armsMin = 3;

const isOfArm = ({ workload }: Sample): boolean => workload['workload'] === 'coordination';

/** All arms by all figures in one picture, each figure shaded by itself; of the first variation, which is the run's own. */
export function armsGrid(samples: readonly Sample[]): Chart[] {
  const [first] = samples.filter(isOfArm);
  if (first === undefined) return [];
  const own = samples.filter((sample) => isOfArm(sample) && isLike(sample, first));
  const arms = [...new Set(own.map(({ subject }) => subject))];
  const of = (arm: string, metric: Metric): number | undefined => own.find((one) => one.subject === arm && one.metric === metric)?.median; // prettier-ignore
  const metrics = [...worse, ...better].filter((metric) => arms.some((arm) => (of(arm, metric) ?? 0) > 0));
  if (arms.length < armsMin || metrics.length === 0) return [];
  return [
    {
      kind: 'grid',
      title: 'All arms at a glance',
      caption: `Medians; each column is shaded by itself, the darker the worse: ${named(worse, metrics)} are better low${better.some((metric) => metrics.includes(metric)) ? `, ${named(better, metrics)} high` : ''}`,
      isLog: false,
      rowTitle: 'arm',
      columnTitle: 'figure',
      columns: metrics.map(titleOfMetric),
      rows: arms.map((arm) => ({
        label: arm,
        cells: metrics.map((metric) => {
          const value = of(arm, metric);
          return value === undefined
            ? { value: undefined, says: '-' }
            : { value: badnessOf(value, metric, arms.flatMap((other) => of(other, metric) ?? [])), says: shortNumber(value) }; // prettier-ignore
        }),
      })),
    },
  ];
}

const named = (list: readonly Metric[], shown: readonly Metric[]): string =>
  list.filter((metric) => shown.includes(metric)).map(titleOfMetric).join(', '); // prettier-ignore

/** From 0, the best arm, to 1, the worst; what is the same everywhere is not bad. */
function badnessOf(value: number, metric: Metric, all: readonly number[]): number {
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (high === low) return 0;
  const share = (value - low) / (high - low);
  return better.includes(metric) ? 1 - share : share;
}

const shortNumber = (value: number): string => (value >= 1e6 ? `${(value / 1e6).toFixed(2)} M` : value >= 1e4 ? `${Math.round(value / 1e3)} k` : formatNumber(value)); // prettier-ignore

const isLike = ({ workload }: Sample, { workload: other }: Sample): boolean =>
  Object.entries(other).every(([name, value]) => workload[name] === value);
