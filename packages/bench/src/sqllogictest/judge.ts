import { createHash } from 'node:crypto';

import type { Rows } from './engine.ts';
import type { QueryRecord } from './record.ts';

/** Until a file says otherwise. */
export const firstHashThreshold = 8;

const md5Of = (values: readonly string[]): string => {
  const hash = createHash('md5');
  if (values.length > 0) hash.update(`${values.join('\n')}\n`);
  return hash.digest('hex');
};

function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** As rendered text, never as numbers. Rendered values are ASCII, so characters compare as bytes. */
export function sorted({ values, columns }: Rows, sort: QueryRecord['sort']): string[] {
  if (sort === 'nosort') return values;
  if (sort === 'valuesort' || columns < 2) return values.toSorted(byBytes);
  const rows: string[][] = [];
  for (let at = 0; at < values.length; at += columns) rows.push(values.slice(at, at + columns));
  rows.sort((a, b) => {
    for (let column = 0; column < columns; column++) {
      const order = byBytes(a[column] ?? '', b[column] ?? '');
      if (order !== 0) return order;
    }
    return 0;
  });
  return rows.flat();
}

const hashLine = /^\d+ values hashing to ([0-9a-f]{32})$/;

/** MD5 of what a query is expected to give; from its hash line where it has one. */
export const expectedHash = ({ expected }: QueryRecord): string =>
  hashLine.exec(expected[0] ?? '')?.[1] ?? md5Of(expected);

export interface Verdict {
  /** Why it is wrong; undefined: it is right. */
  readonly reason: string | undefined;
  /** MD5 of the sorted result; only for a labelled query. */
  readonly labelHash: string | undefined;
}

/** Compares what a query gave with what its record expects. `threshold`: more values than so many are compared by their hash; 0: never. */
export function judge(record: QueryRecord, rows: Rows, threshold: number): Verdict {
  if (rows.columns !== record.types.length) {
    return { reason: `${rows.columns} columns instead of ${record.types.length}`, labelHash: undefined };
  }
  const values = sorted(rows, record.sort);
  const labelHash = record.label === undefined ? undefined : md5Of(values);
  const isHashed = threshold > 0 && values.length > threshold;
  return { reason: isHashed ? hashFault(record, values, labelHash) : valuesFault(record.expected, values), labelHash };
}

/** As the suite's runner does it, lines behind the hash (a blank one was forgotten) are read over. */
function hashFault(
  { expected }: QueryRecord,
  values: readonly string[],
  known: string | undefined,
): string | undefined {
  const found = `${values.length} values hashing to ${known ?? md5Of(values)}`;
  return expected[0] === found ? undefined : `${found} instead of ${shown(expected[0])}`;
}

function valuesFault(expected: readonly string[], values: readonly string[]): string | undefined {
  const length = Math.max(expected.length, values.length);
  for (let at = 0; at < length; at++) {
    if (expected[at] !== values[at]) return `value ${at + 1} is ${shown(values[at])} instead of ${shown(expected[at])}`;
  }
  return undefined;
}

const shownCharsMax = 80;
const shown = (value: string | undefined): string =>
  value === undefined
    ? 'nothing'
    : JSON.stringify(value.length > shownCharsMax ? `${value.slice(0, shownCharsMax)}…` : value);
