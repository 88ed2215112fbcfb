import { invariant } from '../core/errors.ts';
import type { CommitId, RepoPath, Seq } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import { bytesOfPath } from '../core/path.ts';
import { encodeAuthor } from '../format/author.ts';
import { encodeBranch, type BranchRow } from '../format/branch.ts';
import { encodeEntry } from '../format/entry-codec.ts';
import {
  type Body,
  type ChangeRow,
  type LandingEntry,
  type LogEntry,
  type MergedRow,
  type PiledRow,
  type Place,
  type RecordRow,
  type ReferenceRow,
  type SplitRow,
} from '../format/entry.ts';
import { commitIdOf } from '../format/hash.ts';
import {
  authorKey,
  breakageKey,
  headKey,
  idKey,
  partKey,
  shelfKey,
  pathKey,
  redirectKey,
  referenceKey,
  seqKey,
} from '../format/keys.ts';
import { encodeHead, encodePlace } from '../format/head.ts';
import type { RecordEdit } from '../intent/edit.ts';
import type { HeadCell } from '../log/heads.ts';
import { encodeBody } from '../log/body.ts';
import { directoryFoldKey, foldKey, newDirectories } from '../log/folds.ts';
import type { LogReader } from '../log/log-reader.ts';
import { sealed } from '../format/seal.ts';
import { linkAfter } from '../log/places.ts';
import { firstLink, linkAfterVersion, Version } from '../log/version.ts';
import type { ReferenceFinding } from '../rules/references.ts';
import type { Counters } from '../store/counters.ts';
import type { StaleReadRow } from '../format/entry.ts';
import { countFates } from './account-codec.ts';
import { BodyShelves, inlineBytesMax } from './body-shelves.ts';
import { isResolution, type PiledPath } from './decide.ts';
import { OpenRows } from './open-rows.ts';
import { PathMarks } from './path-marks.ts';
import { digestEdits } from './prepare.ts';
import { encodeKept } from './kept.ts';
import { isPolicyKey } from './rule-store.ts';
import type { MergedNote, PreparedEdit, PreparedIntent, PreparedSplit } from './prepared.ts';

const partBytesMax = 1024 * 1024;

const none: readonly never[] = [];

export type WithoutSeq<T> = T extends LogEntry ? Omit<T, 'seq'> : never;

/** A branch's row as it stands in the running batch, and the id of its newest commit if that is of this batch. */
interface MovingBranch extends Omit<BranchRow, 'commitSeq'> {
  commitSeq: number;
  commit: CommitId | undefined;
}

/** Writes entries and their indexes inside one transaction; keeps what the transaction changes at its end. */
export class BatchWriter {
  private readonly reader: LogReader;
  private readonly counters: Counters;
  private readonly branches = new Map<number, MovingBranch>();
  readonly written: LogEntry[] = [];
  readonly marks: PathMarks;
  readonly rows: OpenRows;
  /** New versions and what they hold. */
  private readonly landed: { readonly version: Version; readonly content: Buffer | undefined }[] = [];

  constructor(reader: LogReader, counters: Counters) {
    this.reader = reader;
    this.counters = counters;
    this.marks = new PathMarks(reader, counters, this);
    this.rows = new OpenRows(reader, counters, this);
  }

  branch(branchId: number): BranchRow {
    return this.branches.get(branchId) ?? this.reader.branch(branchId);
  }

  /** A branch that this batch moves on. */
  private moving(branchId: number): MovingBranch {
    const known = this.branches.get(branchId);
    if (known !== undefined) return known;
    const row = { ...this.reader.branch(branchId), commit: undefined };
    this.branches.set(branchId, row);
    return row;
  }

  /** Appends an entry under the next seq. */
  append(entry: WithoutSeq<LogEntry>): Seq {
    const seq = (this.counters.lastSeq + 1) as Seq;
    this.appendWhole({ ...entry, seq });
    return seq;
  }

  private appendWhole(entry: LogEntry): void {
    invariant(entry.seq === this.counters.lastSeq + 1, 'an entry takes the next seq');
    this.counters.lastSeq = entry.seq;
    this.reader.store.put('log', seqKey(entry.seq), encodeEntry(entry));
    this.reader.store.steps.reach('entry-written');
    this.written.push(entry);
  }

