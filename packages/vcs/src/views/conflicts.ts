import { MoundError } from '../core/errors.ts';
import { conflictIdOf, seqOfId, type RepoPath, type Seq } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import { nowhere, type ConflictEntry, type ConflictPathRow, type Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import { seqKey, seqOfKey } from '../format/keys.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { decodeKept } from '../land/kept.ts';
import type { LogReader } from '../log/log-reader.ts';
import { mergeFile, type FileState, type MergeInput } from '../merge/index.ts';
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

  /** Authors of the incoming and of the current sides, each once. */
  authorsOfSides({ entry, kept }: OpenConflict): Author[] {
    const current = entry.paths
      .filter((row) => row.current.seq !== 0)
      .map((row) => this.reader.author(this.reader.landing(row.current.seq).authorId));
    const byKey = new Map([kept.author, ...current].map((author) => [JSON.stringify(author), author]));
    return [...byKey.values()];
  }

  listOpen(): ConflictView[] {
    const open: ConflictView[] = [];
    for (const { key, value } of this.reader.store.tables.conflicts.getRange({})) {
      if (value.readUIntBE(0, 6) === 0) open.push(this.view(this.get(conflictIdOf(seqOfKey(key)))));
    }
    return open;
  }

  countOpen(): number {
    let count = 0;
    for (const { value } of this.reader.store.tables.conflicts.getRange({})) if (value.readUIntBE(0, 6) === 0) count++;
    return count;
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
      paths: this.rowsAsOf({ entry, kept, closedBy }, asOf).map((row) => this.pathView(entry, row, kept, asOf)),
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

  /** The recorded paths, and those of the kept intent that would have merged then but do not as of `asOf`. */
  private rowsAsOf({ entry, kept, closedBy }: OpenConflict, asOf: number): ConflictPathRow[] {
    if (closedBy !== 0 || asOf === entry.comparedAt) return [...entry.paths];
    const recorded = new Set(entry.paths.flatMap((row) => [row.path, row.askedPath]));
    const grown = kept.edits.flatMap((edit): ConflictPathRow[] => {
      // A move is judged where it leads.
      const isSource = edit.kind === 'delete' && edit.movedTo !== undefined;
      if (recorded.has(edit.path) || isSource || edit.expect.kind === 'any') return [];
      const seen = edit.expect.kind === 'version' ? edit.expect.seq : 0;
      const row = {
        path: edit.path,
        askedPath: edit.path,
        base: this.headAsOf(entry.branchId, edit.path, seen),
        current: this.headAsOf(entry.branchId, edit.path, asOf),
      };
      // Not stale: it lands as it is.
      if (row.base.seq === row.current.seq && row.base.index === row.current.index) return [];
      const [base, current] = [stateOf(this.side(row.base)), stateOf(this.side(row.current))];
      const incoming = stateOf(this.incoming({ ...row, reason: '', driver: '' }, kept, entry.branchId));
      const merged = mergeFile({ path: edit.path, base, current, incoming });
      return merged.kind === 'conflict' ? [{ ...row, reason: merged.reason, driver: merged.driver }] : [];
    });
    return [...entry.paths, ...grown];
  }

  private pathView(entry: ConflictEntry, row: ConflictPathRow, kept: AdmittedIntent, asOf: number): ConflictPath {
    const path = row.path as RepoPath;
    const base = this.side(row.base);
    // The current side of a moved file stands elsewhere; it stays as it was compared.
    const isElsewhere = row.reason.startsWith('move/');
    const current = this.side(isElsewhere ? row.current : this.headAsOf(entry.branchId, path, asOf));
    const incoming = this.incoming(row, kept, entry.branchId);
    const { reason, driver } = row;
    let found: readonly Hunk[] | undefined;
    return {
      path,
      reason,
      driver,
      base,
      current,
      incoming,
      // Merging costs more than all else here, and many readers want the sides alone.
      get hunks() {
        found ??= hunksOf({ path, base: stateOf(base), current: stateOf(current), incoming: stateOf(incoming) });
        return found;
      },
    };
  }

  private headAsOf(branchId: number, path: RepoPath, asOf: number): Place {
    const pathId = this.reader.getPathId(path);
    const head = pathId === undefined ? undefined : this.reader.head(branchId, pathId);
    return (head && this.reader.headAsOf(head, asOf)?.place) ?? nowhere;
  }

  private side(place: Place): ConflictSide {
    if (place.seq === 0) return absentSide;
    const { blob, mode } = this.reader.change(place);
    if (blob === undefined) return { ...absentSide, version: place.seq };
    return { version: place.seq, blob, mode, content: Buffer.from(this.reader.content(place)) };
  }

  private incoming(row: ConflictPathRow, kept: AdmittedIntent, branchId: number): ConflictSide {
    const edit = kept.edits.find((candidate) => candidate.path === row.askedPath);
    if (edit === undefined || edit.kind === 'delete') return absentSide;
    const from =
      edit.kind === 'put' && edit.movedFrom !== undefined ? this.sourceOf(kept, edit.movedFrom, branchId) : undefined;
    const base = from ?? this.side(row.base);
    if (edit.kind === 'chmod') return { ...base, version: 0, mode: edit.mode };
    const content = edit.content ?? base.content;
    if (content === undefined) return absentSide;
    return { version: 0, blob: blobIdOf(content), mode: edit.mode ?? base.mode ?? 'file', content };
  }

  /** What a moved path held where the move was based. */
  private sourceOf(kept: AdmittedIntent, path: RepoPath, branchId: number): ConflictSide | undefined {
    const source = kept.edits.find((candidate) => candidate.path === path);
    return source?.expect.kind === 'version' ? this.side(this.headAsOf(branchId, path, source.expect.seq)) : undefined;
  }
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
