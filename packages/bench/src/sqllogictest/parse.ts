import { sorts, type Condition, type QueryRecord, type Sort, type TestRecord } from './record.ts';

const labelCharsMax = 20;
const tokensMax = 4;

interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/**
 * Lines of a file without its comments: a line whose first character is `#`
 * stands nowhere, not even within SQL or expected values. A carriage return at
 * the end of a line belongs to its end.
 */
class Lines {
  private readonly text: string;
  private at = 0;
  private number = 0;

  constructor(text: string) {
    this.text = text;
  }

  next(): Line | undefined {
    while (this.at < this.text.length) {
      const end = this.text.indexOf('\n', this.at);
      const stop = end < 0 ? this.text.length : end;
      const from = this.at;
      this.at = stop + 1;
      this.number++;
      if (this.text.charCodeAt(from) === hash && stop > from) continue;
      const isReturn = stop > from && this.text.charCodeAt(stop - 1) === carriageReturn;
      return { text: this.text.slice(from, isReturn ? stop - 1 : stop), number: this.number };
    }
    return undefined;
  }
}

const hash = 0x23;
const carriageReturn = 0x0d;
const space = 0x20;
const byteOrderMark = '\uFEFF';

// ASCII's own: a no-break space or a byte order mark is text.
const isBlank = (text: string): boolean => text === '' || (text.charCodeAt(0) <= space && !/[^ \t\v\f\r]/.test(text));
const tokensOf = (text: string): string[] => (text.match(/[^ \t\v\f\r]+/g) ?? []).slice(0, tokensMax);

/**
 * Reads a test file in the sqllogictest format, as the suite's reference runner
 * does. Total: what cannot be read becomes a `malformed` record.
 * Source: the suite's own description and runner (sqlite.org/sqllogictest).
 */
export function* parseTest(text: string): Generator<TestRecord> {
  const lines = new Lines(text);
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    if (!isBlank(line.text)) yield recordAt(lines, line);
  }
}

/** The record that begins with a line, of which all is read up to the blank line behind it. */
function recordAt(lines: Lines, first: Line): TestRecord {
  const conditions: Condition[] = [];
  let line = first;
  for (;;) {
    const [type = '', ...rest] = tokensOf(line.text);
    if (type !== 'skipif' && type !== 'onlyif') return recordOf(lines, { line: line.number, conditions }, type, rest);
    conditions.push({ kind: type, engine: rest[0] ?? '' });
    const next = lines.next();
    // A condition stands right before its record: a blank line between ends the file, unless it is left out.
    if (next === undefined || isBlank(next.text))
      return malformed({ line: line.number, conditions }, `nothing stands behind '${type}'`, true);
    line = next;
  }
}

type Head = Pick<TestRecord, 'line' | 'conditions'>;

function recordOf(lines: Lines, head: Head, type: string, [first = '', second = '', third]: string[]): TestRecord {
  switch (type) {
    case 'statement': {
      const { sql } = readSql(lines, false);
      return { kind: 'statement', ...head, sql, expect: first };
    }
    case 'query':
      return queryOf(lines, head, first, second, third);
    case 'halt':
      skipRest(lines);
      return { kind: 'halt', ...head };
    case 'hash-threshold': {
      // Right at the file's beginning the reference runner takes the next line for a record's first.
      if (head.line > 1) skipRest(lines);
      const threshold = Number.parseInt(first, 10);
      if (Number.isSafeInteger(threshold) && threshold >= 0) return { kind: 'hash-threshold', ...head, threshold };
      return malformed(head, `'hash-threshold ${first}' is no count`);
    }
    default:
      skipRest(lines);
      if (type.startsWith(byteOrderMark)) return malformed(head, 'a byte order mark stands before the record', true);
      return malformed(head, `'${type}' is no type of record`, true);
  }
}

function queryOf(
  lines: Lines,
  head: Head,
  types: string,
  sort: string,
  label: string | undefined,
): QueryRecord | TestRecord {
  const { sql, hasResult } = readSql(lines, true);
  const expected = hasResult ? readExpected(lines) : [];
  const odd = /[^TIR]/.exec(types);
  if (types === '') return malformed(head, 'a query has no column types', true);
  if (odd) return malformed(head, `'${odd[0]}' is no type of column`);
  const known = sort === '' ? 'nosort' : sorts.find((name) => name === sort);
  if (known === undefined) return malformed(head, `'${sort}' is no way to sort`);
  return {
    kind: 'query',
    ...head,
    sql,
    types,
    sort: known satisfies Sort,
    label: label?.slice(0, labelCharsMax),
    expected,
  };
}

const malformed = (head: Head, reason: string, endsFile = false): TestRecord => ({
  kind: 'malformed',
  ...head,
  reason,
  endsFile,
});

/** Lines behind a record of one line belong to it, and say nothing. */
function skipRest(lines: Lines): void {
  for (let line = lines.next(); line !== undefined && !isBlank(line.text); line = lines.next());
}

/** Up to a blank line, or for a query to the line that begins its result. */
function readSql(lines: Lines, isQuery: boolean): { sql: string; hasResult: boolean } {
  const sql: string[] = [];
  for (let line = lines.next(); line !== undefined && !isBlank(line.text); line = lines.next()) {
    if (isQuery && line.text === '----') return { sql: sql.join('\n'), hasResult: true };
    sql.push(line.text);
  }
  return { sql: sql.join('\n'), hasResult: false };
}

function readExpected(lines: Lines): string[] {
  const expected: string[] = [];
  for (let line = lines.next(); line !== undefined && !isBlank(line.text); line = lines.next())
    expected.push(line.text);
  return expected;
}
