import { formatNumber } from '../harness/format-number.ts';
import { titleOfMetric } from '../harness/metric.ts';
import type { ResultFile, Sample } from '../harness/result-file.ts';

export interface Table {
  /** What all its rows have in common, where other tables have something else; may be empty. */
  readonly caption: string;
  readonly headers: readonly string[];
  /** Texts to the left, numbers to the right. */
  readonly isNumber: readonly boolean[];
  readonly rows: readonly (readonly string[])[];
}

const isRatioToPeer = ({ metric }: Sample): boolean => metric === 'ratioToPeer';

export type FieldValue = string | number | boolean | undefined;

/** Fields of the workload that are the same in all samples, and those that tell rows apart. */
export function splitFields(samples: readonly Sample[]): { common: [string, FieldValue][]; varying: string[] } {
  const names = [...new Set(samples.flatMap(({ workload }) => Object.keys(workload)))];
  const valuesOf = (name: string) => [...new Set(samples.map(({ workload }) => workload[name]))];
  const varying = names.filter((name) => valuesOf(name).length > 1);
  return { common: names.filter((name) => !varying.includes(name)).map((name) => [name, valuesOf(name)[0]]), varying };
}

const cellOf = (value: FieldValue): string => (typeof value === 'number' ? formatNumber(value) : String(value ?? ''));

export const describeFields = (fields: readonly [string, FieldValue][]): string =>
  fields.map(([name, value]) => `${name} ${cellOf(value)}`).join(', ');

/** One line with what all rows have in common. */
export function commonWorkload(result: ResultFile): string {
  return describeFields(splitFields(result.samples.filter((sample) => !isRatioToPeer(sample))).common);
}

/** On the machine, on what ran there, and when. */
export function machineLine({ suite, machine, versions = {}, seeds = [], measuredAt, samples }: ResultFile): string {
  const { cpu, cores, memoryMiB, platform, node, git } = machine;
  const told = Object.entries(versions).map(([name, version]) =>
    version.startsWith(name) ? version : `${name} ${version}`,
  );
  // What an audit finds is counted, not measured.
  const isOnce = suite !== 'audit' && samples.length > 0 && samples.every(({ n }) => n === 1);
  return [
    // Of older forms nothing is known.
    ...(cores === 0 ? [cpu] : [cpu, `${cores} cores`, `${formatNumber(memoryMiB)} MiB`, platform]),
    ...(cores === 0 ? [] : [`Node ${node}`, `git ${git}`]),
    ...told,
    ...(seeds.length === 0 ? [] : [`${seeds.length === 1 ? 'seed' : 'seeds'} ${seeds.join(', ')}`]),
    ...(measuredAt === undefined ? [] : [`measured ${measuredAt.slice(0, 16).replace('T', ' ')} UTC`]),
    ...(isOnce ? ['each figure once, so that no spread is known'] : []),
  ].join(', ');
}

const titles: Readonly<Record<string, string>> = {
  inFlight: 'in flight',
  filesPerCommit: 'files/commit',
  fromCommit: 'from commit',
};

export const titleOf = (name: string): string => titles[name] ?? name;

const columnIsNumber = (samples: readonly Sample[], name: string): boolean =>
  samples.every(({ workload }) => typeof workload[name] !== 'string');

export function groupBy(samples: readonly Sample[], keyOf: (sample: Sample) => string): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = keyOf(sample);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [sample]);
    else group.push(sample);
  }
  return groups;
}

/** A table for each kind of workload (the same fields), what is common to the whole result left out. */
export function figuresTables(result: ResultFile): Table[] {
  const samples = result.samples.filter((sample) => !isRatioToPeer(sample));
  const common = new Set(splitFields(samples).common.map(([name]) => name));
  const kinds = groupBy(samples, ({ workload }) => Object.keys(workload).toSorted().join());
  return [...kinds.values()].map((kind) => {
    const fields = splitFields(kind);
    return figuresTable(kind, fields.varying, describeFields(fields.common.filter(([name]) => !common.has(name))));
  });
}

/** A row for each subject and load, a column for each metric, with the range of its rounds. */
function figuresTable(samples: readonly Sample[], varying: readonly string[], caption: string): Table {
  const metrics = [...new Set(samples.map(({ metric }) => metric))];
  // One value has no range.
  const withRange = samples.some(({ metric, n }) => metric === metrics[0] && n > 1);
  const rows = groupBy(samples, (sample) =>
    JSON.stringify([sample.subject, varying.map((name) => sample.workload[name])]),
  );
  return {
    caption,
    headers: [
      'subject',
      ...varying.map(titleOf),
      ...metrics.flatMap((metric, at) =>
        at === 0 && withRange ? [titleOfMetric(metric), 'min', 'max'] : [titleOfMetric(metric)],
      ),
    ],
    isNumber: [false, ...varying.map((name) => columnIsNumber(samples, name)), ...metrics.map(() => true), true, true],
    rows: [...rows.values()].map((row) => [
      row[0]?.subject ?? '',
      ...varying.map((name) => cellOf(row[0]?.workload[name])),
      ...metrics.flatMap((metric, at) =>
        metricCells(
          row.find((sample) => sample.metric === metric),
          at === 0 && withRange,
        ),
      ),
    ]),
  };
}

/** The range in columns of its own, or behind the median. */
function metricCells(sample: Sample | undefined, withRange: boolean): string[] {
  if (sample === undefined) return withRange ? ['-', '-', '-'] : ['-'];
  const [median, min, max] = [sample.median, sample.min, sample.max].map(formatNumber) as [string, string, string];
  if (withRange) return [median, min, max];
  return [min === max ? median : `${median} (${min}–${max})`];
}

/** What was found, in words. */
export const evidenceTables = ({ tables = [] }: ResultFile): (Table & { readonly title: string })[] =>
  tables.map(({ title, caption, headers, rows }) => ({
    title,
    caption,
    headers,
    isNumber: headers.map(() => false),
    rows,
  }));

/** How many times as fast as each peer, by the median of the ratios within rounds; undefined where there are none. */
export function ratiosTable(result: ResultFile): Table | undefined {
  const ratios = result.samples.filter(isRatioToPeer);
  if (ratios.length === 0) return undefined;
  const ofThePeer = ['peer', 'peerInFlight'];
  const varying = [...new Set(['inFlight', ...splitFields(ratios).varying])].filter(
    (name) => !ofThePeer.includes(name),
  );
  return {
    caption: '',
    headers: [
      'subject',
      ...varying.map(titleOf),
      'beside',
      'its in flight',
      titleOfMetric('ratioToPeer'),
      'min',
      'max',
    ],
    isNumber: [false, ...varying.map((name) => columnIsNumber(ratios, name)), false, true, true, true, true],
    rows: ratios.map(({ subject, workload, median, min, max }) => [
      subject,
      ...varying.map((name) => cellOf(workload[name])),
      cellOf(workload['peer']),
      cellOf(workload['peerInFlight'] ?? workload['inFlight']),
      ...[median, min, max].map(formatNumber),
    ]),
  };
}
