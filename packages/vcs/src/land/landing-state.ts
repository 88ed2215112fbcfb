import { actorOf } from '../core/actor.ts';
import type { BlobId, RepoPath } from '../core/ids.ts';
import { parentsOfPath } from '../core/path.ts';
import { countLines } from '../core/text.ts';
import type { Place } from '../format/entry.ts';
import { decodeFreeze } from '../format/freeze.ts';
import { decodeHold } from '../format/hold.ts';
import { headKey } from '../format/keys.ts';
import { collisionOf } from '../log/folds.ts';
import { hasObject } from '../log/staged.ts';
import { contentOrNotice } from '../log/purged.ts';
import type { LogReader } from '../log/log-reader.ts';
import { citationsOf, type Citation } from '../decisions/index.ts';
import type { LinkingFile } from '../rules/links.ts';
import type { RuledDecisions, RuleSet } from '../rules/rule-set.ts';
import type { Target, Version } from '../log/version.ts';
import type { DecideState } from './decide.ts';
import { DecisionShelf } from './decision-shelf.ts';
import { goneAlong, movedDirectoryOf, type FileMove } from './moved-directory.ts';
import { pathsBelow } from './paths-below.ts';
import { Lineage } from './lineage.ts';
import type { PreparedEdit, PreparedIntent } from './prepared.ts';

/** Whether `freezes` and `holds` have rows at all, and the landing rules. */
interface Marks {
  readonly anyFreeze: boolean;
  readonly anyHold: boolean;
  readonly rules: RuleSet | undefined;
  readonly shelf: DecisionShelf;
}

/** The store as `decide` sees it: inside a transaction, or as of the last refresh. */
export class LandingState implements DecideState {
  private readonly reader: LogReader;
  private readonly branchId: number;
  private readonly marks: Marks;

  constructor(reader: LogReader, branchId: number, marks?: Marks) {
    this.reader = reader;
    this.branchId = branchId;
    this.marks = marks ?? { anyFreeze: false, anyHold: false, rules: undefined, shelf: new DecisionShelf(reader) };
  }

  get rules(): RuleSet | undefined {
    return this.marks.rules;
  }

  *textsIn(directory: RepoPath, fits: (path: RepoPath) => boolean): Generator<LinkingFile> {
    if (directory === '') return;
    for (const path of pathsBelow(this.reader, directory)) {
      const head = path.includes('/', directory.length + 1) || !fits(path) ? undefined : this.head(path);
      if (head?.target === undefined) continue;
      yield { path, text: () => contentOrNotice(this.reader, head.place).toString('utf8') };
    }
  }

  citationsAt(place: Place): readonly Citation[] {
    return citationsOf(contentOrNotice(this.reader, place));
  }

  decisionsWith(edits: readonly PreparedEdit[]): RuledDecisions {
    return this.marks.shelf.with(this.branchId, edits);
  }

  linesAt(place: Place): number {
    return countLines(contentOrNotice(this.reader, place));
  }

  head(path: RepoPath): Version | undefined {
    const pathId = this.reader.getPathId(path);
    return pathId === undefined ? undefined : this.reader.heads.get(this.branchId, pathId);
  }

  headOf({ cell, path }: PreparedEdit): Version | undefined {
    return cell?.isCurrent === true && cell.branchId === this.branchId
      ? (cell.staged ?? cell.version)
      : this.head(path);
  }

  targetAt(place: Place): Target | undefined {
    return this.reader.version(place).target;
  }

  record(key: string): { seq: number; isLive: boolean } {
    const place = this.reader.recordHead(key);
    return { seq: place.seq, isLive: place.seq !== 0 && this.reader.record(place).value !== null };
  }

  hasObject(blob: BlobId): boolean {
    return hasObject(this.reader.store, blob);
  }

