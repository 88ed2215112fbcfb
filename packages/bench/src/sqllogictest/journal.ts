import { LineJournal, type JournalForm } from '../harness/line-journal.ts';
import type { FileScore } from './score.ts';

/** What makes results comparable: others are not gone on with. */
export interface ScoreJournalHead {
  readonly engine: string;
  readonly dialect: string;
  readonly recordSeconds: number;
}

interface Row {
  readonly sha256: string;
  readonly score: FileScore;
}

const form: JournalForm<Row> = {
  kind: 'sqllogictest-journal',
  // 2: odd files are read otherwise.
  version: 2,
  rowOf: (value) => {
    const row = value as Partial<Row> | null | undefined;
    return typeof row?.sha256 === 'string' && typeof row.score?.path === 'string' ? (row as Row) : undefined;
  },
};

/** Files that are done. */
export class Journal {
  readonly #lines: LineJournal<Row>;
  readonly #done: ReadonlyMap<string, Row>;

  private constructor(lines: LineJournal<Row>) {
    this.#lines = lines;
    this.#done = new Map(lines.rows.map((row) => [row.score.path, row]));
  }

  /** Begins a journal or goes on with it; a string says why that cannot be. */
  static open(path: string, head: ScoreJournalHead): Journal | string {
    const lines = LineJournal.open(path, form, { ...head });
    return typeof lines === 'string' ? lines : new Journal(lines);
  }

  /** The score of a file with these contents, if it is done. */
  find(path: string, sha256: string): FileScore | undefined {
    const row = this.#done.get(path);
    return row?.sha256 === sha256 ? row.score : undefined;
  }

  add(score: FileScore, sha256: string): void {
    this.#lines.add({ sha256, score });
  }
}
