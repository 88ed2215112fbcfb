import type { RepoPath } from '../core/ids.ts';
import { decodeFlag, decodeMarksOf, encodeFlag, withMark } from '../format/contention.ts';
import type { FlagSignal } from '../core/event.ts';
import type { ConflictEntry, LandingEntry, Place } from '../format/entry.ts';
import { headKey } from '../format/keys.ts';
import { isSameActor } from '../core/actor.ts';
import type { Author } from '../core/intent.ts';
import type { LogReader } from '../log/log-reader.ts';
import { megafileBytesMin, type SignalPolicy } from '../rules/signals.ts';
import type { BatchWriter } from './batch-writer.ts';
import type { PreparedEdit } from './prepared.ts';

const systemAuthor = { name: 'mound', kind: 'system' } as const;
/** Where a NUL is looked for, to tell a binary. */
const headBytes = 8 * 1024;

interface Frozen {
  readonly branchId: number;
  readonly time: number;
  readonly pathId: number;
  readonly reason: string;
}

/**
 * Files that grow too large, and those that many change at once: noticed where
 * they land, in the same transaction. What it needs of the past stands in
 * `flags` and `contention`, so that each process comes to the same.
 */
export class SignalWatch {
  private readonly reader: LogReader;
  private readonly writer: BatchWriter;
  private readonly policy: () => SignalPolicy;
  /** What was known of freezes in this batch is out of date. */
  hasFrozen = false;

  constructor(reader: LogReader, writer: BatchWriter, policy: () => SignalPolicy) {
    this.reader = reader;
    this.writer = writer;
    this.policy = policy;
  }

  /** After a landing. Imported history is no work that anybody could do otherwise. */
  landed(entry: LandingEntry, edits: readonly PreparedEdit[]): void {
    if (entry.gitRaw !== undefined) return;
    for (const { path, content, lines } of edits) {
      if (content !== undefined && content.length >= megafileBytesMin) this.grown(entry, path, content, lines ?? 0);
    }
    for (const { pathId } of entry.merged) this.contended(entry, pathId);
  }

  conflicted(entry: ConflictEntry): void {
    for (const path of new Set(entry.paths.map((row) => row.path as RepoPath))) {
      this.contended(entry, this.writer.pathId(path));
    }
  }

  private grown(entry: LandingEntry, path: RepoPath, content: Buffer, lines: number): void {
    const { megafile } = this.policy();
    if (megafile === null || content.subarray(0, headBytes).includes(0)) return;
    const pathId = this.writer.pathId(path);
    if (content.length > megafile.bytes) {
      this.flag(entry, pathId, { measure: 'bytes', value: content.length, bound: megafile.bytes });
    } else if (lines > megafile.lines) {
      this.flag(entry, pathId, { measure: 'lines', value: lines, bound: megafile.lines });
    }
  }

  private contended(entry: LandingEntry | ConflictEntry, pathId: number): void {
    const { store } = this.reader;
    const key = headKey(entry.branchId, pathId);
    const row = withMark(store.tables.contention.getBinary(key), entry);
    store.put('contention', key, row);
    const { contention } = this.policy();
    if (contention === null) return;
    const marks = decodeMarksOf(row).filter(({ time }) => time > entry.time - contention.windowMs);
    const authors = new Set(marks.map(({ authorId }) => authorId)).size;
    if (marks.length >= contention.intents) {
      this.flag(entry, pathId, { measure: 'contention', value: marks.length, bound: contention.intents });
    } else if (authors >= contention.authors) {
      this.flag(entry, pathId, { measure: 'authors', value: authors, bound: contention.authors });
    }
  }

  private flag({ branchId, time }: LandingEntry | ConflictEntry, pathId: number, signal: FlagSignal): void {
    const { store } = this.reader;
    const key = headKey(branchId, pathId);
    const known = store.tables.flags.getBinary(key);
    if (known !== undefined && time - decodeFlag(known).time < this.policy().flagAgainMs) return;
    const seq = this.writer.append({
      kind: 'flag',
      time,
      branchId,
      authorId: this.writer.authorId(systemAuthor),
      path: this.reader.pathOf(pathId),
      reason: reasonOf(signal),
      signal,
    });
    store.put('flags', key, encodeFlag({ seq, time }));
    this.freeze({ branchId, time, pathId, reason: reasonOf(signal) });
  }

  /** By policy a flag is a freeze, until the file is split or its time is over. */
  private freeze({ branchId, time, pathId, reason }: Frozen): void {
    const { freeze } = this.policy();
    if (freeze === null || this.writer.marks.isFrozen(branchId, pathId)) return;
    const authorId = this.writer.authorId(systemAuthor);
    const path = this.reader.pathOf(pathId);
    const bounds = { owner: freeze.owner, until: Math.ceil(time + freeze.ms) };
    this.writer.marks.freeze({ branchId, time, authorId, path, reason, ...bounds });
    this.hasFrozen = true;
  }

  /** Of the paths that came to what an intent wanted by another's hand: those that another agent brought there. */
  piledOn(author: Author, paths: readonly { readonly path: RepoPath; readonly at: Place }[]): typeof paths {
    if (paths.length === 0 || !this.policy().pileOn) return [];
    return paths.filter(({ at }) => {
      const by = at.seq === 0 ? undefined : this.reader.author(this.reader.landing(at.seq).authorId);
      return by !== undefined && !isSameActor(by, author);
    });
  }
}

function reasonOf({ measure, value, bound }: FlagSignal): string {
  switch (measure) {
    case 'bytes':
      return `${value} bytes, over ${bound}`;
    case 'lines':
      return `${value} lines, over ${bound}`;
    case 'contention':
      return `${value} intents found it changed under them of late`;
    case 'authors':
      return `intents of ${value} authors found it changed under them of late`;
  }
}
