import type { Stats } from 'node:fs';
import { resolve } from 'node:path';
import type { DiskLineEnds, LineEndSettings } from '../attributes/index.ts';
import { MoundError } from '../core/errors.ts';
import type { RepoPath } from '../core/ids.ts';
import type { StepName } from '../core/steps.ts';
import type { Outcome } from '../core/outcome.ts';
import type { OverlayRow, WorkspaceRow } from '../format/workspace.ts';
import type { CommitOptions, FileState, LocalConflict, Workspace } from '../repo/workspace-api.ts';
import type { OverlayWorkspace } from '../repo/workspace.ts';
import { changedPaths, type PlannedFile } from '../repo/workspace-sync.ts';
import { parentsOfPath } from '../core/path.ts';
import { DiskNames } from './disk-names.ts';
import { diskPathOf, isSameStat, lstatOf } from './disk-path.ts';
import { readDiskFile } from './disk-read.ts';
import { DiskChanged, DiskWriter } from './disk-write.ts';
import { inBatches } from './edit-batches.ts';
import type { FileCache } from './file-cache.ts';
import { clonerOf, type FileCloner } from './file-cloner.ts';
import { sparseFilter, type IgnoreFile } from './ignore-rules.ts';
import { isOnDisk, isPlain, toDisk } from './line-ends.ts';
import { LinkWatch } from './link-watch.ts';
import { diskAttributes, Scan, type DiskEdit, type ScanOptions, type Scanned } from './scan.ts';
import { ownFile, ownShared, setAsideShared } from './shared-files.ts';
import { fileSystemClockMs, StatIndex } from './stat-index.ts';
import { placesOf, treeAttributes } from './tree.ts';
import type { SkippedPath } from './written-tree.ts';
import type { DirectoryChange, DirectoryStatus, DirectorySync, WorkspaceDirectory } from './workspace-directory.ts';

const triesMax = 5;
/** A file that was modified within this time may be modified again without its stat data telling. */
const settledMs = 100;

export interface DirectoryOptions {
  readonly hasSymlinks: boolean;
  readonly hasModes: boolean;
  /** Its files were put in place as hard links. */
  readonly isOfLinks: boolean;
  readonly excludes: readonly IgnoreFile[];
  readonly lineEnds: LineEndSettings;
  readonly cache: FileCache;
}

/** The one implementation; see there. */
export class DiskDirectory implements WorkspaceDirectory {
  readonly dir: string;
  readonly workspace: Workspace;
  private readonly inner: OverlayWorkspace;
  private readonly options: DirectoryOptions;
  /** Stat data of files that were seen to hold what the rows say, by the sync that runs. */
  private clean: ReadonlyMap<RepoPath, Stats> = new Map();

  /** Use `openWorkspace` or `addWorkspace`. */
  constructor(dir: string, inner: OverlayWorkspace, options: DirectoryOptions) {
    this.dir = resolve(dir);
    this.inner = inner;
    this.workspace = inner;
    this.options = options;
  }

  /** For tests that make a process die at a named step. */
  reached(step: StepName): void {
    this.overlay.reader.store.steps.reach(step);
  }

  private get overlay(): OverlayWorkspace['overlay'] {
    return this.inner.overlay;
  }

  /** The index where it is as of the rows; else an empty one, by which every file is read. */
  private index(workspace: WorkspaceRow): { readonly index: StatIndex; readonly isWhole: boolean } {
    const found = StatIndex.load(this.dir);
    if (found !== undefined && found.generation === workspace.generation && workspace.syncTo === 0) {
      return { index: found, isWhole: true };
    }
    return { index: new StatIndex(workspace.generation, 0), isWhole: false };
  }

  /** Looks at every file. Errors: `file-changing`. */
  private async scan(): Promise<{ workspace: WorkspaceRow; index: StatIndex } & Scanned> {
    const workspace = this.overlay.workspace();
    const { index, isWhole } = this.index(workspace);
    const sinceMs = fileSystemClockMs(this.dir);
    const names = new DiskNames(this.dir);
    const places = isWhole ? undefined : placesOf(this.overlay, workspace, names);
    for (const path of places?.gitlinks ?? []) index.gitlinks.add(path);
    const known = places?.known ?? ([...index.paths] as RepoPath[]);
    const planned = await this.planned(workspace);
    const scanned = new Scan(this.overlay, workspace, this.dir, index, {
      known,
      planned,
      names,
      ...this.options,
      links: this.links(index, isWhole),
    }).run();
    if (index.isDirty || !isWhole) {
      index.sinceMs = sinceMs;
      // A new one does not know of files that are gone: without it they are looked for again.
      const isForgetful = !isWhole && scanned.edits.some(({ stat }) => stat === undefined);
      if (workspace.syncTo === 0 && !isForgetful) index.save(this.dir);
    }
    return { workspace, index, ...scanned };
  }

