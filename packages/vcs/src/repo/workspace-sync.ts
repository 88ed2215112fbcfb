import { isMoundError } from '../core/errors.ts';
import type { BlobId, RepoPath } from '../core/ids.ts';
import { parentsOfPath } from '../core/path.ts';
import { seqKey } from '../format/keys.ts';
import type { OverlayRow, WorkspaceRow } from '../format/workspace.ts';
import { renderConflict, type MergePool } from '../merge/index.ts';
import type { Version } from '../log/version.ts';
import { isSameTarget, pin, type Overlay, type RowChange, type StagedContent } from './overlay.ts';
import { diffSnapshots } from './restore.ts';
import { LogSnapshot } from './snapshot.ts';
import { UpstreamMoves } from './upstream-moves.ts';
import type { FileState } from './workspace-api.ts';

/** A path whose files change by a sync or a commit: what it held, and what it holds then. */
export interface PlannedFile {
  readonly path: RepoPath;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
  /** Of a landed content that it holds then; an edit's is left out. */
  readonly blob?: BlobId | undefined;
}

/** Everything that a sync does, computed before anything is written. */
export interface SyncPlan {
  readonly workspace: WorkspaceRow;
  readonly to: number;
  readonly changes: readonly RowChange[];
  readonly objects: readonly StagedContent[];
  readonly files: readonly PlannedFile[];
  readonly updated: readonly RepoPath[];
  readonly merged: readonly RepoPath[];
  readonly conflicts: readonly RepoPath[];
  readonly heldBack: readonly RepoPath[];
}

/** Reading the log on is worth it up to so many entries; beyond, both snapshots are listed and compared. */
const entriesReadMax = 50_000;

const byPath = (a: RepoPath, b: RepoPath): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Paths that changed on a workspace's branch after its seq, up to another. */
export function changedPaths({ reader }: Overlay, { branchId, seq }: WorkspaceRow, to: number): Set<RepoPath> {
  const branch = reader.branch(branchId);
  const isPlain = branchId === 0 || seq >= branch.forkSeq;
  if (!isPlain || to - seq > entriesReadMax) {
    const [from, until] = [seq, to].map((at) => new LogSnapshot(reader, branch, at, at));
    if (from === undefined || until === undefined) return new Set();
    return new Set(diffSnapshots(from, until).map(({ path }) => path));
  }
  const paths = new Set<RepoPath>();
  for (let at = seq + 1; at <= to; at++) {
    const marks = reader.marks(at);
    if (marks.kind !== 'landing' || marks.branchId !== branchId) continue;
    for (const pathId of marks.pathIds) paths.add(reader.pathOf(pathId));
  }
  return paths;
}

/** Plans what a sync makes of each path that changed or is edited. Writes nothing. */
export async function planSync(
  overlay: Overlay,
  mergePool: MergePool,
  workspace: WorkspaceRow,
  to: number,
): Promise<SyncPlan> {
  const rows = new Map(overlay.rows().map((row) => [row.path, row]));
  const paths = new Set([...changedPaths(overlay, workspace, to), ...rows.keys()]);
  const plan = new Planning(overlay, mergePool, workspace, to, rows);
  for (const path of [...paths].toSorted(byPath)) await plan.take(path);
  return plan.end();
}

class Planning {
  private readonly overlay: Overlay;
  private readonly mergePool: MergePool;
  private readonly workspace: WorkspaceRow;
  private readonly to: number;
  private readonly rows: Map<RepoPath, OverlayRow>;
  /** By path; a later one takes the place of an earlier. */
  private readonly changes = new Map<RepoPath, RowChange>();
  private readonly objects: StagedContent[] = [];
  private readonly files: PlannedFile[] = [];
  private readonly updated = new Set<RepoPath>();
  private readonly merged: RepoPath[] = [];
  private readonly conflicts = new Set<RepoPath>();
  private readonly heldBack: RepoPath[] = [];
  /** Unedited paths that come to be, with the change of their rows. */
  private readonly coming: { readonly path: RepoPath; readonly now: Version }[] = [];
  private readonly moves: UpstreamMoves;
  /** Paths that are settled with another: destinations of moves, here and upstream. */
  private readonly followed = new Set<RepoPath>();
  /** Puts as they are after the sync. */
  private readonly puts = new Map<RepoPath, OverlayRow>();

