import type { BlobId, RepoPath } from '../core/ids.ts';
import { bytesOfPath } from '../core/path.ts';
import { countLines } from '../core/text.ts';
import type { Place } from '../format/entry.ts';
import { decodeHold } from '../format/hold.ts';
import { headKey } from '../format/keys.ts';
import { hasObject } from '../log/staged.ts';
import { contentOrNotice } from '../log/purged.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import { foldKey } from './batch-writer.ts';
import type { Target, Version } from '../log/version.ts';
import type { DecideState } from './decide.ts';
import type { PreparedEdit } from './prepared.ts';

/** Whether `freezes` and `holds` have rows at all, and the landing rules. */
interface Marks {
  readonly anyFreeze: boolean;
  readonly anyHold: boolean;
  readonly rules: RuleSet | undefined;
}

const noMarks: Marks = { anyFreeze: false, anyHold: false, rules: undefined };

/** The store as `decide` sees it: inside a transaction, or as of the last refresh. */
export class LandingState implements DecideState {
  private readonly reader: LogReader;
  private readonly branchId: number;
  private readonly marks: Marks;

  constructor(reader: LogReader, branchId: number, marks: Marks = noMarks) {
    this.reader = reader;
    this.branchId = branchId;
    this.marks = marks;
  }

  get rules(): RuleSet | undefined {
    return this.marks.rules;
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

  freezeOf(path: RepoPath): number {
    if (!this.marks.anyFreeze) return 0;
    const pathId = this.reader.getPathId(path);
    if (pathId === undefined) return 0;
    return this.reader.store.tables.freezes.getBinary(headKey(this.branchId, pathId))?.readUIntBE(0, 6) ?? 0;
  }

  holderOf(path: RepoPath): string | undefined {
    if (!this.marks.anyHold) return undefined;
    const pathId = this.reader.getPathId(path);
    const bytes =
      pathId === undefined ? undefined : this.reader.store.tables.holds.getBinary(headKey(this.branchId, pathId));
    return bytes && decodeHold(bytes).token;
  }

  liveBelow(directory: RepoPath, isGoing: (path: RepoPath) => boolean): RepoPath | undefined {
    const start = Buffer.concat([bytesOfPath(directory), Buffer.from('/')]);
    const end = Buffer.concat([bytesOfPath(directory), Buffer.from('0')]);
    for (const { value } of this.reader.store.tables.paths.getRange({ start, end })) {
      const path = this.reader.pathOf(value.readUInt32BE(0));
      if (!isGoing(path) && this.head(path)?.target !== undefined) return path;
    }
    return undefined;
  }

  collisionOf(path: RepoPath, isGoing: (path: RepoPath) => boolean): RepoPath | undefined {
    const start = foldKey(path, 0);
    const end = foldKey(path, 0xffffffff);
    for (const key of this.reader.store.tables.folds.getKeys({ start, end })) {
      const twin = this.reader.pathOf(key.readUInt32BE(16));
      if (twin !== path && !isGoing(twin) && this.head(twin)?.target !== undefined) return twin;
    }
    return undefined;
  }
}
