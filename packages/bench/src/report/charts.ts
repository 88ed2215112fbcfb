import type { ResultFile, Sample } from '../harness/result-file.ts';
import type { Chart } from './chart.ts';
import { armsGrid } from './arms-grid.ts';
import { curveCharts, isOfCurve } from './curve-chart.ts';
import { experimentCharts, isOfExperiment } from './experiment-chart.ts';
import { generalCharts } from './general-chart.ts';
import { isOfLoad, loadCharts } from './load-chart.ts';
import { isOfSql, sqlCharts } from './sql-chart.ts';

/** Samples that have pictures of their own. */
const special: readonly (readonly [(sample: Sample) => boolean, (samples: readonly Sample[]) => Chart[]])[] = [
  [isOfCurve, curveCharts],
  [isOfExperiment, experimentCharts],
  [isOfSql, sqlCharts],
  [isOfLoad, loadCharts],
];

/** The pictures of a result. */
export function chartsOf({ samples }: ResultFile): Chart[] {
  const others = samples.filter((sample) => !special.some(([isOf]) => isOf(sample)));
  return [
    ...armsGrid(samples),
    ...special.flatMap(([isOf, charts]) => charts(samples.filter(isOf))),
    ...generalCharts(others),
  ];
}
