import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

/** What makes the rows of a journal comparable: one with another head is not gone on with. */
export type JournalHead = Readonly<Record<string, string | number>>;

export interface JournalForm<Row> {
  /** In its first line, with the version. */
  readonly kind: string;
  readonly version: number;
  /** undefined where a line's value is no row. */
  readonly rowOf: (value: unknown) => Row | undefined;
}

/**
 * What is done, a line each, so that a run that was killed goes on where it was.
 * A last line that was cut off counts as not written.
 */
export class LineJournal<Row> {
  readonly #path: string;
  /** Those that were there when it was opened. */
  readonly rows: readonly Row[];

  private constructor(path: string, rows: readonly Row[]) {
    this.#path = path;
    this.rows = rows;
  }

  /** Begins a journal or goes on with it; a string says why that cannot be. */
  static open<Row>(
    path: string,
    { kind, version, rowOf }: JournalForm<Row>,
    head: JournalHead,
  ): LineJournal<Row> | string {
    const first = JSON.stringify({ kind, version, ...head });
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [''];
    const torn = lines.pop() ?? '';
    const found = lines.shift();
    if (found === undefined) {
      // Nothing but the beginning of the first line: killed while it was begun.
      if (!first.startsWith(torn)) return `${path} is no journal of this program`;
      writeFileSync(path, `${first}\n`);
      return new LineJournal<Row>(path, []);
    }
    if (found !== first) return faultOfHead(path, found, { kind, version, ...head });
    const rows: Row[] = [];
    for (const line of lines) {
      const row = rowOf(valueOf(line));
      if (row === undefined) return `${path} has a line that cannot be read: ${line.slice(0, 60)}`;
      rows.push(row);
    }
    if (torn !== '') writeFileSync(path, `${[first, ...lines].join('\n')}\n`);
    return new LineJournal(path, rows);
  }

  add(row: Row): void {
    appendFileSync(this.#path, `${JSON.stringify(row)}\n`);
  }
}

function valueOf(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function faultOfHead(path: string, line: string, head: JournalHead): string {
  const found = (valueOf(line) ?? {}) as JournalHead;
  if (found['kind'] !== head['kind']) return `${path} is no journal of this program`;
  if (found['version'] !== head['version'])
    return `${path} has journal version ${String(found['version'])}; this program reads ${head['version']}`;
  const other = Object.keys(head).find((key) => found[key] !== head[key]);
  return `${path} is of a run with ${other ?? 'head'} ${String(other && found[other])}, not ${String(other && head[other])}; name another file`;
}