  private links(index: StatIndex, isWhole: boolean): LinkWatch {
    return new LinkWatch(this.options.cache, index, this.options.isOfLinks, isWhole);
  }

  /** What a sync that was interrupted was about to make of the files. */
  private async planned(workspace: WorkspaceRow): Promise<ScanOptions['planned']> {
    if (workspace.syncTo === 0) return new Map();
    const { files } = await this.inner.plan(workspace.syncTo);
    return new Map(
      files.map(({ path, after }) => [path, after && { blob: this.overlay.stage(after.content).blob, ...after }]),
    );
  }

  /** Errors: `file-changing`. */
  async status(): Promise<DirectoryStatus> {
    const { workspace, edits, refused } = await this.scan();
    const changes = this.rowsWith(workspace, edits).map(({ row }) => this.inner.changeOf(workspace, row));
    return { workspace: this.inner.name, seq: this.inner.seq, changes, refused };
  }

  /** The rows of edits as they would be with what was found on disk, in byte order. */
  private rowsWith(
    workspace: WorkspaceRow,
    edits: readonly DiskEdit[],
  ): { row: OverlayRow; edit: DiskEdit | undefined }[] {
    const found = new Map<RepoPath, { row: OverlayRow; edit: DiskEdit | undefined }>();
    for (const row of this.overlay.rows()) if (row.kind !== 'pin') found.set(row.path, { row, edit: undefined });
    for (const edit of edits) {
      const content = edit.content && { blob: this.overlay.stage(edit.content).blob, mode: edit.mode };
      const change = this.overlay.edited(workspace, edit.path, content ?? undefined, edit.conflict);
      if ('put' in change && change.put.kind !== 'pin') found.set(edit.path, { row: change.put, edit });
      else found.delete(edit.path);
    }
    return [...found.values()].toSorted((a, b) => Buffer.compare(Buffer.from(a.row.path), Buffer.from(b.row.path)));
  }

  /** Every changed path with both contents. Errors: `file-changing`, `purged`. */
  async changes(): Promise<DirectoryChange[]> {
    const { workspace, edits } = await this.scan();
    return this.rowsWith(workspace, edits).map(({ row, edit }) => {
      const before = this.overlay.stateOf(this.overlay.versionAsOf(workspace.branchId, row.path, row.base));
      const after =
        edit === undefined
          ? this.overlay.content(workspace, row.path, row)
          : (edit.content && { content: Buffer.from(edit.content), mode: edit.mode }) || undefined;
      return { ...this.inner.changeOf(workspace, row), before, after };
    });
  }

  /** Makes rows of all edits on disk. Errors: `file-changing`. */
  async shelve(): Promise<DirectoryStatus> {
    const { workspace, index, edits, refused } = await this.scan();
    await this.shelveEdits(workspace, index, edits);
    return { ...this.inner.status(), refused };
  }

  /** The index is right again once all of what was found is shelved. */
  private async shelveEdits(workspace: WorkspaceRow, index: StatIndex, edits: readonly DiskEdit[]): Promise<void> {
    if (edits.length === 0) return;
    setAsideShared(this.options.cache, this.dir, edits, () => this.reached('shared-aside'));
    let { generation } = workspace;
    for (const batch of inBatches(edits)) {
      generation = (await this.inner.shelve(batch)) === generation + 1 ? generation + 1 : Number.NaN;
      for (const { path, stat, isLinked } of batch) {
        if (stat === undefined) index.delete(path);
        else index.set(path, stat, isLinked);
      }
      ownShared(this.writer(), batch, index, () => this.reached('shared-owned'));
    }
    if (workspace.syncTo === 0) this.saveIndex(index, generation);
  }

  /** Another process has changed the rows where the generation is not the one expected: then the index is void. */
  private saveIndex(index: StatIndex, generation: number): void {
    index.generation = generation;
    index.save(this.dir);
  }

