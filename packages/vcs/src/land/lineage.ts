import type { RepoPath } from '../core/ids.ts';
import type { LandingEntry, Place } from '../format/entry.ts';
import { redirectKey } from '../format/keys.ts';
import type { LogReader } from '../log/log-reader.ts';
import { contentOrNotice } from '../log/purged.ts';
import type { Version } from '../log/version.ts';
import { isText, joinLines, retarget, splitLines, type FileState, type LineRun } from '../merge/index.ts';

/** Moves and splits that one file is followed through at most. */
const hopsMax = 256;

/** Where a file that stood at a version is now. */
export type Trace =
  /** Under this path, whose newest version this is; a tombstone or undefined where it is gone. */
  | {
      readonly kind: 'at';
      readonly path: RepoPath;
      readonly head: Version | undefined;
      /** It was deleted here: what stands there by now is another file. */
      readonly isDeleted?: true;
    }
  /** It was split by this landing while it had this path. */
  | { readonly kind: 'split'; readonly path: RepoPath; readonly landing: LandingEntry };

/** What an edit of a file comes to in one module that the file was split into. */
export interface Part {
  readonly path: RepoPath;
  /** Version that `incoming` is an edit of. */
  readonly base: Place;
  readonly incoming: FileState;
  /** Newest version of the path. */
  readonly head: Version | undefined;
  /** These hunks belong to no one module: they are in conflict, whatever they merge with. */
  readonly isUnplaced: boolean;
}

/** Places of what a split made, by path; and what it split. */
interface SplitFiles {
  readonly text: Place;
  readonly modules: ReadonlyMap<RepoPath, Place>;
  readonly runs: readonly LineRun[];
}

/** Follows files of one branch through moves and splits, up to the heads that `headOf` gives. */
export class Lineage {
  private readonly reader: LogReader;
  private readonly branchId: number;
  private readonly headOf: (path: RepoPath) => Version | undefined;

  constructor(reader: LogReader, branchId: number, headOf: (path: RepoPath) => Version | undefined) {
    this.reader = reader;
    this.branchId = branchId;
    this.headOf = headOf;
  }

  /** The file that stood at `base` under `path`: what came under its name after it moved away is another one. */
  trace(path: RepoPath, base: Place): Trace {
    let at = path;
    let from = base;
    for (let hop = 0; hop < hopsMax; hop++) {
      const head = this.headOf(at);
      const end = head && this.endOf(at, from, head);
      if (end === undefined) return { kind: 'at', path: at, head };
      const landing = this.reader.landing(end.seq);
      if (end.isSplit) return { kind: 'split', path: at, landing };
      const movedPathId = landing.changes[end.index]?.movedPathId ?? 0;
      // Deleted: what stands there by now took its place.
      if (movedPathId === 0) return { kind: 'at', path: at, head, isDeleted: true };
      const to = this.reader.pathOf(movedPathId);
      const arrived = landing.changes.findIndex(({ pathId }) => pathId === movedPathId);
      // It went along without a change of what stood there already.
      if (arrived < 0) return { kind: 'at', path: to, head: this.headOf(to) };
      at = to;
      from = { seq: end.seq, index: arrived };
    }
    return { kind: 'at', path: at, head: this.headOf(at) };
  }

  /** The first version after `from` that ended the file: a tombstone, or what a split left. */
  private endOf(path: RepoPath, from: Place, head: Version): (Place & { isSplit: boolean }) | undefined {
    let end: Place | undefined;
    for (let version = head; version.place.seq > from.seq; version = this.reader.version(version.previous)) {
      if (version.target === undefined) end = version.place;
      if (version.previous.seq === 0) break;
    }
    const split = this.splitsOf(path, from.seq, head.place.seq)[0];
    if (split !== undefined && (end === undefined || split <= end.seq)) return { seq: split, index: 0, isSplit: true };
    return end && { ...end, isSplit: false };
  }

  /** Paths that hold what stood at `base`: one, or after a split those of its modules, through any number of them. */
  placesOf(path: RepoPath, base: Place): { readonly isSplit: boolean; readonly live: readonly RepoPath[] } {
    const trace = this.trace(path, base);
    if (trace.kind === 'at') {
      const isThere = trace.isDeleted !== true && trace.head?.target !== undefined;
      return { isSplit: false, live: isThere ? [trace.path] : [] };
    }
    const { modules } = this.splitFiles(trace.path, trace.landing);
    const live = [...modules].flatMap(([to, place]) => this.placesOf(to, place).live);
    return { isSplit: true, live: [...new Set(live)] };
  }

