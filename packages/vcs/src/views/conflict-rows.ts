import type { RepoPath } from '../core/ids.ts';
import type { DriverNote } from '../core/outcome.ts';
import { nowhere, type ConflictEntry, type Place } from '../format/entry.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';
import { Lineage, type Part } from '../land/lineage.ts';
import type { LogReader } from '../log/log-reader.ts';
import { contentOrNotice, isNotice } from '../log/purged.ts';
import type { Version } from '../log/version.ts';
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
  private readonly lineage: Lineage;

  constructor(reader: LogReader, entry: ConflictEntry, kept: AdmittedIntent, asOf: number) {
    this.reader = reader;
    this.entry = entry;
    this.kept = kept;
    this.asOf = asOf;
    this.lineage = new Lineage(reader, entry.branchId, (path) => this.versionAt(path, asOf));
  }

  rows(): ConflictRow[] {
    const rows = this.kept.edits.flatMap((edit) => {
      const isOfMove = edit.kind === 'delete' && this.destinationOf(edit) !== undefined;
      if (isOfMove || this.isPurged(edit)) return [];
      const source = edit.kind === 'put' ? this.sourceOf(edit) : undefined;
      return source ? this.moveRows(edit as Put, source) : this.plainRows(edit);
    });
    return [...rows, ...this.besideRows(rows)];
  }

  /**
   * What else the intent asks of a path that one of its edits was led to: one result has to hold both. And what a
   * purge took from it: a result has to say what lands instead.
   */
  private besideRows(rows: readonly ConflictRow[]): ConflictRow[] {
    const beside = this.kept.edits.filter(
      (edit) =>
        (this.isPurged(edit) || rows.some(({ path }) => path === edit.path)) &&
        !rows.some(({ askedPath }) => askedPath === edit.path) &&
        !(edit.kind === 'delete' && this.destinationOf(edit) !== undefined),
    );
    return beside.map((edit): ConflictRow => {
      const { path } = edit;
      const base = this.baseOf(edit);
      const incoming = this.incomingOf(edit, this.stateAt(base));
      const current = this.liveAt(path, this.asOf);
      return {
        askedPath: path,
        path,
        reason: this.isPurged(edit) ? 'purged' : 'move/edit',
        note: undriven,
        refused: undefined,
        base,
        current,
        incoming,
      };
    });
  }

  private isPurged(edit: Edit): boolean {
    return edit.kind === 'put' && edit.content !== undefined && isNotice(this.reader, edit.content);
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
    return this.versionAt(path, seq)?.place ?? nowhere;
  }

  private versionAt(path: RepoPath, seq: number): Version | undefined {
    const pathId = this.reader.getPathId(path);
    const head = pathId === undefined ? undefined : this.reader.head(this.entry.branchId, pathId);
    const then = head && this.reader.headAsOf(head, seq);
    return then && this.reader.version(then.place);
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

  private incomingOf(edit: Edit, base: FileState | null): FileState | null {
    if (edit.kind === 'delete') return null;
    if (edit.kind === 'chmod') return base && { content: base.content, mode: edit.mode };
    const content = edit.content ?? base?.content;
    return content === undefined ? null : { content, mode: edit.mode ?? base?.mode ?? 'file' };
  }

  private plainRows(edit: Edit): ConflictRow[] {
    const base = this.baseOf(edit);
    const incoming = this.incomingOf(edit, this.stateAt(base));
    const stays = { path: edit.path, base, current: this.liveAt(edit.path, this.asOf), incoming };
    const isForced = edit.expect.kind === 'any';
    const trace = base.seq === 0 || isForced ? undefined : this.lineage.trace(edit.path, base);
    if (trace?.kind === 'split' && incoming !== null)
      return this.splitRows(edit, this.lineage.parts(trace, base, incoming));
    const isElsewhere = trace?.kind === 'at' && trace.path !== edit.path && trace.head?.mode !== undefined;
    const isEdited = isElsewhere && this.kept.edits.some(({ path }) => path === trace.path);
    const sides =
      isElsewhere && !isEdited ? { ...stays, path: trace.path, current: trace.head?.place ?? nowhere } : stays;
    return this.row(edit.path, sides, isForced || isSamePlace(base, sides.current));
  }

  /** An edit of a file that was split is shown whole where one part of it does not merge. */
  private splitRows(edit: Edit, parts: readonly Part[]): ConflictRow[] {
    const rows = parts.map(({ path, base, incoming, head, isUnplaced }): ConflictRow => {
      const current = head?.mode === undefined ? nowhere : head.place;
      const recorded = this.entry.paths.find((row) => row.askedPath === edit.path && row.path === path);
      const merged = mergeFile({ path, base: this.stateAt(base), current: this.stateAt(current), incoming });
      const found = merged.kind === 'conflict' ? merged.reason : 'split';
      const reason = isUnplaced ? 'split' : (recorded?.reason ?? found);
      const note = recorded ?? merged;
      return { askedPath: edit.path, path, reason, note, refused: recorded?.refused, base, current, incoming };
    });
    const isRecorded = this.entry.paths.some((row) => row.askedPath === edit.path);
    const isOpen = parts.some(({ isUnplaced }) => isUnplaced) || rows.some((row) => !this.isClean(row));
    if (!isRecorded && !isOpen) return [];
    if (rows.length > 0) return rows;
    // Nothing of it is left to do by now; it was recorded all the same.
    const current = this.liveAt(edit.path, this.asOf);
    return this.row(edit.path, { path: edit.path, base: current, current, incoming: this.stateAt(current) }, false);
  }

  private isClean({ path, base, current, incoming }: ConflictRow): boolean {
    return mergeFile({ path, base: this.stateAt(base), current: this.stateAt(current), incoming }).kind === 'clean';
  }

  private moveRows(edit: Put, source: Edit): ConflictRow[] {
    const sourceBase = this.baseOf(source);
    const sourceNow = this.liveAt(source.path, this.asOf);
    const base = this.baseOf(edit);
    const taken = this.liveAt(edit.path, this.asOf);
    const incoming = this.incomingOf(edit, this.stateAt(sourceBase));
    const isSourceChanged = sourceNow.seq !== 0 && !isSamePlace(sourceBase, sourceNow);
    const isTaken = taken.seq !== 0 && !isSamePlace(base, taken);
    const elsewhere = this.movedElsewhere(source, sourceBase);
    if (!isTaken) {
      // The newer text of the source is what the moved file has to be merged with.
      const sides = { path: edit.path, base: sourceBase, current: elsewhere ? nowhere : sourceNow, incoming };
      const rows = this.row(edit.path, sides, elsewhere === undefined && sourceNow.seq !== 0 && !isSourceChanged);
      return [...rows, ...this.elsewhereRows(source, sourceBase, elsewhere)];
    }
    const isSameMove = elsewhere?.path === edit.path;
    const rows = this.row(
      edit.path,
      { path: edit.path, base: isSameMove ? sourceBase : base, current: taken, incoming },
      false,
    );
    if (isSameMove) return rows;
    if (elsewhere !== undefined) return [...rows, ...this.elsewhereRows(source, sourceBase, elsewhere)];
    if (!isSourceChanged) return rows;
    const left = { path: source.path, base: sourceBase, current: sourceNow, incoming: null };
    return [...rows, ...this.row(source.path, left, false)];
  }

  /** Where others moved the source of a move. */
  private movedElsewhere(source: Edit, base: Place): { path: RepoPath; head: Version } | undefined {
    const trace = base.seq === 0 ? undefined : this.lineage.trace(source.path, base);
    const isMoved = trace?.kind === 'at' && trace.path !== source.path && trace.head?.mode !== undefined;
    return isMoved && trace.head !== undefined ? { path: trace.path, head: trace.head } : undefined;
  }

  /** The other name of a file that both sides moved: a result is needed for it as well. */
  private elsewhereRows(
    source: Edit,
    base: Place,
    elsewhere: { path: RepoPath; head: Version } | undefined,
  ): ConflictRow[] {
    if (elsewhere === undefined) return [];
    const { path, head } = elsewhere;
    return [
      {
        askedPath: source.path,
        path,
        reason: 'move/move',
        note: undriven,
        refused: undefined,
        base,
        current: head.place,
        incoming: null,
      },
    ];
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
    if (clash !== undefined) {
      // As recorded it says more closely what stands there.
      const reason = recorded?.reason.endsWith('/directory') === true ? recorded.reason : clash;
      return [{ askedPath, reason, note: undriven, refused: undefined, ...sides }];
    }
    if (isSettled && !recorded) return [];
    const merged = mergeFile({ path, base: this.stateAt(base), current: this.stateAt(current), incoming });
    if (merged.kind === 'clean' && !recorded) return [];
    const reason = recorded?.reason ?? (merged.kind === 'conflict' ? merged.reason : 'content');
    return [{ askedPath, reason, note: recorded ?? merged, refused: recorded?.refused, ...sides }];
  }
}
