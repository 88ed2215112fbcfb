/** `skipif NAME` and `onlyif NAME` before a record. */
export interface Condition {
  readonly kind: 'skipif' | 'onlyif';
  /** Compared without case. */
  readonly engine: string;
}

export const sorts = ['nosort', 'rowsort', 'valuesort'] as const;
export type Sort = (typeof sorts)[number];

interface Head {
  /** Of the record's own first line, from 1. */
  readonly line: number;
  readonly conditions: readonly Condition[];
}

export interface StatementRecord extends Head {
  readonly kind: 'statement';
  readonly sql: string;
  /** `ok` or `error`. With any other word it is run and counts as an error. */
  readonly expect: string;
}

export interface QueryRecord extends Head {
  readonly kind: 'query';
  readonly sql: string;
  /** One letter a column: T text, I integer, R real. */
  readonly types: string;
  readonly sort: Sort;
  /** Results under one label must be equal; cut to 20 characters. */
  readonly label: string | undefined;
  /** Lines as they stand: values, or one line `N values hashing to MD5`. */
  readonly expected: readonly string[];
}

/**
 * One record of a test file.
 * - `halt` ends the file; `hash-threshold` says from how many values on a result is hashed.
 * - `malformed` is dropped; where its type is unknown, nothing behind it can be trusted and it ends the file.
 */
export type TestRecord =
  | StatementRecord
  | QueryRecord
  | (Head & { readonly kind: 'halt' })
  | (Head & { readonly kind: 'hash-threshold'; readonly threshold: number })
  | (Head & { readonly kind: 'malformed'; readonly reason: string; readonly endsFile: boolean });

/** Whether nothing behind a record is read, where its conditions do not leave it out. */
export const endsFile = (record: TestRecord): boolean =>
  record.kind === 'halt' || (record.kind === 'malformed' && record.endsFile);

/** Whether a record's conditions leave it out for an engine: any that says so is enough. */
export function isSkipped(conditions: readonly Condition[], engine: string): boolean {
  const name = engine.toLowerCase();
  return conditions.some((condition) => (condition.engine.toLowerCase() === name) === (condition.kind === 'skipif'));
}
