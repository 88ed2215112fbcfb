import type { Machine } from './machine.ts';
import { summarize } from './statistics.ts';

/**
 * Version of the result file's form; a reader refuses one that it does not know.
 * 1: first form.
 */
export const formatVersion = 1;

/** Metrics have fixed names, so that results of different days can be laid side by side. */
export type Metric =
  | 'commitsPerSecond'
  | 'latencyMsP50'
  | 'latencyMsP99'
  | 'bytesPerCommit'
  | 'commitsPerRound'
  | 'ratioToFloor'
  | `ratioTo:${string}`
  | 'stepOverheadMs'
  | 'conflictsPerCommit'
  | 'conflictsPerAcceptedLine'
  | 'lostUpdates'
  | 'recordsPerSecond';

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
}

export interface ResultFile {
  readonly suite: string;
  readonly formatVersion: number;
  readonly machine: Machine;
  readonly samples: readonly Sample[];
  readonly notes: readonly string[];
}

/** Six significant digits: more would only pretend. */
const rounded = (value: number): number => Number(value.toPrecision(6));

/** One value a round. */
export function sampleOf(
  subject: string,
  workload: WorkloadFields,
  metric: Metric,
  unit: string,
  values: readonly number[],
): Sample {
  const { median, min, max, n } = summarize(values);
  return { subject, workload, metric, unit, median: rounded(median), min: rounded(min), max: rounded(max), n };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSample = (value: unknown): boolean =>
  isObject(value) &&
  ['subject', 'metric', 'unit'].every((name) => typeof value[name] === 'string') &&
  ['median', 'min', 'max', 'n'].every((name) => typeof value[name] === 'number') &&
  isObject(value['workload']);

/** Reads a result file's text; a string says why it is none. */
export function parseResultFile(text: string): ResultFile | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'is not JSON';
  }
  if (!isObject(value)) return 'is not a result file';
  const { suite, formatVersion: found, machine, samples, notes } = value;
  if (typeof suite !== 'string' || typeof found !== 'number') return 'is not a result file';
  if (found !== formatVersion) return `has result format ${found}; this program reads ${formatVersion}`;
  if (!isObject(machine) || !Array.isArray(samples) || !Array.isArray(notes)) return 'is not a result file';
  if (!samples.every(isSample)) return 'holds a sample without its fields';
  return value as unknown as ResultFile;
}
