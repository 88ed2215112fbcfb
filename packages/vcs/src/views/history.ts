import { MoundError } from '../core/errors.ts';
import type { CommitId, RepoPath } from '../core/ids.ts';
import { isPathFault, parsePath } from '../core/path.ts';
import type { LandingEntry, Place } from '../format/entry.ts';
import type { LaggingIndex } from '../land/lagging-index.ts';
import type { LogReader } from '../log/log-reader.ts';
import { placeAsOf } from '../log/places.ts';
import type { CommitChange, CommitView, LogOptions } from './types.ts';

/** Commits as readers see them: by id, along a branch, along a path. */
export class History {
  private readonly reader: LogReader;
  private readonly commits: LaggingIndex;

  constructor(reader: LogReader, commits: LaggingIndex) {
    this.reader = reader;
    this.commits = commits;
  }

  view(entry: LandingEntry): CommitView {
    const { reader } = this;
    return {
      seq: entry.seq,
      commit: entry.commit,
      parents: entry.parents.map((seq) => reader.landing(seq).commit as CommitId),
      branch: reader.branch(entry.branchId).name,
      author: reader.author(entry.authorId),
      coAuthors: entry.coAuthorIds.map((id) => reader.author(id)),
      time: entry.time,
      message: entry.message,
      ...(entry.rationale !== undefined && { rationale: entry.rationale }),
      ...(entry.task !== undefined && { task: entry.task }),
      ...(entry.breakage !== undefined && { breakage: entry.breakage }),
      ...(entry.operationId !== undefined && { operationId: entry.operationId }),
      changes: entry.changes.map((row): CommitChange => ({
        path: reader.pathOf(row.pathId),
        blob: row.blob,
        mode: row.mode,
        previous: row.previous.seq,
        ...(row.movedPathId !== 0 && row.mode !== undefined && { movedFrom: reader.pathOf(row.movedPathId) }),
      })),
      ...(entry.gitRaw !== undefined && { gitRaw: Buffer.from(entry.gitRaw) }),
    };
  }

  /** Errors: `no-such-commit`. */
  commit(idOrSeq: string | number): CommitView {
    const seq = typeof idOrSeq === 'number' ? idOrSeq : this.seqOfCommit(idOrSeq);
    const entry = seq === undefined || seq < 1 ? undefined : this.reader.getEntry(seq);
    if (entry?.kind === 'landing' && entry.commit !== undefined) return this.view(entry);
    throw new MoundError('no-such-commit', `there is no commit ${idOrSeq}; 'mound log' lists them`, {
      commit: idOrSeq,
    });
  }

  private seqOfCommit(id: string): number | undefined {
    if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
    this.commits.catchUp(this.reader.store.counters);
    const seq = this.commits.seqOf(id);
    const entry = seq === undefined ? undefined : this.reader.getEntry(seq);
    return entry?.kind === 'landing' && entry.commit === id ? seq : undefined;
  }

  *log(options: LogOptions): Generator<CommitView> {
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for (const entry of options.path === undefined
      ? this.alongBranch(options)
      : this.alongPath(options, options.path)) {
      if (left <= 0) return;
      const author = this.reader.author(entry.authorId);
      const isWanted =
        (options.author === undefined || author.name === options.author || author.agent === options.author) &&
        (options.task === undefined || entry.task === options.task);
      if (!isWanted) continue;
      left--;
      yield this.view(entry);
    }
  }

  /** First parents, newest first. */
  private *alongBranch({ branch = 'main', from }: LogOptions): Generator<LandingEntry> {
    let seq = this.reader.branchNamed(branch).commitSeq;
    while (seq > 0) {
      const entry = this.reader.landing(seq);
      if (from === undefined || seq <= from) yield entry;
      seq = entry.parents[0] ?? 0;
    }
  }

  private *alongPath({ branch = 'main', from }: LogOptions, path: string): Generator<LandingEntry> {
    const parsed = parsePath(path);
    const pathId = this.reader.getPathId(isPathFault(parsed) ? (path as RepoPath) : parsed);
    const head = pathId === undefined ? undefined : this.reader.head(this.reader.branchNamed(branch).id, pathId);
    let place: Place | undefined = head?.place;
    if (place !== undefined && from !== undefined) place = placeAsOf(place, from, this.reader.linkOfChange);
    while (place !== undefined && place.seq > 0) {
      yield this.reader.landing(place.seq);
      place = this.reader.change(place).previous;
    }
  }
}
