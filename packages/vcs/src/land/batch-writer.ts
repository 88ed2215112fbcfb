import { invariant } from '../core/errors.ts';
import type { CommitId, RepoPath, Seq } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import { bytesOfPath, foldPath } from '../core/path.ts';
import { encodeAuthor } from '../format/author.ts';
import { encodeBranch, type BranchRow } from '../format/branch.ts';
import { encodeEntry } from '../format/entry-codec.ts';
import {
  nowhere,
  type Body,
  type ChangeRow,
  type LandingEntry,
  type LogEntry,
  type RecordRow,
} from '../format/entry.ts';
import { commitIdOf, digest } from '../format/hash.ts';
import { authorKey, headKey, idKey, partKey, pathKey, seqKey } from '../format/keys.ts';
import { encodeHead, encodePlace } from '../format/head.ts';
import type { LogReader } from '../log/log-reader.ts';
import { sealed } from '../format/seal.ts';
import { linkAfter } from '../log/places.ts';
import type { Counters } from '../store/counters.ts';
import type { StaleReadRow } from '../format/entry.ts';
import { digestEdits } from './prepare.ts';
import type { LandedCommit, PreparedEdit, PreparedIntent } from './prepared.ts';

/** Bodies up to this stand in their entry; longer ones in parts, so that entries stay quick to read. */
const inlineBytesMax = 8 * 1024;
const partBytesMax = 1024 * 1024;

type WithoutSeq<T> = T extends LogEntry ? Omit<T, 'seq'> : never;

/** Writes entries and their indexes inside one transaction; keeps what the transaction changes at its end. */
export class BatchWriter {
  private readonly reader: LogReader;
  private readonly counters: Counters;
  private readonly branches = new Map<number, BranchRow>();
  private readonly commits = new Map<number, CommitId>();
  readonly written: LogEntry[] = [];

  constructor(reader: LogReader, counters: Counters) {
    this.reader = reader;
    this.counters = counters;
  }

  branch(branchId: number): BranchRow {
    return this.branches.get(branchId) ?? this.reader.branch(branchId);
  }

  /** Appends an entry under the next seq. */
  append(entry: WithoutSeq<LogEntry>): Seq {
    const seq = ++this.counters.lastSeq as Seq;
    const whole = { ...entry, seq } as LogEntry;
    this.reader.store.put('log', seqKey(seq), encodeEntry(whole));
    this.written.push(whole);
    return seq;
  }

  /** Ends the batch: rows that change at each landing are written once. */
  finish(): void {
    for (const branch of this.branches.values()) {
      this.reader.store.put('branches', idKey(branch.id), encodeBranch(branch));
    }
  }

  addBranch(row: Omit<BranchRow, 'id'>): number {
    const id = this.counters.nextBranchId++;
    this.branches.set(id, { id, ...row });
    this.reader.store.put('branchNames', Buffer.from(row.name), idKey(id));
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
    this.reader.store.put('paths', pathKey(bytes), idKey(id));
    this.reader.store.put('pathNames', idKey(id), bytes);
    this.reader.store.put('folds', foldKey(path, id), Buffer.of(1));
    return id;
  }

  /** Stores bytes inline or in parts of the entry that comes next. */
  private storeBody(body: Body, index: number): Body {
    if (body.bytes.length <= inlineBytesMax) return body;
    return { ...body, bytes: Buffer.alloc(0), parts: this.storeParts(body.bytes, index) };
  }

