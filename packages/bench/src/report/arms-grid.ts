import { formatNumber, percentText } from '../harness/format-number.ts';
import { titleOfMetric, unitOf, type Metric } from '../harness/metric.ts';
import type { Sample } from '../harness/result-file.ts';
import type { Chart } from './chart.ts';
import { groupBy } from './table.ts';

/** What arms are told apart by; of the first ones less is better. */
const worse: readonly Metric[] = ['conflictsPerAcceptedLine', 'conflictsTotal', 'wallSeconds', 'refusedTries', 'duplicateWork', 'brokenBuilds', 'oscillations', 'tokensTotal', 'largestFileLines', 'duplicateShare', 'similarityShare', 'dependencyViolations']; // prettier-ignore
const better: readonly Metric[] = ['score', 'buildPassShare', 'acceptedLines'];
/** Neither good nor bad by themselves. */
const neither: readonly Metric[] = ['commitsPerRound', 'linesTotal'];
const shownMax = 9;

/** Of coordination the run's own load, which is measured first; of an experiment what is told of whole arms. */
function armsOf(samples: readonly Sample[]): Map<string, Sample[]> {
  const first = samples.find(({ workload }) => workload['workload'] === 'coordination');
  const ofArm = samples.filter(({ workload, subject }) => {
    if (first !== undefined) return Object.entries(first.workload).every(([name, value]) => workload[name] === value);
    return workload['workload'] === 'experiment' && workload['role'] === undefined && subject !== '';
  });
  const mixes = new Set(ofArm.map(({ workload }) => workload['mix']));
  return groupBy(ofArm, ({ subject, workload }) => mixes.size > 1 ? `${subject}, ${String(workload['mix'])}` : subject); // prettier-ignore
}

/** All arms by all figures in one picture, each figure shaded by itself. */
export function armsGrid(samples: readonly Sample[]): Chart[] {
  const arms = armsOf(samples);
  const of = (arm: string, metric: Metric): number | undefined =>
    arms.get(arm)?.find((one) => one.metric === metric)?.median;
  const names = [...arms.keys()];
  const metrics = [...better, ...worse, ...neither].filter((metric) => names.some((arm) => (of(arm, metric) ?? 0) > 0)).slice(0, shownMax); // prettier-ignore
  if (names.length < 2 || metrics.length === 0) return [];
  const columnOf = (metric: Metric): number[] => names.flatMap((arm) => of(arm, metric) ?? []);
  const directions = [['high', better], ['low', worse]] as const; // prettier-ignore
  const told = directions.flatMap(([way, list]) => {
    const shown = metrics.filter((metric) => list.includes(metric)).map(titleOfMetric);
    return shown.length === 0 ? [] : [`${shown.join(', ')} ${shown.length === 1 ? 'is' : 'are'} better ${way}`];
  });
  return [
    {
      kind: 'grid',
      title: 'All arms at a glance',
      caption: `Medians; each column is shaded by itself, the darker the worse: ${told.join('; ')}`,
      isLog: false,
      rowTitle: 'arm',
      columnTitle: 'figure',
      columns: metrics.map(titleOfMetric),
      rows: names.map((arm) => ({
        label: arm,
        cells: metrics.map((metric) => {
          const value = of(arm, metric);
          if (value === undefined) return { value: undefined, says: '-' };
          return { value: badnessOf(value, metric, columnOf(metric)), says: shortNumber(value, metric) };
        }),
      })),
    },
  ];
}

/** From 0, the best arm, to 1, the worst; what is the same everywhere is not bad. */
function badnessOf(value: number, metric: Metric, all: readonly number[]): number {
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (high === low || neither.includes(metric)) return 0;
  const share = (value - low) / (high - low);
  return better.includes(metric) ? 1 - share : share;
}

function shortNumber(value: number, metric: Metric): string {
  if (unitOf(metric) === 'share') return percentText(value);
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  return value >= 1e4 ? `${Math.round(value / 1e3)} k` : formatNumber(value);
}