  /** Ends the batch: rows that change at each landing are written once. */
  finish(): void {
    for (const branch of this.branches.values()) {
      this.reader.store.put('branches', idKey(branch.id), encodeBranch(branch));
    }
  }

  /** After the flush: lets this process know what it has just written. */
  settle(): void {
    for (const { version, content } of this.landed) this.reader.remember(version, content);
    for (const { commitSeq, commit } of this.branches.values()) {
      if (commit !== undefined) this.reader.rememberCommit(commitSeq, commit);
    }
    this.reader.heads.settle(this.counters.lastSeq);
  }

  addBranch(row: Omit<BranchRow, 'id'>): number {
    const id = this.counters.nextBranchId++;
    this.branches.set(id, { id, ...row, commit: undefined });
    // At once: a landing of this very batch may build on it.
    this.reader.store.put('branches', idKey(id), encodeBranch(row));
    this.reader.store.put('branchNames', Buffer.from(row.name), idKey(id));
    this.reader.heads.added(id, row);
    this.reader.store.steps.reach('branch-added');
    return id;
  }

  authorId(author: Author): number {
    const known = this.reader.getAuthorId(author);
    if (known !== undefined) return known;
    const id = this.counters.nextAuthorId++;
    const packed = encodeAuthor(author);
    this.reader.store.put('authors', idKey(id), packed);
    this.reader.store.put('authorIds', authorKey(packed), idKey(id));
    return id;
  }

  pathId(path: RepoPath): number {
    const known = this.reader.getPathId(path);
    if (known !== undefined) return known;
    const id = this.counters.nextPathId++;
    const bytes = bytesOfPath(path);
    const directories = newDirectories(this.reader, path);
    this.reader.store.put('paths', pathKey(bytes), idKey(id));
    this.reader.store.put('pathNames', idKey(id), bytes);
    this.reader.store.put('folds', foldKey(path, id), Buffer.of(1));
    for (const directory of directories) this.reader.store.put('folds', directoryFoldKey(directory, id), Buffer.of(2));
    return id;
  }

  /** Stores bytes inline, on a shelf where the entry has some, or in parts of the entry that comes next. */
  private storeBody(body: Body, index: number, shelves: BodyShelves | undefined): Body {
    if (body.bytes.length <= inlineBytesMax) return shelves?.add(body, index) ?? body;
    return { ...body, bytes: Buffer.alloc(0), parts: this.storeParts(body.bytes, index) };
  }

  private storeShelf(key: Buffer, bytes: Buffer): void {
    this.reader.store.put('parts', key, sealed(bytes));
    this.reader.store.steps.reach('part-written');
  }