  /** Shelves everything and lets go of the directory. */
  async close(): Promise<void> {
    await this.shelve();
  }

  /** Shelves, then lands the edits, or those of named paths. Errors: `file-changing`, `no-such-path`. */
  async commit(options: CommitOptions): Promise<Outcome> {
    await this.finishSync();
    await this.shelve();
    return this.inner.committed(options, (files, workspace) => void this.writeFiles(files, workspace));
  }

  /**
   * Brings the files to a later seq, default the newest. Edits are merged, never removed.
   * Errors: `no-such-seq`, `path-clash` and `path-refused` where something on disk is in the way, `file-changing`.
   */
  async sync({ to }: { readonly to?: number } = {}): Promise<DirectorySync> {
    await this.finishSync();
    return this.syncTo(to);
  }

  /** Goes on with a sync that was interrupted. */
  private async finishSync(): Promise<void> {
    const { syncTo } = this.overlay.workspace();
    if (syncTo > 0) {
      await this.shelve();
      await this.syncTo(syncTo);
    }
  }

  /** What the path's file holds now is the merge of both sides. Errors: as `Workspace.resolve`, `file-changing`. */
  async resolve(path: string): Promise<void> {
    await this.shelve();
    const own = ownFile(this.writer(), this.dir, path as RepoPath);
    await this.withIndex(
      () => this.inner.resolve(path),
      (index) => own && index.set(path, own),
    );
  }

  conflict(path: string): LocalConflict {
    return this.inner.conflict(path);
  }

  /** Takes back the edits of paths, on disk, too. Errors: `file-changing`, `path-refused`. */
  async discard(paths: readonly string[]): Promise<RepoPath[]> {
    await this.finishSync();
    await this.shelve();
    const files = await this.inner.discarded(paths, (found, workspace) => void this.writeFiles(found, workspace, true));
    return files.map(({ path }) => path);
  }

  /** Runs what changes the rows once and no file. */
  private async withIndex(change: () => Promise<void>, note: (index: StatIndex) => void): Promise<void> {
    const { index, isWhole } = this.index(this.overlay.workspace());
    note(index);
    await change();
    const { generation } = this.overlay.workspace();
    if (isWhole && generation === index.generation + 1) this.saveIndex(index, generation);
  }

  private async syncTo(to: number | undefined): Promise<DirectorySync> {
    let skipped: SkippedPath[] = [];
    for (let tries = 0; ; tries++) {
      const target = to ?? this.overlay.reader.store.counters.lastSeq;
      await this.shelveWhatChanges(target);
      try {
        const report = await this.inner.synced(target, (files, workspace) => {
          skipped = this.writeFiles(files, workspace);
        });
        return { ...report, skipped };
      } catch (error) {
        if (!(error instanceof DiskChanged)) throw error;
        if (tries < triesMax) {
          await this.shelve();
          continue;
        }
        throw new MoundError(
          'file-changing',
          `${error.path} changes while it is synced; try again when nobody writes to it`,
          { path: error.path },
        );
      }
    }
  }

  /** Shelves edits on disk of paths that a sync changes, and of what stands in their way. */
  private async shelveWhatChanges(to: number): Promise<void> {
    let hasScanned = false;
    for (;;) {
      const workspace = this.overlay.workspace();
      const { index, isWhole } = this.index(workspace);
      if (!isWhole) {
        await this.shelve();
        if (this.overlay.workspace().syncTo > 0) return;
        continue;
      }
      const paths = to > workspace.seq ? changedPaths(this.overlay, workspace, to) : new Set<RepoPath>();
      if (!hasScanned && this.hasMoved(workspace, paths, to)) {
        // What was added beside files that moved goes along with them: only a whole scan finds it.
        hasScanned = true;
        await this.shelve();
        continue;
      }
      for (const { path } of this.overlay.rows()) paths.add(path);
      for (const path of paths) {
        for (const parent of parentsOfPath(path)) {
          const stat = lstatOf(diskPathOf(this.dir, parent));
          if (stat !== undefined && !stat.isDirectory()) paths.add(parent);
        }
      }
      const links = this.links(index, isWhole);
      const options = { known: [], planned: new Map(), names: new DiskNames(this.dir), ...this.options, links };
      const scan = new Scan(this.overlay, workspace, this.dir, index, options);
      const { edits } = scan.look(paths);
      this.clean = scan.clean;
      if (edits.length === 0) return;
      await this.shelveEdits(workspace, index, edits);
    }
  }