  /** Seqs of the splits of a path on this branch after one seq and up to another, oldest first. */
  splitsOf(path: RepoPath, after: number, upTo: number, branchId: number = this.branchId): number[] {
    const { store } = this.reader;
    if (store.counters.redirects === 0) return [];
    const pathId = this.reader.getPathId(path);
    if (pathId === undefined) return [];
    const start = redirectKey(branchId, pathId, after + 1);
    const end = redirectKey(branchId, pathId, upTo + 1);
    const own = [...store.tables.redirects.getKeys({ start, end })].map((key) => key.readUIntBE(8, 6));
    const { parentId, forkSeq } = this.reader.branch(branchId);
    const inherited =
      parentId < 0 || after >= forkSeq ? [] : this.splitsOf(path, after, Math.min(upTo, forkSeq), parentId);
    return [...inherited, ...own];
  }

  /**
   * What an edit of a file that was split since comes to: one part for each module that it touches, followed to where
   * these are now; none where nothing of it is left to do. `base` is what the edit is based on.
   */
  parts({ path, landing }: Trace & { readonly kind: 'split' }, base: Place, incoming: FileState): Part[] {
    const files = this.splitFiles(path, landing);
    const texts = { base: this.stateAt(base), text: this.stateAt(files.text) };
    const places = [base, files.text, ...files.modules.values()];
    const isMergeable =
      !places.some((place) => this.isPurged(place)) &&
      texts.base !== null &&
      texts.text !== null &&
      isText(texts.base) &&
      isText(texts.text) &&
      isText(incoming);
    const whole = { path, base, incoming, head: this.headOf(path), isUnplaced: true };
    if (!isMergeable || texts.base === null || texts.text === null) return [whole];
    const input = {
      base: splitLines(texts.base.content),
      incoming: splitLines(incoming.content),
      text: splitLines(texts.text.content),
      modules: new Map(
        [...files.modules].map(([to, place]) => [to as string, splitLines(contentOrNotice(this.reader, place))]),
      ),
    };
    const isModeChanged = incoming.mode !== texts.base.mode;
    let found = retarget({ ...input, runs: files.runs });
    const remains = files.modules.get(path);
    const isLeft = found.unplaced !== undefined || (isModeChanged && remains === undefined);
    // The rest of the file shows what is left over: its own hunks belong there as well.
    if (isLeft) found = retarget({ ...input, runs: files.runs.filter(({ to }) => to !== path) });
    const placed = new Map(found.modules as ReadonlyMap<RepoPath, readonly string[]>);
    if (!isLeft && isModeChanged && remains !== undefined && !placed.has(path))
      placed.set(path, input.modules.get(path) ?? []);
    const parts = [...placed].flatMap(([to, lines]): Part[] => {
      const place = files.modules.get(to);
      const module = place && this.stateAt(place);
      if (place === undefined || module === null || module === undefined) return [];
      const mode = to === path && isModeChanged ? incoming.mode : module.mode;
      return this.partsFrom(to, place, { content: joinLines(lines), mode });
    });
    if (!isLeft) return parts;
    const content = joinLines(found.unplaced ?? input.base);
    return [...parts, { ...whole, incoming: { content, mode: incoming.mode } }];
  }

  /** An edit of a version, where that is by now. */
  private partsFrom(path: RepoPath, base: Place, incoming: FileState): Part[] {
    const trace = this.trace(path, base);
    if (trace.kind === 'split') return this.parts(trace, base, incoming);
    return [{ path: trace.path, base, incoming, head: trace.head, isUnplaced: false }];
  }

  private splitFiles(path: RepoPath, { seq, changes, split }: LandingEntry): SplitFiles {
    const pathId = this.reader.getPathId(path);
    const index = changes.findIndex((row) => row.pathId === pathId);
    const modules = new Map<RepoPath, Place>();
    for (const toPathId of new Set([...(split?.ranges ?? []).map((range) => range.toPathId), pathId])) {
      const at = changes.findIndex((row) => row.pathId === toPathId && row.mode !== undefined);
      if (toPathId !== undefined && at >= 0) modules.set(this.reader.pathOf(toPathId), { seq, index: at });
    }
    const runs = (split?.ranges ?? []).map(({ start, count, toPathId, toStart }) => ({
      start,
      count,
      to: this.reader.pathOf(toPathId),
      toStart,
    }));
    return { text: changes[index]?.previous ?? { seq: 0, index: 0 }, modules, runs };
  }

  private isPurged({ seq, index }: Place): boolean {
    return seq !== 0 && this.reader.landing(seq).changes[index]?.body.form === 'purged';
  }

  private stateAt(place: Place): FileState | null {
    const mode = place.seq === 0 ? undefined : this.reader.version(place).mode;
    return mode === undefined ? null : { content: contentOrNotice(this.reader, place), mode };
  }
}
