import type { ResultFile, Sample } from '../harness/result-file.ts';

export interface Table {
  readonly headers: readonly string[];
  /** Texts to the left, numbers to the right. */
  readonly isNumber: readonly boolean[];
  readonly rows: readonly (readonly string[])[];
}

/** Three significant digits below 100, whole numbers with commas above. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

const isRatioToPeer = ({ metric }: Sample): boolean => metric.startsWith('ratioTo:');

/** Fields of the workload that are the same in all samples, and those that tell rows apart. */
function splitFields(samples: readonly Sample[]): { common: [string, unknown][]; varying: string[] } {
  const names = [...new Set(samples.flatMap(({ workload }) => Object.keys(workload)))];
  const valuesOf = (name: string) => [...new Set(samples.map(({ workload }) => workload[name]))];
  const varying = names.filter((name) => valuesOf(name).length > 1);
  return { common: names.filter((name) => !varying.includes(name)).map((name) => [name, valuesOf(name)[0]]), varying };
}

/** One line with what all rows have in common. */
export function commonWorkload(result: ResultFile): string {
  const { common } = splitFields(result.samples.filter((sample) => !isRatioToPeer(sample)));
  return common
    .map(([name, value]) => `${name} ${typeof value === 'number' ? formatNumber(value) : String(value)}`)
    .join(', ');
}

/** One line on the machine. */
export function machineLine({ machine }: ResultFile): string {
  const { cpu, cores, memoryMiB, platform, node, git } = machine;
  return `${cpu}, ${cores} cores, ${formatNumber(memoryMiB)} MiB, ${platform}, Node ${node}, git ${git}`;
}

const titles: Readonly<Record<string, string>> = {
  commitsPerSecond: 'commits/s',
  latencyMsP50: 'p50 ms',
  latencyMsP99: 'p99 ms',
  bytesPerCommit: 'bytes/commit',
  commitsPerRound: 'commits',
  ratioToFloor: 'of floor',
  inFlight: 'in flight',
};

const titleOf = (name: string): string => titles[name] ?? name;

/** A row for each subject and load, a column for each metric; the main one with its range. */
export function figuresTable(result: ResultFile): Table {
  const samples = result.samples.filter((sample) => !isRatioToPeer(sample));
  const { varying } = splitFields(samples);
  const metrics = [...new Set(samples.map(({ metric }) => metric))];
  const rows = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = JSON.stringify([sample.subject, varying.map((name) => sample.workload[name])]);
    rows.set(key, [...(rows.get(key) ?? []), sample]);
  }
  return {
    headers: [
      'subject',
      ...varying.map(titleOf),
      ...metrics.flatMap((metric, at) => (at === 0 ? [titleOf(metric), 'min', 'max'] : [titleOf(metric)])),
    ],
    isNumber: [
      false,
      ...varying.map((name) => samples.every(({ workload }) => typeof workload[name] !== 'string')),
      ...metrics.map(() => true),
      true,
      true,
    ],
    rows: [...rows.values()].map((row) => [
      row[0]?.subject ?? '',
      ...varying.map((name) => cellOf(row[0]?.workload[name])),
      ...metrics.flatMap((metric, at) =>
        metricCells(
          row.find((sample) => sample.metric === metric),
          at === 0,
        ),
      ),
    ]),
  };
}

const cellOf = (value: string | number | boolean | undefined): string =>
  typeof value === 'number' ? formatNumber(value) : String(value ?? '');

function metricCells(sample: Sample | undefined, withRange: boolean): string[] {
  const values = [sample?.median, ...(withRange ? [sample?.min, sample?.max] : [])];
  return values.map((value) => (value === undefined ? '-' : formatNumber(value)));
}

/** How many times as fast as each peer, by the median of the ratios within rounds; undefined where there are none. */
export function ratiosTable(result: ResultFile): Table | undefined {
  const ratios = result.samples.filter(isRatioToPeer);
  if (ratios.length === 0) return undefined;
  return {
    headers: ['subject', 'in flight', 'beside', 'in flight', 'times as fast', 'min', 'max'],
    isNumber: [false, true, false, true, true, true, true],
    rows: ratios.map(({ subject, workload, metric, median, min, max }) => [
      subject,
      cellOf(workload['inFlight']),
      metric.slice('ratioTo:'.length),
      cellOf(workload['peerInFlight'] ?? workload['inFlight']),
      ...[median, min, max].map(formatNumber),
    ]),
  };
}