  private hasMoved({ branchId }: WorkspaceRow, paths: Iterable<RepoPath>, to: number): boolean {
    for (const path of paths) {
      const now = this.overlay.versionAsOf(branchId, path, to);
      const isGone = now !== undefined && now.target === undefined;
      if (isGone && this.overlay.reader.change(now.place).movedPathId !== 0) return true;
    }
    return false;
  }

  /** Whether a file is still what was seen of it; one that was written just now, or not looked at, is read. */
  private isSeen(
    path: RepoPath,
    stat: Stats | undefined,
    index: StatIndex,
    lineEnds: DiskLineEnds,
    states: readonly (FileState | undefined)[],
  ): boolean {
    if (stat === undefined) return states.includes(undefined);
    const row = index.row(path);
    const clean = this.clean.get(path);
    const isKnown = clean === undefined ? row !== undefined && index.isEqual(row, stat) : isSameStat(clean, stat);
    if (isKnown && Date.now() - stat.mtimeMs > settledMs) return true;
    const file = readDiskFile(diskPathOf(this.dir, path), path);
    if (file === undefined) return states.includes(undefined);
    return states.some((state) => {
      if (state === undefined) return false;
      const { content } = state;
      return file.stat.isSymbolicLink() ? file.content.equals(content) : isOnDisk(file.content, content, lineEnds);
    });
  }

  private writer(cloner?: FileCloner): DiskWriter {
    return new DiskWriter(this.dir, this.options.hasSymlinks, cloner);
  }

  /**
   * Makes files what the rows will say one change of the generation later; gives their index that generation. Gives
   * those that it could not.
   */
  private writeFiles(files: readonly PlannedFile[], workspace: WorkspaceRow, isForced = false): SkippedPath[] {
    const found = StatIndex.load(this.dir);
    const isWhole =
      found !== undefined &&
      (found.generation === workspace.generation || found.generation === workspace.generation - 1);
    const index = isWhole ? found : new StatIndex(Number.NaN, 0);
    const isChosen = sparseFilter(workspace.sparse);
    const writer = this.writer(clonerOf(this.overlay, this.options.cache, this.dir));
    const names = new DiskNames(this.dir);
    const skipped: SkippedPath[] = [];
    const after = new Map(files.map((file) => [file.path, file.after]));
    const attributes = treeAttributes(this.overlay, workspace, this.options.lineEnds, after);
    const inPlace = files.filter(({ path, after: state }) => {
      const isOther = state?.mode === 'gitlink' || index.gitlinks.has(path);
      if (isOther || !(isChosen(path) || index.has(path))) return false;
      const reason = names.refusalOf(path);
      if (reason !== undefined && state !== undefined) skipped.push({ path, reason });
      return reason === undefined;
    });
    // Looked up before any file changes: what stands there was written by the attributes that stood beside it.
    const seenAs = diskAttributes(this.dir, this.options.lineEnds);
    for (const { path } of inPlace) seenAs.of(path);
    for (const { path, before, after: state } of inPlace) {
      if (state !== undefined || (!index.has(path) && names.refusalOfNew(path) !== undefined)) continue;
      writer.remove(path, (stat) => isForced || this.isSeen(path, stat, index, seenAs.of(path), [before, state]));
      index.delete(path);
      this.reached('file-replaced');
    }
    for (const { path, before, after: state, blob } of inPlace) {
      if (state === undefined) continue;
      // Only now, for what was in its place under a name in other case may be gone.
      const reason = index.has(path) ? undefined : names.refusalOfNew(path);
      if (reason !== undefined) {
        skipped.push({ path, reason });
        continue;
      }
      const lineEnds = attributes.of(path);
      const isLink = state.mode === 'symlink';
      const content = isLink ? state.content : toDisk(state.content, lineEnds);
      const isSeen = (stat: Stats | undefined): boolean =>
        isForced || this.isSeen(path, stat, index, seenAs.of(path), [before, state]);
      const isAsLanded = !isLink && isPlain(lineEnds);
      index.set(path, writer.write(path, { ...state, content }, isSeen, isAsLanded ? blob : undefined));
      this.reached('file-replaced');
    }
    this.reached('files-synced');
    if (isWhole) this.saveIndex(index, workspace.generation + 1);
    return skipped;
  }
}
