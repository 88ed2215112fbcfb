import { formatNumber } from '../harness/format-number.ts';
import type { Metric } from '../harness/metric.ts';
import type { Sample } from '../harness/result-file.ts';
import type { Bar, Chart, Spread } from './chart.ts';
import { chartedMetric } from './charted.ts';
import { nameOf } from './svg-parts.ts';
import { describeFields, groupBy, splitFields, titleOf, type FieldValue } from './table.ts';

/** Values further apart than this need a logarithmic scale to be seen at all. */
const linearRatioMax = 30;
/** Fewer values of a field are told better by bars side by side. */
const pointsMin = 5;

/** Fields that stand in the label of a ratio. */
const ofPeer: readonly string[] = ['peer', 'peerInFlight'];

export const isFarApart = (values: readonly number[]): boolean => {
  const positive = values.filter((value) => value > 0);
  return positive.length === values.length && Math.max(...positive) / Math.min(...positive) > linearRatioMax;
};

/** Which way is better, for a caption. */
export const betterText = (better: 'more' | 'less'): string =>
  better === 'more' ? '↑ more is better' : '↓ less is better';

export const logText = 'each step of the scale is ten times the last';

const keyOf = (sample: Sample, names: readonly string[]): string =>
  JSON.stringify(names.map((name) => sample.workload[name]));

const fieldsOf = (sample: Sample | undefined, names: readonly string[]): [string, FieldValue][] =>
  names.flatMap((name): [string, FieldValue][] =>
    sample?.workload[name] === undefined ? [] : [[titleOf(name), sample.workload[name]]],
  );

const joined = (parts: readonly string[], by = ', '): string => parts.filter((part) => part !== '').join(by);

/** For each kind of workload, one picture for each metric that a picture helps with. */
export function generalCharts(samples: readonly Sample[]): Chart[] {
  const everywhere = new Set(splitFields(samples).common.map(([name]) => name));
  const kinds = groupBy(samples, ({ workload }) => Object.keys(workload).filter((name) => name !== 'peerInFlight').toSorted().join()); // prettier-ignore
  return [...kinds.values()].flatMap((kind) =>
    [...groupBy(kind, ({ metric }) => metric)].flatMap(([, some]) => {
      const { common, varying } = splitFields(some);
      const own = common.filter(([name]) => !ofPeer.includes(name) && !everywhere.has(name));
      const metric = some[0]?.metric;
      return metric === undefined ? [] : chartOf(metric, some, varying, describeFields(own));
    }),
  );
}

function chartOf(metric: Metric, samples: readonly Sample[], varying: readonly string[], common: string): Chart[] {
  if (metric === 'share') return partsOf(samples, varying, common);
  const charted = chartedMetric(metric);
  if (charted === undefined || samples.length < 2) return [];
  const { title, better } = charted;
  if (samples.every(({ min, max }) => min === 0 && max === 0)) {
    const names = [...new Set(samples.map(({ subject }) => nameOf(subject)))];
    return [{ kind: 'said', title, isLog: false, caption: joined([betterText(better), common], '; '), says: `0 everywhere: ${names.join(', ')}` }]; // prettier-ignore
  }
  const isLog = isFarApart(samples.flatMap(({ median, min, max }) => [median, min, max]));
  const head = { title, isLog, caption: joined([betterText(better), isLog ? logText : '', common], '; ') };
  const x = axisOf(samples, varying);
  if (x !== undefined && metric !== 'ratioToPeer') return [{ ...head, ...linesOf(samples, varying, x) }];
  const ofGroup = toldOnce(samples, varying.filter((name) => name !== 'durability' && (metric !== 'ratioToPeer' || !ofPeer.includes(name)))); // prettier-ignore
  const groups = groupsOf(inOrder(samples, ofGroup), ofGroup);
  return [{ ...head, kind: 'bars', groups, mark: metric === 'ratioToPeer' ? 1 : undefined }];
}

interface Group {
  readonly heading: string;
  readonly bars: readonly Bar[];
}