  storeParts(bytes: Uint8Array, index: number): number {
    const seq = this.counters.lastSeq + 1;
    let part = 0;
    for (let at = 0; at < bytes.length; at += partBytesMax) {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(partBytesMax, bytes.length - at));
      this.reader.store.put('parts', partKey(seq, index, part++), sealed(chunk));
      this.reader.store.steps.reach('part-written');
    }
    return part;
  }

  /** Stores an intent that does not land, inline where it is small. Its contents were encoded before any lock was held. */
  keep({ admitted, edits }: PreparedIntent): { kept: Buffer; keptParts: number } {
    const bytes = encodeKept(
      admitted,
      edits.map((edit) => this.standing(edit)),
    );
    if (bytes.length <= inlineBytesMax) return { kept: bytes, keptParts: 0 };
    return { kept: Buffer.alloc(0), keptParts: this.storeParts(bytes, 0) };
  }

  private cell(branchId: number, { cell, path }: PreparedEdit): HeadCell {
    const isKnown = cell?.isCurrent === true && cell.branchId === branchId;
    return isKnown ? cell : this.reader.heads.cell(branchId, this.pathId(path));
  }

  /** A body as it was prepared, whole where its base was purged since. */
  private standing({ body, content }: PreparedEdit): Body {
    const isBased = this.counters.rewrites > 0 && body.base.seq > 0 && content !== undefined;
    if (!isBased) return body;
    const base = this.reader.freshEntry(body.base.seq);
    const isGone = base.kind === 'landing' && base.changes[body.base.index]?.body.form === 'purged';
    return isGone ? encodeBody(content, undefined) : body;
  }

  private changeRow(
    branchId: number,
    edit: PreparedEdit,
    { seq, index }: Place,
    shelves: BodyShelves | undefined,
  ): ChangeRow {
    const cell = this.cell(branchId, edit);
    const { pathId } = cell;
    const head = cell.staged ?? cell.version;
    const link = head === undefined ? firstLink : linkAfterVersion(head, this.reader.version);
    const { target } = edit;
    const moved = edit.movedFrom ?? edit.movedTo;
    const body = this.storeBody(this.standing(edit), index, shelves);
    const version = new Version({ seq, index }, target, link, body, link.jumped);
    this.reader.heads.stage(cell, version);
    this.landed.push({ version, content: edit.content });
    return {
      pathId,
      mode: target?.mode,
      blob: target?.blob,
      previous: link.previous,
      depth: link.depth,
      jump: link.jump,
      body,
      movedPathId: moved === undefined ? 0 : this.pathId(moved),
    };
  }

  land(
    branchId: number,
    intent: PreparedIntent,
    edits: readonly PreparedEdit[],
    staleReads: readonly StaleReadRow[],
    piled: readonly PiledPath[] = none,
    flagged: readonly ReferenceFinding[] = none,
  ): LandingEntry {
    const { admitted, extras } = intent;
    invariant(edits.length < 2 || new Set(edits.map(({ path }) => path)).size === edits.length, 'one edit a path');
    const seq = (this.counters.lastSeq + 1) as Seq;
    const branch = this.moving(branchId);
    // A resolution is a commit even where it keeps what is there: the record of who decided so.
    const makesCommit = edits.length > 0 || extras.git !== undefined || isResolution(extras) || admitted.mergedSeq > 0;
    const parents = makesCommit ? parentsOf(branch, intent) : [];
    const time = extras.git?.time ?? intent.time;
    const commit = makesCommit ? this.commitId(parents, time, intent, edits, branch) : undefined;
    const changes: ChangeRow[] = [];
    const shelves = BodyShelves.areNeeded(edits)
      ? new BodyShelves((index, bytes) => this.storeShelf(shelfKey(seq, index), bytes))
      : undefined;
    for (const edit of edits) changes.push(this.changeRow(branchId, edit, { seq, index: changes.length }, shelves));
    shelves?.finish();
    const entry: LandingEntry = {
      kind: 'landing',
      seq,
      time,
      branchId,
      authorId: this.authorId(admitted.author),
      operationId: admitted.operationId,
      asked: intent.asked,
      commit,
      parents,
      message: admitted.message,
      rationale: admitted.rationale,
      task: admitted.task,
      breakage: admitted.breakage,
      changes,
      records: admitted.records.length === 0 ? none : admitted.records.map((record) => this.recordRow(record)),
      merged: intent.merged.length === 0 ? none : this.mergedRows(intent.merged),
      staleReads,
      coAuthorIds: extras.coAuthors.length === 0 ? none : extras.coAuthors.map((author) => this.authorId(author)),
      resolves: extras.resolves,
      ending: extras.ending,
      unparks: extras.unparks,
      accounts: extras.accounts,
      piled: piled.length === 0 ? none : this.piledRows(piled),
      references: flagged.length === 0 ? none : this.referenceRows(flagged),
      gitRaw: extras.git?.raw,
      split: extras.split && this.splitRow(extras.split),
    };
    this.appendWhole(entry);
    this.index(entry);
    for (const { path, cites } of edits) if (cites !== undefined) this.cite(path, cites);
    if (commit !== undefined) {
      this.counters.commits++;
      branch.commitSeq = seq;
      branch.commit = commit;
    }
    if (extras.git) {
      const gitId = Buffer.from(extras.git.id, 'hex');
      this.reader.store.put('gitBySeq', seqKey(seq), gitId);
      this.reader.store.put('seqByGit', gitId, seqKey(seq));
      this.reader.store.steps.reach('git-marked');
    }
    if (statesBreakage(entry)) {
      this.reader.store.put('breakages', breakageKey(branchId, seq), Buffer.of(1));
      this.reader.store.steps.reach('breakage-written');
    }
    if (extras.resolves > 0) this.rows.closeConflict(extras.resolves, seq);
    if (this.counters.conflictsOpen > 0) this.rows.noticeSides(entry);
    countFates(this.counters, extras.accounts);
    if (extras.unparks > 0) this.rows.close('parked', extras.unparks, seq);
    if (entry.split !== undefined) this.endFreezeOf(entry, entry.split);
    return entry;
  }

  /** A row stays for good: what a path cites by now, a reader sees in its content. */
  private cite(path: RepoPath, symbols: readonly string[]): void {
    const pathId = this.pathId(path);
    for (const symbol of symbols) {
      const key = referenceKey(symbol, pathId);
      if (this.reader.store.tables.references.getBinary(key) !== undefined) continue;
      this.reader.store.put('references', key, Buffer.of(1));
      this.reader.store.steps.reach('reference-written');
    }
  }

  private splitRow({ path, runs }: PreparedSplit): SplitRow {
    const ranges = runs.map(({ start, count, to, toStart }) => ({
      start,
      count,
      toPathId: this.pathId(to as RepoPath),
      toStart,
    }));
    return { pathId: this.pathId(path), ranges };
  }

  /** What waited for the split is decided again from now on. */
  private endFreezeOf({ branchId, authorId, time, seq }: LandingEntry, { pathId }: SplitRow): void {
    this.reader.store.put('redirects', redirectKey(branchId, pathId, seq), Buffer.of(1));
    this.counters.redirects++;
    this.reader.store.steps.reach('split-written');
    if (!this.marks.isFrozen(branchId, pathId)) return;
    const path = this.reader.pathOf(pathId);
    this.marks.thaw({ time, branchId, authorId, path, reason: 'split' });
  }

  private commitId(
    parents: readonly number[],
    time: number,
    intent: PreparedIntent,
    edits: readonly PreparedEdit[],
    branch: MovingBranch,
  ): CommitId {
    const isWhole = edits.length === intent.edits.length;
    const body = isWhole ? intent.bodyDigest : digestEdits(intent.admitted, edits, intent.extras);
    const parentIds: CommitId[] = [];
    for (const parent of parents) parentIds.push(this.commitAt(parent, branch));
    return commitIdOf(parentIds, time, body);
  }

  private mergedRows(merged: readonly MergedNote[]): MergedRow[] {
    return merged.map(({ path, chosen: _chosen, ...note }) => ({ pathId: this.pathId(path), ...note }));
  }

  piledRows(piled: readonly PiledPath[]): PiledRow[] {
    return piled.map(({ path, at }) => ({ pathId: this.pathId(path), at }));
  }

  private referenceRows(flagged: readonly ReferenceFinding[]): ReferenceRow[] {
    return flagged.map(({ path, line, id, standing }) => ({ pathId: this.pathId(path), line, id, standing }));
  }

  private recordRow({ key, value, objects }: RecordEdit): RecordRow {
    const { previous, depth, jump } = linkAfter(this.reader.recordHead(key), this.reader.linkOfRecord);
    return { key, value, previous, depth, jump, objects };
  }

  private commitAt(seq: number, branch: MovingBranch): CommitId {
    const commit = branch.commitSeq === seq && branch.commit !== undefined ? branch.commit : this.reader.commitAt(seq);
    invariant(commit !== undefined, `parent ${seq} is a commit`);
    return commit;
  }

  private index({ seq, branchId, changes, records }: LandingEntry): void {
    let at = 0;
    for (const row of changes) {
      this.reader.store.put('heads', headKey(branchId, row.pathId), encodeHead({ seq, index: at++ }, row.mode));
      if (row.body.form !== 'none' && row.body.form !== 'same') this.counters.objects++;
    }
    if (changes.length > 0) this.reader.store.steps.reach('heads-written');
    for (const [index, row] of records.entries()) {
      this.reader.store.put('records', Buffer.from(row.key), encodePlace({ seq, index }));
      if (isPolicyKey(row.key)) this.counters.rulesSeq = seq;
    }
    if (records.length > 0) this.reader.store.steps.reach('records-written');
  }
}

/** Whether a landing breaks something on purpose. */
export const statesBreakage = ({ breakage, changes }: LandingEntry): boolean =>
  breakage !== undefined && breakage.trim() !== '' && changes.length > 0;

function parentsOf({ commitSeq }: BranchRow, { admitted, extras }: PreparedIntent): number[] {
  const parents = commitSeq === 0 ? [] : [commitSeq];
  if (admitted.mergedSeq > 0) parents.push(admitted.mergedSeq);
  if (extras.git) parents.push(...extras.git.extraParents);
  return parents;
}
