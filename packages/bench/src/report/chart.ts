import { formatNumber } from '../harness/format-number.ts';
import type { Metric } from '../harness/metric.ts';
import type { ResultFile, Sample } from '../harness/result-file.ts';
import { chartedMetric } from './charted.ts';
import { curveCharts, isOfCurve } from './curve-chart.ts';
import { experimentCharts, isOfExperiment } from './experiment-chart.ts';
import { describeFields, groupBy, splitFields, titleOf, type FieldValue } from './table.ts';

/** A median with the range of its rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Bar extends Spread {
  readonly subject: string;
  readonly label: string;
}

interface ChartHead {
  readonly title: string;
  /** Which way is better, and what all of it has in common. */
  readonly caption: string;
  /** Logarithmic where the values lie far apart. */
  readonly isLog: boolean;
}

/** A picture of some samples, before it is drawn. */
export type Chart =
  | (ChartHead & {
      readonly kind: 'bars';
      /** By load; the heading may be empty. */
      readonly groups: readonly { readonly heading: string; readonly bars: readonly Bar[] }[];
      /** Where a line stands that tells better from worse. */
      readonly mark: number | undefined;
    })
  | (ChartHead & {
      readonly kind: 'lines';
      readonly xTitle: string;
      readonly isLogX: boolean;
      readonly series: readonly {
        readonly subject: string;
        readonly label: string;
        readonly points: readonly (Spread & { readonly x: number })[];
      }[];
    })
  | (ChartHead & {
      readonly kind: 'parts';
      readonly parts: readonly string[];
      readonly bars: readonly { readonly label: string; readonly shares: readonly number[] }[];
    })
  | (ChartHead & {
      readonly kind: 'grid';
      readonly rowTitle: string;
      readonly columnTitle: string;
      readonly columns: readonly string[];
      /** `value` chooses the shade, from the least to the most; undefined: none. */
      readonly rows: readonly {
        readonly label: string;
        readonly cells: readonly { readonly value: number | undefined; readonly says: string }[];
      }[];
    })
  | (ChartHead & {
      readonly kind: 'curve';
      readonly xTitle: string;
      readonly series: readonly {
        readonly label: string;
        readonly points: readonly CurveMark[];
      }[];
      /** Numbered, from 1; what each is stands below. */
      readonly falls: readonly { readonly x: number; readonly says: string; readonly about: string }[];
    });

/** A point of a curve of scores. */
export interface CurveMark {
  readonly x: number;
  /** From 0 to 1. */
  readonly score: number;
  readonly state: string;
  readonly says: string;
}

/** Values further apart than this need a logarithmic scale to be seen at all. */
const linearRatioMax = 30;
/** Fewer values of a field are told better by bars side by side. */
const pointsMin = 5;

const isFarApart = (values: readonly number[]): boolean => {
  const positive = values.filter((value) => value > 0);
  return positive.length === values.length && Math.max(...positive) / Math.min(...positive) > linearRatioMax;
};

const keyOf = (sample: Sample, names: readonly string[]): string =>
  JSON.stringify(names.map((name) => sample.workload[name]));

const fieldsOf = (sample: Sample, names: readonly string[]): [string, FieldValue][] =>
  names.flatMap((name): [string, FieldValue][] =>
    sample.workload[name] === undefined ? [] : [[titleOf(name), sample.workload[name]]],
  );

/** The pictures of a result: for each kind of workload, one for each metric that a picture helps with. */
export function chartsOf(result: ResultFile): Chart[] {
  const others = result.samples.filter((sample) => !isOfCurve(sample) && !isOfExperiment(sample));
  const everywhere = new Set(splitFields(others).common.map(([name]) => name));
  const kinds = groupBy(others, ({ workload }) => Object.keys(workload).filter((name) => name !== 'peerInFlight').toSorted().join()); // prettier-ignore
  const ofKinds = [...kinds.values()].flatMap((kind) =>
    [...groupBy(kind, ({ metric }) => metric).values()].flatMap((samples) => {
      const { common, varying } = splitFields(samples);
      const own = common.filter(([name]) => !ofPeer.includes(name) && !everywhere.has(name));
      const metric = samples[0]?.metric;
      return metric === undefined ? [] : chartOf(metric, samples, varying, describeFields(own));
    }),
  );
  return [
    ...curveCharts(result.samples.filter(isOfCurve)),
    ...experimentCharts(result.samples.filter(isOfExperiment)),
    ...ofKinds,
  ];
}

/** Fields that stand in the label of a ratio. */
const ofPeer: readonly string[] = ['peer', 'peerInFlight'];

