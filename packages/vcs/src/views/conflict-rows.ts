import type { RepoPath } from '../core/ids.ts';
import type { DriverNote } from '../core/outcome.ts';
import { nowhere, type ConflictEntry, type Place } from '../format/entry.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';
import type { LogReader } from '../log/log-reader.ts';
import { contentOrNotice } from '../log/purged.ts';
import { mergeFile, undriven, type FileState, type LineRange } from '../merge/index.ts';
import { treeClash } from './tree-clash.ts';

/** One path of a conflict as of a seq: places of what stands there and of what the intent was based on. */
export interface ConflictRow {
  /** Where a result belongs. */
  readonly path: RepoPath;
  /** Path that the intent named, where its edit followed a move. */
  readonly askedPath: RepoPath;
  readonly reason: string;
  /** As recorded; of a path that came to differ since, that of its lines. */
  readonly note: DriverNote;
  readonly refused: LineRange | undefined;
  readonly base: Place;
  readonly current: Place;
  readonly incoming: FileState | null;
}

type Put = Edit & { readonly kind: 'put' };

/** Moves of one path that an edit follows at most. */
const followMax = 8;

const isSamePlace = (a: Place, b: Place): boolean => a.seq === b.seq && a.index === b.index;

/**
 * The paths of a kept intent that do not merge as of a seq: those that were
 * recorded, and those that have come to differ since. Nothing that a resolution
 * would overwrite or delete stays unseen, and nothing that keeps the intent from landing: a path that does not fit
 * the tree any more is shown as well; an edited source of a move is shown
 * where the move leads, or beside it where that place is taken as well.
 */
export class ConflictRows {
  private readonly reader: LogReader;
  private readonly entry: ConflictEntry;
  private readonly kept: AdmittedIntent;
  private readonly asOf: number;

  constructor(reader: LogReader, entry: ConflictEntry, kept: AdmittedIntent, asOf: number) {
    this.reader = reader;
    this.entry = entry;
    this.kept = kept;
    this.asOf = asOf;
  }

  rows(): ConflictRow[] {
    return this.kept.edits.flatMap((edit) => {
      if (edit.kind === 'delete' && this.destinationOf(edit) !== undefined) return [];
      const source = edit.kind === 'put' ? this.sourceOf(edit) : undefined;
      return source ? this.moveRows(edit as Put, source) : this.plainRows(edit);
    });
  }

  /** A live version at a path as of a seq; nowhere where it is absent. */
  liveAt(path: RepoPath, seq: number): Place {
    const place = this.placeAt(path, seq);
    return place.seq === 0 || this.reader.version(place).mode === undefined ? nowhere : place;
  }

  /** Whether a file is at a path as of the seq that the kept intent does not take away. */
  private readonly staysAt = (path: RepoPath): boolean =>
    this.liveAt(path, this.asOf).seq !== 0 &&
    !this.kept.edits.some((edit) => edit.path === path && edit.kind === 'delete');

  private placeAt(path: RepoPath, seq: number): Place {
    const pathId = this.reader.getPathId(path);
    const head = pathId === undefined ? undefined : this.reader.head(this.entry.branchId, pathId);
    return (head && this.reader.headAsOf(head, seq)?.place) ?? nowhere;
  }

  private stateAt(place: Place): FileState | null {
    const mode = place.seq === 0 ? undefined : this.reader.version(place).mode;
    return mode === undefined ? null : { content: contentOrNotice(this.reader, place), mode };
  }

  private baseOf({ path, expect }: Edit): Place {
    return expect.kind === 'version' ? this.liveAt(path, expect.seq) : nowhere;
  }

  private sourceOf(edit: Put): Edit | undefined {
    return this.kept.edits.find((other) => other.path === edit.movedFrom);
  }

  private destinationOf(edit: Edit & { readonly kind: 'delete' }): Edit | undefined {
    return this.kept.edits.find((other) => other.kind === 'put' && other.movedFrom === edit.path);
  }

  /** Where a path that was moved away stands as of the seq; itself where it was not, or is edited there as well. */
  private follow(path: RepoPath): RepoPath {
    let at = path;
    for (let step = 0; step < followMax && this.liveAt(at, this.asOf).seq === 0; step++) {
      const place = this.placeAt(at, this.asOf);
      const moved = place.seq === 0 ? 0 : this.reader.change(place).movedPathId;
      if (moved === 0) break;
      at = this.reader.pathOf(moved);
    }
    const isEdited = at !== path && this.kept.edits.some((edit) => edit.path === at);
    return isEdited || this.liveAt(at, this.asOf).seq === 0 ? path : at;
  }

  private incomingOf(edit: Edit, base: FileState | null): FileState | null {
    if (edit.kind === 'delete') return null;
    if (edit.kind === 'chmod') return base && { content: base.content, mode: edit.mode };
    const content = edit.content ?? base?.content;
    return content === undefined ? null : { content, mode: edit.mode ?? base?.mode ?? 'file' };
  }

  private plainRows(edit: Edit): ConflictRow[] {
    const base = this.baseOf(edit);
    const path = base.seq === 0 ? edit.path : this.follow(edit.path);
    const current = this.liveAt(path, this.asOf);
    const incoming = this.incomingOf(edit, this.stateAt(base));
    const isForced = edit.expect.kind === 'any';
    return this.row(edit.path, { path, base, current, incoming }, isForced || isSamePlace(base, current));
  }

  private moveRows(edit: Put, source: Edit): ConflictRow[] {
    const sourceBase = this.baseOf(source);
    const sourceNow = this.liveAt(source.path, this.asOf);
    const base = this.baseOf(edit);
    const taken = this.liveAt(edit.path, this.asOf);
    const incoming = this.incomingOf(edit, this.stateAt(sourceBase));
    const isSourceChanged = sourceNow.seq !== 0 && !isSamePlace(sourceBase, sourceNow);
    const isTaken = taken.seq !== 0 && !isSamePlace(base, taken);
    if (!isTaken) {
      // The newer text of the source is what the moved file has to be merged with.
      const sides = { path: edit.path, base: sourceBase, current: sourceNow, incoming };
      return this.row(edit.path, sides, sourceNow.seq !== 0 && !isSourceChanged);
    }
    const rows = this.row(edit.path, { path: edit.path, base, current: taken, incoming }, false);
    if (!isSourceChanged) return rows;
    const left = { path: source.path, base: sourceBase, current: sourceNow, incoming: null };
    return [...rows, ...this.row(source.path, left, false)];
  }

  /** A row where the path was recorded, or where it no longer merges. */
  private row(
    askedPath: RepoPath,
    sides: Pick<ConflictRow, 'path' | 'base' | 'current' | 'incoming'>,
    isSettled: boolean,
  ): ConflictRow[] {
    const recorded = this.entry.paths.find((row) => row.askedPath === askedPath);
    const { path, base, current, incoming } = sides;
    const isNew = current.seq === 0 && incoming !== null;
    const clash = isNew ? treeClash(this.reader, path, this.staysAt) : undefined;
    if (clash !== undefined) return [{ askedPath, reason: clash, note: undriven, refused: undefined, ...sides }];
    if (isSettled && !recorded) return [];
    const merged = mergeFile({ path, base: this.stateAt(base), current: this.stateAt(current), incoming });
    if (merged.kind === 'clean' && !recorded) return [];
    const reason = recorded?.reason ?? (merged.kind === 'conflict' ? merged.reason : 'content');
    return [{ askedPath, reason, note: recorded ?? merged, refused: recorded?.refused, ...sides }];
  }
}
