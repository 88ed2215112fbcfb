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

const isBlank = (text: string): boolean => text.trim() === '';
const tokensOf = (text: string): string[] => text.trim().split(/\s+/).slice(0, tokensMax);

/**
 * Reads a test file in the sqllogictest format, as the suite's reference runner
 * does. Total: what cannot be read becomes a `malformed` record.
 * Source: the suite's own description and runner (sqlite.org/sqllogictest).
 */
export function* parseTest(text: string): Generator<TestRecord> {
  const lines = new Lines(text);
  let conditions: Condition[] = [];
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    if (isBlank(line.text)) continue;
    const [type = '', ...rest] = tokensOf(line.text);
    if (type === 'skipif' || type === 'onlyif') {
      conditions.push({ kind: type, engine: rest[0] ?? '' });
      continue;
    }
    const record = recordOf(lines, { line: line.number, conditions }, type, rest);
    conditions = [];
    yield record;
    if (record.kind === 'malformed' && record.endsFile) return;
  }
}

type Head = Pick<TestRecord, 'line' | 'conditions'>;

function recordOf(lines: Lines, head: Head, type: string, [first = '', second = '', third]: string[]): TestRecord {
  switch (type) {
    case 'statement': {
      const { sql } = readSql(lines, false);
      if (first === 'ok' || first === 'error') return { kind: 'statement', ...head, sql, expect: first };
      return malformed(head, `'statement ${first}' is neither ok nor error`);
    }
    case 'query':
      return queryOf(lines, head, first, second, third);
    case 'halt':
      return { kind: 'halt', ...head };
    case 'hash-threshold': {
      const threshold = Number.parseInt(first, 10);
      if (Number.isSafeInteger(threshold) && threshold >= 0) return { kind: 'hash-threshold', ...head, threshold };
      return malformed(head, `'hash-threshold ${first}' is no count`);
    }
    default:
      return { kind: 'malformed', ...head, reason: `'${type}' is no type of record`, endsFile: true };
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
  if (types === '' || odd)
    return malformed(head, odd ? `'${odd[0]}' is no type of column` : 'a query has no column types');
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

const malformed = (head: Head, reason: string): TestRecord => ({ kind: 'malformed', ...head, reason, endsFile: false });

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
