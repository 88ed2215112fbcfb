import type { Machine } from './machine.ts';
import { isMetric, unitOf, type Metric } from './metric.ts';
import { summarize } from './statistics.ts';

/**
 * Version of the result file's form; a reader refuses one that it does not know.
 * 1: first form.
 * 2: metric names are one closed list; a ratio to a peer is `ratioToPeer` with the peer in the workload.
 * 3: `tables` of evidence may be there.
 * 4: samples hold their values, one a round; `versions`, `seeds` and `measuredAt` are there. Every suite has this form.
 */
export const formatVersion = 4;
const formatVersionMin = 2;
const formatVersionOfValues = 4;

/** Flat, so that it can be a row of a table. */
export type WorkloadFields = Readonly<Record<string, string | number | boolean>>;

export interface Sample {
  readonly subject: string;
  readonly workload: WorkloadFields;
  readonly metric: Metric;
  readonly unit: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly n: number;
  /** The value of each round, in their order; not there before format 4. */
  readonly values?: readonly number[];
}

/** What was found and where, in words. */
export interface EvidenceTable {
  readonly title: string;
  /** What it is of, and how it was looked for. */
  readonly caption: string;
  readonly headers: readonly string[];
  /** As many cells as headers. */
  readonly rows: readonly (readonly string[])[];
}

export interface ResultFile {
  readonly suite: string;
  readonly formatVersion: number;
  /** ISO 8601; this, versions and seeds are not there before format 4. */
  readonly measuredAt?: string;
  readonly machine: Machine;
  /** Of Mound and of what was measured beside it, where it was asked. */
  readonly versions?: Readonly<Record<string, string>>;
  /** From which the loads follow; empty where nothing was drawn. */
  readonly seeds?: readonly number[];
  readonly samples: readonly Sample[];
  readonly notes: readonly string[];
  readonly tables?: readonly EvidenceTable[];
}

/** Six significant digits: more would only pretend. Counts are whole, and what is less than all stays less. */
function rounded(value: number): number {
  if (Number.isInteger(value)) return value;
  const short = Number(value.toPrecision(6));
  return short === 1 && value < 1 ? Number(value.toPrecision(15)) : short;
}

/** One value a round. */
export function sampleOf(subject: string, workload: WorkloadFields, metric: Metric, values: readonly number[]): Sample {
  const { median, min, max, n } = summarize(values);
  return {
    subject,
    workload,
    metric,
    unit: unitOf(metric),
    median: rounded(median),
    min: rounded(min),
    max: rounded(max),
    n,
    values: values.map(rounded),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNumbers = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'number');

const isField = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

const isSample = (value: unknown): value is Sample =>
  isObject(value) &&
  ['subject', 'metric', 'unit'].every((name) => typeof value[name] === 'string') &&
  ['median', 'min', 'max', 'n'].every((name) => typeof value[name] === 'number') &&
  isObject(value['workload']) &&
  Object.values(value['workload']).every(isField) &&
  (value['values'] === undefined || isNumbers(value['values']));

/** Why a sample is not what was measured; undefined: it is. */
function faultOfSample({ subject, metric, unit, values, ...told }: Sample, found: number): string | undefined {
  if (!isMetric(metric)) return `holds a metric that this program does not know: ${String(metric)}`;
  if (unit !== unitOf(metric)) return `holds ${metric} in ${unit}, which is told in ${unitOf(metric)}`;
  if (values === undefined) return found < formatVersionOfValues ? undefined : 'holds a sample without its fields';
  if (values.length === 0) return 'holds a sample without its fields';
  const { n, median, min, max } = summarize(values);
  // The median of values and the values are rounded each on its own.
  const slack = 1e-5 * Math.max(Math.abs(min), Math.abs(max));
  const isMedian = Math.abs(told.median - median) <= slack;
  const isTold = n === told.n && min === told.min && max === told.max && isMedian;
  return isTold ? undefined : `holds ${metric} of ${subject}, whose median or range is not that of its values`;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((cell) => typeof cell === 'string');

const isTable = (value: unknown): boolean => {
  if (!isObject(value) || typeof value['title'] !== 'string' || typeof value['caption'] !== 'string') return false;
  const { headers, rows } = value;
  return isTexts(headers) && Array.isArray(rows) && rows.every((row) => isTexts(row) && row.length === headers.length);
};

/** Reads a result file's text; a string says why it is none. */
export function parseResultFile(text: string): ResultFile | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'is not JSON';
  }
  if (!isObject(value)) return 'is not a result file';
  const { suite, formatVersion: found, machine, samples, notes, tables = [] } = value;
  if (typeof suite !== 'string' || typeof found !== 'number') return 'is not a result file';
  if (found < formatVersionMin || found > formatVersion)
    return `has result format ${found}; this program reads ${formatVersionMin} to ${formatVersion}`;
  if (!isObject(machine) || !Object.values(machine).every(isField)) return 'is not a result file';
  if (!Array.isArray(samples) || !isTexts(notes)) return 'is not a result file';
  if (!samples.every(isSample)) return 'holds a sample without its fields';
  for (const sample of samples) {
    const fault = faultOfSample(sample, found);
    if (fault !== undefined) return fault;
  }
  if (!Array.isArray(tables) || !tables.every(isTable)) return 'holds a table without its fields';
  return value as unknown as ResultFile;
}
