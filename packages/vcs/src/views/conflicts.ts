import { MoundError } from '../core/errors.ts';
import { conflictIdOf, parkedIdOf, seqOfId, type BlobId, type RepoPath, type Seq } from '../core/ids.ts';
import type { SideAuthor } from '../core/event.ts';
import type { Author } from '../core/intent.ts';
import type { ConflictEntry, Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import { seqKey, seqOfKey } from '../format/keys.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';
import { unpackAccounts } from '../land/account-codec.ts';
import type { DriverChoice } from '../land/driver-choice.ts';
import { keptOf } from '../land/kept.ts';
import { landingsOfLines, sideAuthorAt, versionsOfSide } from '../land/side-landings.ts';
import { stretchesOf, type Stretch } from '../land/stretches.ts';
import { wouldLand } from '../land/try-again.ts';
import type { LogReader } from '../log/log-reader.ts';
import { contentOrNotice } from '../log/purged.ts';
import {
  conflictHunks,
  conflictKindOf,
  hintOf,
  isText,
  splitLines,
  type ConflictShape,
  type FileState,
  type MergeInput,
} from '../merge/index.ts';
import { ConflictRows, type ConflictRow } from './conflict-rows.ts';
import type { AskedEdit, ConflictPath, ConflictSide, ConflictView, Hunk } from './types.ts';

const noTerms = { lineEnd: undefined, isLastLineEnded: undefined } as const;
const absentSide: ConflictSide = { version: 0, blob: undefined, mode: undefined, content: undefined, ...noTerms };

/** How a text's lines end: of its own, beside what they say. */
function lineTerms(state: FileState): Pick<ConflictSide, 'lineEnd' | 'isLastLineEnded'> {
  if (state.content.length === 0 || !isText(state)) return noTerms;
  const ended = splitLines(state.content).filter((line) => line.endsWith('\n'));
  const crlf = ended.filter((line) => line.endsWith('\r\n')).length;
  const lineEnd = ended.length === 0 ? undefined : crlf === 0 ? 'lf' : crlf === ended.length ? 'crlf' : 'mixed';
  return { lineEnd, isLastLineEnded: state.content.at(-1) === 0x0a };
}

/** A conflict with its entry and the intent that it keeps. */
export interface OpenConflict {
  readonly entry: ConflictEntry;
  readonly kept: AdmittedIntent;
  /** Seq of the entry that ended it; 0: open. */
  readonly closedBy: number;
}

export class Conflicts {
  private readonly reader: LogReader;
  private readonly choice: DriverChoice;

  constructor(reader: LogReader, choice: DriverChoice) {
    this.reader = reader;
    this.choice = choice;
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

  /** Authors of the incoming and of the current sides as of a seq, each once: of every landing since the base. */
  authorsOfSides(open: OpenConflict, asOf: number): Author[] {
    const current = this.rows(open, asOf)
      .flatMap((row) => this.landingsOf(open, row, asOf))
      .map((seq) => this.reader.author(this.reader.landing(seq).authorId));
    const byKey = new Map([open.kept.author, ...current].map((author) => [JSON.stringify(author), author]));
    return [...byKey.values()];
  }

  rows({ entry, kept }: OpenConflict, asOf: number): ConflictRow[] {
    return new ConflictRows(this.reader, entry, kept, asOf).rows();
  }

  /** Seqs of the landings that made the current side what it is, newest first. */
  private landingsOf(open: OpenConflict, row: ConflictRow, asOf: number): number[] {
    return [...new Set(this.versionsOf(open, row, asOf).map(({ seq }) => seq))];
  }

  private versionsOf({ entry }: OpenConflict, { path, base }: ConflictRow, asOf: number): Place[] {
    return versionsOfSide(this.reader, { branchId: entry.branchId, path, base, asOf });
  }

  /** Seqs of the entries that brought what a side has in a stretch. */
  from(open: OpenConflict, row: ConflictRow, asOf: number, side: 'current' | 'incoming', stretch: Stretch): number[] {
    if (side === 'incoming') return [open.entry.seq];
    const { base, texts } = stretch;
    return landingsOfLines(this.reader, this.versionsOf(open, row, asOf), base, texts.current ?? Buffer.alloc(0));
  }

  authorAt(seq: number): Author {
    return this.reader.author(this.reader.mustGetEntry(seq).authorId);
  }

  /** What stands at a path of the conflict's branch as of a seq. */
  contentAt({ entry, kept }: OpenConflict, path: RepoPath, asOf: number): Buffer | undefined {
    const place = new ConflictRows(this.reader, entry, kept, asOf).liveAt(path, asOf);
    return place.seq === 0 ? undefined : contentOrNotice(this.reader, place);
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
  view(open: OpenConflict, asOf = this.newestSeq(open.entry, open.closedBy)): ConflictView {
    const { entry, kept, closedBy } = open;
    const isMergeable = (): boolean => closedBy === 0 && wouldLand(this.reader, this.choice, kept);
    const pathViews = (): ConflictPath[] => this.pathViews(open, asOf);
    let mergeable: boolean | undefined;
    let paths: readonly ConflictPath[] | undefined;
    return {
      id: conflictIdOf(entry.seq),
      ...this.endOf(closedBy),
      get isMergeable() {
        return (mergeable ??= isMergeable());
      },
      asOf: asOf as Seq,
      branch: kept.branch,
      author: kept.author,
      message: kept.message,
      ...(kept.rationale !== undefined && { rationale: kept.rationale }),
      ...(kept.task !== undefined && { task: kept.task }),
      ...(kept.operationId !== undefined && { operationId: kept.operationId }),
      time: entry.time,
      asked: kept.edits.map(askedEdit),
      // What stands where by now is looked up when it is asked for: many readers want the state alone.
      get paths() {
        return (paths ??= pathViews());
      },
    };
  }

  private endOf(closedBy: number): Pick<ConflictView, 'state' | 'resolvedAt' | 'ending' | 'replacedBy' | 'accounts'> {
    if (closedBy === 0) return { state: 'open' };
    const entry = this.reader.mustGetEntry(closedBy);
    if (entry.kind === 'conflict') return { state: 'replaced', replacedBy: conflictIdOf(closedBy) };
    if (entry.kind === 'parked') return { state: 'replaced', replacedBy: parkedIdOf(closedBy) };
    const resolvedAt = closedBy as Seq;
    if (entry.kind === 'closed') return { state: 'resolved', resolvedAt, ending: entry.ending };
    if (entry.kind !== 'landing') return { state: 'resolved', resolvedAt };
    const { ending } = entry;
    const accounts = entry.accounts && unpackAccounts(entry.accounts).map(({ from: _from, ...account }) => account);
    return { state: 'resolved', resolvedAt, ending, ...(accounts && { accounts }) };
  }

  /** Whether a conflict can have been looked at as of a seq. */
  isSeen({ entry }: OpenConflict, asOf: number): boolean {
    return Number.isSafeInteger(asOf) && asOf >= entry.comparedAt && asOf <= this.reader.store.counters.lastSeq;
  }

  private newestSeq(entry: ConflictEntry, closedBy: number): number {
    return closedBy === 0 ? this.reader.store.counters.lastSeq : entry.comparedAt;
  }

  /** Paths of the kept intent that a resolution as of a seq replaces by results. */
  askedPaths(open: OpenConflict, asOf: number): RepoPath[] {
    return this.rows(open, asOf).map((row) => row.askedPath);
  }

  isLiveAt({ entry, kept }: OpenConflict, path: RepoPath, asOf: number): boolean {
    return new ConflictRows(this.reader, entry, kept, asOf).liveAt(path, asOf).seq !== 0;
  }

  private pathViews(open: OpenConflict, asOf: number): ConflictPath[] {
    const rows = this.rows(open, asOf);
    return rows.map((row, at) => {
      const before = rows.slice(0, at).filter(({ path }) => path === row.path);
      // Numbered on, so that an account names one of them.
      const firstIndex = (): number =>
        before.reduce((count, other) => count + stretchesOf(this.inputOf(other), shapeOf(other)).length, 0);
      return this.pathView(open, row, asOf, firstIndex);
    });
  }

  private inputOf({ path, base, current, incoming }: ConflictRow): MergeInput {
    return { path, base: stateOf(this.side(base)), current: stateOf(this.side(current)), incoming };
  }

  private pathView(open: OpenConflict, row: ConflictRow, asOf: number, firstIndex: () => number): ConflictPath {
    const { path, reason, note, refused } = row;
    const { driver, driverVersion, lines, structure } = note;
    const hint = hintOf(path, driver);
    const base = this.side(row.base);
    const current = this.side(row.current);
    let found: readonly Hunk[] | undefined;
    const hunksFrom = (first: number): readonly Hunk[] => {
      const { hunks } = conflictHunks(this.inputOf(row), shapeOf(row));
      return first === 0 ? hunks : hunks.map((hunk) => ({ ...hunk, index: first + hunk.index }));
    };
    const currentBy = (): SideAuthor[] => this.landingsOf(open, row, asOf).map((seq) => sideAuthorAt(this.reader, seq));
    return {
      path,
      kind: conflictKindOf(reason),
      reason,
      driver,
      driverVersion,
      lines,
      structure,
      refused,
      ...(hint !== undefined && { hint }),
      base,
      current,
      incoming: incomingSide(row.incoming),
      get currentBy() {
        return currentBy();
      },
      // Merging costs more than all else here, and many readers want the sides alone.
      get hunks() {
        return (found ??= hunksFrom(firstIndex()));
      },
    };
  }

  private side(place: Place): ConflictSide {
    if (place.seq === 0) return absentSide;
    const { blob, mode } = this.reader.change(place);
    if (blob === undefined || mode === undefined) return { ...absentSide, version: place.seq };
    return sideOf({ content: contentOrNotice(this.reader, place), mode }, place.seq, blob);
  }
}

const shapeOf = ({ note: { driver, lines }, refused }: ConflictRow): ConflictShape => ({ driver, lines, refused });

const askedEdit = (edit: Edit): AskedEdit => ({
  kind: edit.kind,
  path: edit.path,
  mode: edit.kind === 'delete' ? undefined : edit.mode,
  get content() {
    return edit.kind === 'put' ? edit.content : undefined;
  },
  ...(edit.kind === 'put' && edit.movedFrom !== undefined && { movedFrom: edit.movedFrom }),
  ...(edit.kind === 'delete' && edit.movedTo !== undefined && { movedTo: edit.movedTo }),
});

function incomingSide(state: FileState | null): ConflictSide {
  if (state === null) return absentSide;
  return sideOf(state, 0, blobIdOf(state.content));
}

/** Its terms are looked up when they are asked for: that reads every line. */
function sideOf(state: FileState, version: number, blob: BlobId): ConflictSide {
  const content = Buffer.from(state.content.buffer, state.content.byteOffset, state.content.length);
  let terms: ReturnType<typeof lineTerms> | undefined;
  return {
    version,
    blob,
    mode: state.mode,
    content,
    get lineEnd() {
      return (terms ??= lineTerms(state)).lineEnd;
    },
    get isLastLineEnded() {
      return (terms ??= lineTerms(state)).isLastLineEnded;
    },
  };
}

export const stateOf = ({ content, mode }: ConflictSide): FileState | null =>
  content === undefined || mode === undefined ? null : { content, mode };