function chartOf(metric: Metric, samples: readonly Sample[], varying: readonly string[], common: string): Chart[] {
  if (metric === 'share') return partsOf(samples, varying, common);
  const charted = chartedMetric(metric);
  if (charted === undefined || samples.length < 2) return [];
  const isLog = isFarApart(samples.flatMap(({ median, min, max }) => [median, min, max]));
  const scale = isLog ? ', each step of the scale ten times the last' : '';
  const caption = [`${charted.better} is better${scale}`, common].filter((part) => part !== '').join('; ');
  const head = { title: charted.title, isLog, caption };
  const x = varying.find((name) => isSeries(samples, varying, name));
  if (x !== undefined && metric !== 'ratioToPeer') return [{ ...head, ...linesOf(samples, varying, x) }];
  const ofGroup = varying.filter(
    (name) => name !== 'durability' && (metric !== 'ratioToPeer' || !ofPeer.includes(name)),
  );
  const groups = [...groupBy(inOrder(samples, ofGroup), (sample) => keyOf(sample, ofGroup)).values()].map((group) => ({
    heading: group[0] === undefined ? '' : describeFields(fieldsOf(group[0], ofGroup)),
    bars: group.map((sample): Bar => ({ ...spreadOf(sample), subject: sample.subject, label: labelOf(sample) })),
  }));
  return [{ ...head, kind: 'bars', groups, mark: metric === 'ratioToPeer' ? 1 : undefined }];
}

/** Small loads first; subjects as they were measured. */
const inOrder = (samples: readonly Sample[], names: readonly string[]): Sample[] =>
  samples.toSorted((a, b) => {
    for (const name of names) {
      const [one, other] = [a.workload[name], b.workload[name]];
      if (typeof one === 'number' && typeof other === 'number' && one !== other) return one - other;
    }
    return 0;
  });

const spreadOf = ({ median, min, max }: Sample): Spread => ({ median, min, max });

function labelOf({ subject, metric, workload }: Sample): string {
  const durability = workload['durability'] ?? 'flushed';
  if (metric !== 'ratioToPeer') return durability === 'flushed' ? subject : `${subject} (${String(durability)})`;
  const inFlight = workload['peerInFlight'];
  return `${subject} : ${workload['peer'] ?? '?'}${inFlight === undefined ? '' : ` (${formatNumber(Number(inFlight))})`}`;
}

/** Whether a field has numbers enough, for one subject with all else the same, that they make a line. */
function isSeries(samples: readonly Sample[], varying: readonly string[], name: string): boolean {
  if (!samples.every(({ workload }) => typeof workload[name] === 'number')) return false;
  const others = varying.filter((other) => other !== name);
  const lines = groupBy(samples, (sample) => sample.subject + keyOf(sample, others));
  return [...lines.values()].some((line) => new Set(line.map(({ workload }) => workload[name])).size >= pointsMin);
}

function linesOf(samples: readonly Sample[], varying: readonly string[], x: string) {
  const others = varying.filter((other) => other !== x);
  const lines = [...groupBy(samples, (sample) => sample.subject + keyOf(sample, others)).values()];
  const xs = samples.map(({ workload }) => Number(workload[x]));
  return {
    kind: 'lines' as const,
    xTitle: titleOf(x),
    isLogX: isFarApart(xs),
    series: lines.map((line) => ({
      subject: line[0]?.subject ?? '',
      label: [line[0]?.subject ?? '', line[0] === undefined ? '' : describeFields(fieldsOf(line[0], others))]
        .filter((part) => part !== '')
        .join(', '),
      points: line
        .map((sample) => ({ ...spreadOf(sample), x: Number(sample.workload[x]) }))
        .toSorted((a, b) => a.x - b.x),
    })),
  };
}

/** Of one whole, what each part takes. */
function partsOf(samples: readonly Sample[], varying: readonly string[], common: string): Chart[] {
  const parts = [...new Set(samples.map(({ workload }) => String(workload['phase'])))];
  const others = varying.filter((name) => name !== 'phase');
  const bars = [...groupBy(samples, (sample) => sample.subject + keyOf(sample, others)).values()].map((bar) => ({
    label: [bar[0]?.subject ?? '', bar[0] === undefined ? '' : describeFields(fieldsOf(bar[0], others))]
      .filter((part) => part !== '')
      .join(', '),
    shares: parts.map((part) => bar.find(({ workload }) => workload['phase'] === part)?.median ?? 0),
  }));
  return [{ kind: 'parts', title: 'Where the time goes', caption: common, isLog: false, parts, bars }];
}
