import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

import type { FileScore } from './score.ts';

const kind = 'sqllogictest-journal';
const version = 1;

/** What makes results comparable: others are not gone on with. */
export interface JournalHead {
  readonly engine: string;
  readonly dialect: string;
  readonly recordSeconds: number;
}

interface Row {
  readonly sha256: string;
  readonly score: FileScore;
}

/**
 * Files that are done, a line each, so that a run that was interrupted goes on
 * where it was. A last line that was cut off counts as not written.
 */
export class Journal {
  private readonly path: string;
  private readonly done = new Map<string, Row>();

  private constructor(path: string, rows: readonly Row[]) {
    this.path = path;
    for (const row of rows) this.done.set(row.score.path, row);
  }

  /** Begins a journal or goes on with it; a string says why that cannot be. */
  static open(path: string, head: JournalHead): Journal | string {
    const first = JSON.stringify({ kind, version, ...head });
    if (!existsSync(path)) {
      writeFileSync(path, `${first}\n`);
      return new Journal(path, []);
    }
    const lines = readFileSync(path, 'utf8').split('\n');
    const torn = lines.pop() ?? '';
    const found = lines.shift();
    if (found === undefined) return `${path} is no journal of this program`;
    if (found !== first) return faultOfHead(path, found, head);
    const rows: Row[] = [];
    for (const line of lines) {
      const row = parseRow(line);
      if (row === undefined) return `${path} has a line that cannot be read: ${line.slice(0, 60)}`;
      rows.push(row);
    }
    if (torn !== '') writeFileSync(path, `${[first, ...lines].join('\n')}\n`);
    return new Journal(path, rows);
  }

  /** The score of a file with these contents, if it is done. */
  find(path: string, sha256: string): FileScore | undefined {
    const row = this.done.get(path);
    return row?.sha256 === sha256 ? row.score : undefined;
  }

  add(score: FileScore, sha256: string): void {
    appendFileSync(this.path, `${JSON.stringify({ sha256, score } satisfies Row)}\n`);
  }
}

function parseRow(line: string): Row | undefined {
  try {
    const row = JSON.parse(line) as Partial<Row>;
    return typeof row.sha256 === 'string' && typeof row.score?.path === 'string' ? (row as Row) : undefined;
  } catch {
    return undefined;
  }
}

function faultOfHead(path: string, line: string, head: JournalHead): string {
  let found: Partial<JournalHead> & { readonly kind?: unknown; readonly version?: unknown };
  try {
    found = JSON.parse(line) as typeof found;
  } catch {
    return `${path} is no journal of this program`;
  }
  if (found.kind !== kind) return `${path} is no journal of this program`;
  if (found.version !== version)
    return `${path} has journal version ${String(found.version)}; this program reads ${version}`;
  const other = (Object.keys(head) as (keyof JournalHead)[]).find((key) => found[key] !== head[key]);
  return `${path} is of a run with ${other ?? 'head'} ${String(other && found[other])}, not ${String(other && head[other])}; name another file`;
}