  constructor(
    overlay: Overlay,
    mergePool: MergePool,
    workspace: WorkspaceRow,
    to: number,
    rows: Map<RepoPath, OverlayRow>,
  ) {
    this.overlay = overlay;
    this.mergePool = mergePool;
    this.workspace = workspace;
    this.to = to;
    this.rows = rows;
    this.moves = new UpstreamMoves(overlay, workspace, to);
  }

  async take(path: RepoPath): Promise<void> {
    if (this.followed.has(path)) return;
    const row = this.rows.get(path);
    if (row === undefined || row.kind === 'pin') return this.follow(path, row);
    if (row.conflict !== undefined) {
      this.conflicts.add(path);
      if (row.kind === 'put') this.puts.set(path, row);
      return;
    }
    const now = this.at(path, this.to);
    if (this.isTakenIn(row)) {
      this.change({ drop: path });
      return this.landed(path, this.overlay.content(this.workspace, path, row), now);
    }
    const stood = this.at(path, row.base);
    if (now?.target === undefined && (await this.followUpstream(row, stood))) return;
    if (isSameTarget(stood?.target, now?.target)) return this.keep(row, now?.place.seq ?? 0);
    if (isSameTarget(row.content, now?.target)) {
      this.change({ drop: path });
      this.merged.push(path);
      return;
    }
    const destination = row.kind === 'delete' ? this.destinationOf(path) : undefined;
    if (destination !== undefined) return this.mergeMoved(row, destination, stood, now);
    return this.merge(row, path, stood, now);
  }

  /** The edit of a file that moved upstream goes where that is; so does what was added to a directory that moved. */
  private async followUpstream(row: OverlayRow, stood: Version | undefined): Promise<boolean> {
    const { path } = row;
    const isAdded = stood?.target === undefined;
    // It was moved here: whoever moved it there as well is met at the landing.
    if (row.movedFrom !== undefined || (row.kind === 'delete' && (isAdded || this.destinationOf(path)))) return false;
    const to = isAdded ? this.moves.placeOfAdded(path, this.rows.values()) : this.moves.destinationOf(path, stood);
    if (to === undefined || this.isTaken(to)) return false;
    const now = this.at(to, this.to);
    if (isAdded && now?.target !== undefined) return false;
    this.followed.add(to);
    this.change({ drop: path });
    const before = this.overlay.content(this.workspace, path, row);
    if (before !== undefined) this.file(path, before, undefined);
    const moved: OverlayRow = { ...row, path: to, base: now?.place.seq ?? 0, kept: 0 };
    if (isAdded) {
      this.come(moved);
      this.file(to, undefined, before);
    } else if (row.kind === 'put') {
      await this.merge({ ...moved, base: this.arrivalOf(stood, now) }, to, stood, now, true);
    } else if (isSameTarget(stood.target, now?.target)) {
      this.come(moved);
    } else {
      const after = this.overlay.stateOf(now);
      this.conflict({ ...moved, base: this.arrivalOf(stood, now) }, to, moved.base, 'rename-delete', after);
      this.file(to, undefined, after);
    }
    return true;
  }

  private come(row: OverlayRow): void {
    if (row.kind === 'put') this.puts.set(row.path, row);
    this.change({ put: row });
  }

  /** Whether something that the workspace has stands where a path or its directories must be. */
  private isTaken(path: RepoPath): boolean {
    if (this.rows.has(path) || this.overlay.target(this.workspace, path) !== undefined) return true;
    const parents = parentsOfPath(path);
    for (const { path: other, kind } of this.rows.values()) {
      if (kind === 'put' && (parents.includes(other) || other.startsWith(`${path}/`))) return true;
    }
    return false;
  }

