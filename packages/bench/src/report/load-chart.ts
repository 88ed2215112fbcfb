import type { Metric } from '../harness/metric.ts';
import type { Sample } from '../harness/result-file.ts';
import type { Chart } from './chart.ts';
import { betterText, isFarApart, logText } from './general-chart.ts';
import { nameOf } from './svg-parts.ts';

/** A stretch of time of a load. */
export const isOfLoad = ({ workload }: Sample): boolean => workload['workload'] === 'window';

const pictures: readonly { readonly title: string; readonly caption: string; readonly of: readonly (readonly [Metric, string])[] }[] = [
  {
    title: 'Commits and conflicts a second, along the run',
    caption: `${betterText('more')} for commits, less for conflicts`,
    of: [['commitsPerSecond', 'commits'], ['conflictsPerSecond', 'conflicts']],
  },
  {
    title: 'Milliseconds from the call to the answer, along the run',
    caption: betterText('less'),
    of: [['latencyMsP50', 'half of the calls within'], ['latencyMsP99', '99 of 100 within']],
  },
]; // prettier-ignore

/** How a load went, window by window. */
export function loadCharts(samples: readonly Sample[]): Chart[] {
  const subjects = [...new Set(samples.map(({ subject }) => subject))];
  return pictures.flatMap(({ title, caption, of }): Chart[] => {
    const series = subjects.flatMap((subject) =>
      of.flatMap(([metric, what]) => {
        const points = samples
          .filter((sample) => sample.subject === subject && sample.metric === metric)
          .map(({ workload, median, min, max }) => ({ x: Number(workload['fromSecond']), median, min, max }));
        return points.length < 2 ? [] : [{ subject, label: `${nameOf(subject)}: ${what}`, points }];
      }),
    );
    if (series.length === 0) return [];
    const isLog = isFarApart(series.flatMap(({ points }) => points.map(({ median }) => median)));
    return [{ kind: 'lines', title, caption: isLog ? `${caption}; ${logText}` : caption, isLog, isLogX: false, xTitle: 'seconds since the start', series }]; // prettier-ignore
  });
}