  isFrozenFor({ admitted, extras }: PreparedIntent, path: RepoPath): boolean {
    if (!this.marks.anyFreeze) return false;
    const pathId = this.reader.getPathId(path);
    const bytes =
      pathId === undefined ? undefined : this.reader.store.tables.freezes.getBinary(headKey(this.branchId, pathId));
    if (bytes === undefined) return false;
    const { owner } = decodeFreeze(bytes);
    // A freeze that nobody owns waits for whoever splits the file.
    return owner === undefined ? extras.split?.path !== path : owner !== actorOf(admitted.author);
  }

  holderOf(path: RepoPath): string | undefined {
    if (!this.marks.anyHold) return undefined;
    const pathId = this.reader.getPathId(path);
    const bytes =
      pathId === undefined ? undefined : this.reader.store.tables.holds.getBinary(headKey(this.branchId, pathId));
    return bytes && decodeHold(bytes).token;
  }

  liveBelow(directory: RepoPath, isGoing: (path: RepoPath) => boolean): RepoPath | undefined {
    for (const path of pathsBelow(this.reader, directory)) {
      if (!isGoing(path) && this.head(path)?.target !== undefined) return path;
    }
    return undefined;
  }

  isElsewhere({ path, base }: PreparedEdit): boolean {
    const trace = this.lineage.trace(path, base);
    return trace.kind === 'split' || (trace.path !== path && trace.head?.target !== undefined);
  }

  get lineage(): Lineage {
    return new Lineage(this.reader, this.branchId, (path) => this.head(path));
  }

  movedDirectoryOf(path: RepoPath, asOf: number): RepoPath | undefined {
    const { reader, lineage } = this;
    return movedDirectoryOf({ reader, lineage, head: (below) => this.head(below) }, path, asOf);
  }

  leftBehind({ admitted, edits }: PreparedIntent): { path: RepoPath; to: RepoPath }[] {
    const { asOf } = admitted;
    const moves = edits.flatMap(({ path, movedFrom }): FileMove[] =>
      movedFrom ? [{ from: movedFrom, to: path }] : [],
    );
    if (asOf === undefined || moves.length === 0) return [];
    const touched = new Set(edits.map(({ path }) => path));
    const along = new Map<RepoPath, RepoPath>();
    for (const directory of new Set(moves.flatMap(({ from }) => parentsOfPath(from)))) {
      const added = this.addedTo(directory, touched, asOf);
      const inside = moves.filter(({ from }) => from.startsWith(`${directory}/`));
      for (const path of added) {
        const to = goneAlong(path, directory, inside);
        if (to !== undefined && !along.has(path) && this.head(to)?.target === undefined && !touched.has(to))
          along.set(path, to);
      }
    }
    return [...along].map(([path, to]) => ({ path, to }));
  }

  /** What an intent would leave in a directory, if all of it was added since a seq; else nothing. */
  private addedTo(directory: RepoPath, touched: ReadonlySet<RepoPath>, asOf: number): RepoPath[] {
    const added: RepoPath[] = [];
    for (const path of pathsBelow(this.reader, directory)) {
      const head = this.head(path);
      if (head?.target === undefined || touched.has(path)) continue;
      const isNew = this.reader.versionAsOf(head, asOf)?.target === undefined;
      // What was moved there was meant to be there.
      if (!isNew || this.isMovedHere(head)) return [];
      added.push(path);
    }
    return added;
  }

  private isMovedHere(head: Version): boolean {
    for (let version = head; ; version = this.reader.version(version.previous)) {
      if (version.target !== undefined && this.reader.change(version.place).movedPathId !== 0) return true;
      if (version.target === undefined || version.previous.seq === 0) return false;
    }
  }

  collisionOf(path: RepoPath, isGoing: (path: RepoPath) => boolean): RepoPath | undefined {
    const isLive = (other: RepoPath): boolean => !isGoing(other) && this.head(other)?.target !== undefined;
    return collisionOf(this.reader, path, isLive, (directory) => this.liveBelow(directory, isGoing));
  }
}