  /** The version of a moved file, under its new path, that holds what stood under the old one; 0 where none does. */
  private arrivalOf(stood: Version, now: Version | undefined): number {
    let version = now;
    while (version !== undefined && version.previous.seq > stood.place.seq) {
      version = this.overlay.reader.version(version.previous);
    }
    return version !== undefined && isSameTarget(version.target, stood.target) ? version.place.seq : 0;
  }

  /** A path that is not edited is what it is as of the new seq. */
  private follow(path: RepoPath, row: OverlayRow | undefined): void {
    const was = this.overlay.beneath(this.workspace, path, row);
    const now = this.at(path, this.to);
    if (row !== undefined) this.change({ drop: path });
    if (isSameTarget(was?.target, now?.target)) return;
    if (now?.target !== undefined && was?.target === undefined) this.coming.push({ path, now });
    else this.landed(path, this.overlay.stateOf(was), now);
  }

  private change(change: RowChange): void {
    this.changes.set('put' in change ? change.put.path : change.drop, change);
  }

  private at(path: RepoPath, seq: number): Version | undefined {
    return this.overlay.versionAsOf(this.workspace.branchId, path, seq);
  }

  private file(path: RepoPath, before: FileState | undefined, after: FileState | undefined, blob?: BlobId): void {
    this.files.push({ path, before, after, blob });
    this.updated.add(path);
  }

  private landed(path: RepoPath, before: FileState | undefined, now: Version | undefined): void {
    this.file(path, before, this.overlay.stateOf(now), now?.target?.blob);
  }

  private keep(row: OverlayRow, base: number): void {
    if (row.kind === 'put') this.puts.set(row.path, row);
    if (base !== row.base) this.change({ put: { ...row, base } });
  }

  /** Whether the conflict or parked intent that took the edit in was closed by a landing up to the new seq. */
  private isTakenIn({ kept }: OverlayRow): boolean {
    if (kept === 0) return false;
    const { reader } = this.overlay;
    const { conflicts, parked } = reader.store.tables;
    const key = seqKey(kept);
    const closedBy = (conflicts.getBinary(key) ?? parked.getBinary(key))?.readUIntBE(0, 6) ?? 0;
    if (closedBy === 0 || closedBy > this.to) return false;
    return reader.mustGetEntry(closedBy).kind === 'landing';
  }

  /** The edit that a deleted path was moved to. */
  private destinationOf(path: RepoPath): OverlayRow | undefined {
    for (const row of this.rows.values()) {
      if (row.kind === 'put' && row.movedFrom === path && row.conflict === undefined) return row;
    }
    return undefined;
  }

  private stateAt(version: Version | undefined): FileState | null {
    try {
      return this.overlay.stateOf(version) ?? null;
    } catch (error) {
      // What was purged is no base to merge on.
      if (isMoundError(error, 'purged')) return null;
      throw error;
    }
  }

  /** `isComing`: the path's file is not in place yet. */
  private async merge(
    row: OverlayRow,
    at: RepoPath,
    stood: Version | undefined,
    now: Version | undefined,
    isComing = false,
  ): Promise<void> {
    const { path } = row;
    const mine = this.overlay.content(this.workspace, path, row);
    const sides = { base: this.stateAt(stood), current: this.stateAt(now), incoming: mine ?? null };
    // Attributes as of the new seq, as at a landing.
    const driver = this.overlay.lander.choice.of({ head: (file) => this.at(file, this.to) }, path);
    const result = await this.mergePool.merge({ path, ...sides }, driver);
    const base = now?.place.seq ?? 0;
    if (result.kind === 'conflict') {
      const text = renderConflict({ path, ...sides }, { style: 'merge', labels: labelsOf(now, this.workspace.name) });
      const isShown = text !== undefined && mine !== undefined && sides.current !== null;
      const after = isShown ? { content: Buffer.from(text), mode: result.mode ?? mine.mode } : mine;
      this.conflict(row, at, base, result.reason, after);
      if (isShown || isComing) this.files.push({ path, before: isComing ? undefined : mine, after });
      return;
    }
    this.merged.push(path);
    const after = result.result && { content: Buffer.from(result.result.content), mode: result.result.mode };
    this.files.push({ path, before: isComing ? undefined : mine, after: after ?? undefined });
    const staged = after && this.staged(after.content);
    const content = after && staged && { blob: staged.blob, mode: after.mode };
    const ownBase = at === path ? base : row.base;
    if (at === path && isSameTarget(content ?? undefined, now?.target)) {
      this.change({ drop: path });
      return;
    }
    const merged: OverlayRow = {
      ...row,
      kind: content ? 'put' : 'delete',
      base: ownBase,
      content: content ?? undefined,
      kept: 0,
    };
    this.change({ put: merged });
    if (content) this.puts.set(path, merged);
  }