/** A heading over a single bar is a label. */
function groupsOf(samples: readonly Sample[], ofGroup: readonly string[]): Group[] {
  const groups = [...groupBy(samples, (sample) => keyOf(sample, ofGroup)).values()];
  const headingOf = (sample: Sample | undefined): string => describeFields(fieldsOf(sample, ofGroup));
  const barOf = (sample: Sample, label = labelOf(sample)): Bar => ({ ...spreadOf(sample), subject: sample.subject, label }); // prettier-ignore
  if (groups.length > 1 && groups.every(({ length }) => length === 1)) {
    const isOne = new Set(samples.map(labelOf)).size === 1;
    const bars = samples.map((sample) => barOf(sample, isOne ? headingOf(sample) : joined([labelOf(sample), headingOf(sample)]))); // prettier-ignore
    return [{ heading: isOne && samples[0] !== undefined ? labelOf(samples[0]) : '', bars }];
  }
  return groups.map((group) => ({ heading: headingOf(group[0]), bars: group.map((sample) => barOf(sample)) }));
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
  const name = nameOf(subject);
  if (metric !== 'ratioToPeer') return durability === 'flushed' ? name : `${name} (${String(durability)})`;
  const inFlight = workload['peerInFlight'];
  return `${name} : ${workload['peer'] ?? '?'}${inFlight === undefined ? '' : ` (${formatNumber(Number(inFlight))})`}`;
}

/** Fields that say the same as another one in other words tell no lines apart. */
function besides(samples: readonly Sample[], varying: readonly string[], name: string): string[] {
  const byValue = [...groupBy(samples, (sample) => keyOf(sample, [name])).values()];
  const isTold = (other: string): boolean => byValue.every((some) => new Set(some.map((one) => one.workload[other])).size === 1); // prettier-ignore
  return varying.filter((other) => other !== name && !isTold(other));
}

/** Of two fields that go together the first. */
const toldOnce = (samples: readonly Sample[], names: readonly string[]): string[] =>
  names.filter((name, at) =>
    names.slice(0, at).every((before) => besides(samples, [before, name], before).includes(name)),
  );

/** Whether a field has numbers enough, for one subject with all else the same, that they make a line. */
function isSeries(samples: readonly Sample[], varying: readonly string[], name: string): boolean {
  if (!samples.every(({ workload }) => typeof workload[name] === 'number')) return false;
  const others = besides(samples, varying, name);
  const lines = groupBy(samples, (sample) => sample.subject + keyOf(sample, others));
  return [...lines.values()].some((line) => new Set(line.map(({ workload }) => workload[name])).size >= pointsMin);
}

/** Of several that say the same, the one with the widest range: a count of commits rather than of stretches. */
function axisOf(samples: readonly Sample[], varying: readonly string[]): string | undefined {
  const reach = (name: string): number => Math.max(...samples.map(({ workload }) => Number(workload[name])));
  return varying.filter((name) => isSeries(samples, varying, name)).toSorted((a, b) => reach(b) - reach(a))[0];
}

function linesOf(samples: readonly Sample[], varying: readonly string[], x: string) {
  const others = besides(samples, varying, x);
  const lines = [...groupBy(samples, (sample) => sample.subject + keyOf(sample, others)).values()];
  const xs = samples.map(({ workload }) => Number(workload[x]));
  return {
    kind: 'lines' as const,
    xTitle: titleOf(x),
    isLogX: isFarApart(xs),
    series: lines.map((line) => ({
      subject: line[0]?.subject ?? '',
      label: joined([nameOf(line[0]?.subject ?? ''), describeFields(fieldsOf(line[0], others))]),
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
    label: joined([nameOf(bar[0]?.subject ?? ''), describeFields(fieldsOf(bar[0], others))]),
    shares: parts.map((part) => bar.find(({ workload }) => workload['phase'] === part)?.median ?? 0),
  }));
  return [{ kind: 'parts', title: 'Where the time goes', caption: common, isLog: false, parts, bars }];
}
