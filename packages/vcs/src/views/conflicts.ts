import { MoundError } from '../core/errors.ts';
import { conflictIdOf, seqOfId, type RepoPath, type Seq } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import type { ConflictEntry, Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import { seqKey, seqOfKey } from '../format/keys.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { decodeKept } from '../land/kept.ts';
import type { LogReader } from '../log/log-reader.ts';
import { contentOrNotice } from '../log/purged.ts';
import { mergeFile, type FileState, type MergeInput } from '../merge/index.ts';
import { ConflictRows, type ConflictRow } from './conflict-rows.ts';
import type { ConflictPath, ConflictSide, ConflictView, Hunk } from './types.ts';

const absentSide: ConflictSide = { version: 0, blob: undefined, mode: undefined, content: undefined };

/** A conflict with its entry and the intent that it keeps. */
export interface OpenConflict {
  readonly entry: ConflictEntry;
  readonly kept: AdmittedIntent;
  /** Seq of the entry that ended it; 0: open. */
  readonly closedBy: number;
}

export class Conflicts {
  private readonly reader: LogReader;

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  /** Errors: `no-such-conflict`. */
  get(id: string): OpenConflict {
    const seq = seqOfId(id, 'c');
    const entry = seq === undefined ? undefined : this.reader.getEntry(seq);
    if (entry?.kind !== 'conflict') {
      throw new MoundError('no-such-conflict', `there is no conflict '${id}'; 'mound conflicts' lists them`, { id });
    }
    return { entry, kept: keptOf(this.reader, entry), closedBy: this.closedBy(entry.seq) };
  }

  private closedBy(seq: number): number {
    return this.reader.store.tables.conflicts.getBinary(seqKey(seq))?.readUIntBE(0, 6) ?? 0;
  }

  /** Authors of the incoming and of the current sides as of a seq, each once. */
  authorsOfSides({ entry, kept }: OpenConflict, asOf: number): Author[] {
    const current = new ConflictRows(this.reader, entry, kept, asOf)
      .rows()
      .filter((row) => row.current.seq !== 0)
      .map((row) => this.reader.author(this.reader.landing(row.current.seq).authorId));
    const byKey = new Map([kept.author, ...current].map((author) => [JSON.stringify(author), author]));
    return [...byKey.values()];
  }

  listOpen(): ConflictView[] {
    const open: ConflictView[] = [];
    if (this.reader.store.counters.conflictsOpen === 0) return open;
    for (const { key, value } of this.reader.store.tables.conflicts.getRange({})) {
      if (value.readUIntBE(0, 6) === 0) open.push(this.view(this.get(conflictIdOf(seqOfKey(key)))));
    }
    return open;
  }

  /**
   * A conflict with its current sides as of a seq; by default the newest while it is open, so that it can be
   * merged again when a side has moved on.
   */
  view({ entry, kept, closedBy }: OpenConflict, asOf = this.newestSeq(entry, closedBy)): ConflictView {
    return {
      id: conflictIdOf(entry.seq),
      state: closedBy === 0 ? 'open' : 'resolved',
      asOf: asOf as Seq,
      branch: kept.branch,
      author: kept.author,
      message: kept.message,
      ...(kept.task !== undefined && { task: kept.task }),
      ...(kept.operationId !== undefined && { operationId: kept.operationId }),
      time: entry.time,
      paths: new ConflictRows(this.reader, entry, kept, asOf).rows().map((row) => this.pathView(row)),
      ...(closedBy !== 0 && { resolvedAt: closedBy as Seq }),
    };
  }

  /** Whether a conflict can have been looked at as of a seq. */
  isSeen({ entry }: OpenConflict, asOf: number): boolean {
    return Number.isSafeInteger(asOf) && asOf >= entry.comparedAt && asOf <= this.reader.store.counters.lastSeq;
  }

  private newestSeq(entry: ConflictEntry, closedBy: number): number {
    return closedBy === 0 ? this.reader.store.counters.lastSeq : entry.comparedAt;
  }

  /** Paths of the kept intent that a resolution as of a seq replaces by results. */
  askedPaths({ entry, kept }: OpenConflict, asOf: number): RepoPath[] {
    return new ConflictRows(this.reader, entry, kept, asOf).rows().map((row) => row.askedPath);
  }

  isLiveAt({ entry, kept }: OpenConflict, path: RepoPath, asOf: number): boolean {
    return new ConflictRows(this.reader, entry, kept, asOf).liveAt(path, asOf).seq !== 0;
  }

  private pathView(row: ConflictRow): ConflictPath {
    const { path, reason, driver } = row;
    const base = this.side(row.base);
    const current = this.side(row.current);
    let found: readonly Hunk[] | undefined;
    return {
      path,
      reason,
      driver,
      base,
      current,
      incoming: incomingSide(row.incoming),
      // Merging costs more than all else here, and many readers want the sides alone.
      get hunks() {
        found ??= hunksOf({ path, base: stateOf(base), current: stateOf(current), incoming: row.incoming });
        return found;
      },
    };
  }

  private side(place: Place): ConflictSide {
    if (place.seq === 0) return absentSide;
    const { blob, mode } = this.reader.change(place);
    if (blob === undefined) return { ...absentSide, version: place.seq };
    return { version: place.seq, blob, mode, content: contentOrNotice(this.reader, place) };
  }
}

function incomingSide(state: FileState | null): ConflictSide {
  if (state === null) return absentSide;
  return { version: 0, blob: blobIdOf(state.content), mode: state.mode, content: Buffer.from(state.content) };
}

function hunksOf(input: MergeInput): readonly Hunk[] {
  const merged = mergeFile(input);
  return merged.kind === 'conflict' ? merged.hunks : [];
}

export const stateOf = ({ content, mode }: ConflictSide): FileState | null =>
  content === undefined || mode === undefined ? null : { content, mode };

export function keptOf(
  reader: LogReader,
  entry: { readonly seq: number; readonly kept: Uint8Array; readonly keptParts: number },
): AdmittedIntent {
  const bytes = entry.keptParts > 0 ? reader.parts({ seq: entry.seq, index: 0 }, entry.keptParts) : entry.kept;
  return decodeKept(bytes);
}