  /** The file was moved away here and edited there: the edit follows it. */
  private async mergeMoved(
    source: OverlayRow,
    destination: OverlayRow,
    stood: Version | undefined,
    now: Version | undefined,
  ): Promise<void> {
    if (now?.target === undefined) return this.merge(source, source.path, stood, now);
    this.change({ put: { ...source, base: now.place.seq, kept: 0 } });
    await this.merge(destination, source.path, stood, now);
    this.followed.add(destination.path);
  }

  private staged(content: Buffer): StagedContent {
    const staged = this.overlay.stage(content);
    this.objects.push(staged);
    return staged;
  }

  private conflict(row: OverlayRow, at: RepoPath, current: number, reason: string, after: FileState | undefined): void {
    this.conflicts.add(row.path);
    const content = after && { blob: this.staged(after.content).blob, mode: after.mode };
    const base = at === row.path ? row.base : (this.rows.get(at)?.base ?? 0);
    const conflicted: OverlayRow = {
      ...row,
      kind: content ? 'put' : 'delete',
      content,
      kept: 0,
      conflict: { at, base, current, reason, incoming: row.content },
    };
    this.change({ put: conflicted });
    if (content) this.puts.set(row.path, conflicted);
  }

  end(): SyncPlan {
    for (const { path, now } of this.coming) if (!this.followed.has(path)) this.bring(path, now);
    return {
      workspace: this.workspace,
      to: this.to,
      changes: [...this.changes.values()],
      objects: this.objects,
      files: this.files,
      updated: [...this.updated],
      merged: this.merged,
      conflicts: [...this.conflicts].toSorted(byPath),
      heldBack: this.heldBack,
    };
  }

  /** A path that comes to be, unless an edit stands where it or its directory must be. */
  private bring(path: RepoPath, now: Version): void {
    const above = parentsOfPath(path).find((parent) => this.puts.has(parent));
    const inTheWay = above === undefined ? this.putsBelow(path) : [above];
    if (inTheWay.length === 0) return this.landed(path, undefined, now);
    this.heldBack.push(path);
    const held = this.rows.get(path)?.base ?? this.workspace.seq;
    this.change({ put: pin(path, held) });
    for (const put of inTheWay) {
      const row = this.puts.get(put);
      if (row === undefined || row.conflict !== undefined) continue;
      const conflict = { at: path, base: 0, current: this.to, reason: 'path-clash', incoming: row.content };
      const conflicted = { ...row, conflict };
      this.puts.set(put, conflicted);
      this.conflicts.add(put);
      this.change({ put: conflicted });
    }
  }

  private putsBelow(directory: RepoPath): RepoPath[] {
    return [...this.puts.keys()].filter((path) => path.startsWith(`${directory}/`));
  }
}

const labelsOf = (
  now: Version | undefined,
  workspace: string,
): { base: string; current: string; incoming: string } => ({
  base: 'base',
  current: `current at ${now?.place.seq ?? 0}`,
  incoming: `workspace ${workspace}`,
});