  storeParts(bytes: Uint8Array, index: number): number {
    const seq = this.counters.lastSeq + 1;
    let part = 0;
    for (let at = 0; at < bytes.length; at += partBytesMax) {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(partBytesMax, bytes.length - at));
      this.reader.store.put('parts', partKey(seq, index, part++), sealed(chunk));
    }
    return part;
  }

  /** Stored inline where small. */
  keep(bytes: Buffer): { kept: Buffer; keptParts: number } {
    if (bytes.length <= inlineBytesMax) return { kept: bytes, keptParts: 0 };
    return { kept: Buffer.alloc(0), keptParts: this.storeParts(bytes, 0) };
  }

  private changeRow(branchId: number, edit: PreparedEdit, index: number): ChangeRow {
    const pathId = this.pathId(edit.path);
    const head = this.reader.head(branchId, pathId);
    const previous = head?.place ?? nowhere;
    const isBase = previous.seq === edit.base.seq && previous.index === edit.base.index;
    const link = isBase && edit.linkAfterBase ? edit.linkAfterBase : linkAfter(previous, this.reader.linkOfChange);
    const moved = edit.movedFrom ?? edit.movedTo;
    return {
      pathId,
      mode: edit.target?.mode,
      blob: edit.target?.blob,
      ...link,
      body: this.storeBody(edit.body, index),
      movedPathId: moved === undefined ? 0 : this.pathId(moved),
    };
  }

  land(
    branchId: number,
    intent: PreparedIntent,
    edits: readonly PreparedEdit[],
    staleReads: readonly StaleReadRow[],
  ): LandedCommit {
    const { admitted, extras } = intent;
    invariant(new Set(edits.map((edit) => edit.path)).size === edits.length, 'an intent has one edit a path');
    const seq = (this.counters.lastSeq + 1) as Seq;
    const branch = this.branch(branchId);
    // A resolution is a commit even where it keeps what is there: the record of who decided so.
    const makesCommit = edits.length > 0 || extras.git !== undefined || extras.resolves > 0 || admitted.mergedSeq > 0;
    const own = branch.commitSeq === 0 ? [] : [branch.commitSeq];
    const merged = admitted.mergedSeq === 0 ? [] : [admitted.mergedSeq];
    const parents = makesCommit ? [...own, ...merged, ...(extras.git?.extraParents ?? [])] : [];
    const time = extras.git?.time ?? intent.time;
    const body = edits.length === intent.edits.length ? intent.bodyDigest : digestEdits(admitted, edits, extras);
    const commit = makesCommit
      ? commitIdOf(
          parents.map((parent) => this.commitAt(parent)),
          time,
          body,
        )
      : undefined;
    const changes = edits.map((edit, index) => this.changeRow(branchId, edit, index));
    const records = admitted.records.map((record): RecordRow => {
      const previous = this.reader.recordHead(record.key);
      return { key: record.key, value: record.value, ...linkAfter(previous, this.reader.linkOfRecord) };
    });
    const entry: Omit<LandingEntry, 'seq'> = {
      kind: 'landing',
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
      records,
      merged: intent.merged.map(({ path, ...note }) => ({ pathId: this.pathId(path), ...note })),
      staleReads,
      coAuthorIds: extras.coAuthors.map((author) => this.authorId(author)),
      resolves: extras.resolves,
      unparks: extras.unparks,
      accounts: extras.accounts,
      gitRaw: extras.git?.raw,
    };
    const appended = this.append(entry);
    invariant(appended === seq, 'a landing takes the next seq');
    this.index(branchId, seq, changes, records);
    if (makesCommit && commit !== undefined) {
      this.counters.commits++;
      this.commits.set(seq, commit);
      this.branches.set(branchId, { ...branch, commitSeq: seq });
    }
    if (extras.git) {
      const gitId = Buffer.from(extras.git.id, 'hex');
      this.reader.store.put('gitBySeq', seqKey(seq), gitId);
      this.reader.store.put('seqByGit', gitId, seqKey(seq));
    }
    if (extras.resolves > 0) this.close('conflicts', extras.resolves, seq);
    if (extras.unparks > 0) this.close('parked', extras.unparks, seq);
    return { seq, commit };
  }

  private commitAt(seq: number): CommitId {
    const commit = this.commits.get(seq) ?? this.reader.commitAt(seq);
    invariant(commit !== undefined, `parent ${seq} is a commit`);
    return commit;
  }

  private index(branchId: number, seq: number, changes: readonly ChangeRow[], records: readonly RecordRow[]): void {
    for (const [index, row] of changes.entries()) {
      this.reader.store.put('heads', headKey(branchId, row.pathId), encodeHead({ seq, index }, row.mode));
      if (row.body.form !== 'none' && row.body.form !== 'same') this.counters.objects++;
    }
    for (const [index, row] of records.entries()) {
      this.reader.store.put('records', Buffer.from(row.key), encodePlace({ seq, index }));
    }
  }

  /** A conflict or a parked intent: open until `close` names the entry that ended it. */
  open(table: 'conflicts' | 'parked', seq: number): void {
    this.reader.store.put(table, seqKey(seq), seqKey(0));
  }

  close(table: 'conflicts' | 'parked', seq: number, by: number): void {
    this.reader.store.put(table, seqKey(seq), seqKey(by));
  }
}

export function foldKey(path: RepoPath, pathId: number): Buffer {
  return Buffer.concat([digest(Buffer.from(foldPath(path))).subarray(0, 16), idKey(pathId)]);
}
