import { MoundError } from '../core/errors.ts';
import { conflictIdOf, parkedIdOf, type BlobId, type RepoPath, type Seq } from '../core/ids.ts';
import { isMode, type Mode } from '../core/mode.ts';
import type { Intent } from '../core/intent.ts';
import type { Outcome } from '../core/outcome.ts';
import { seqKey } from '../format/keys.ts';
import type { LocalConflictRow, OverlayRow, WorkspaceRow } from '../format/workspace.ts';
import { addedMarkers, type MergePool } from '../merge/index.ts';
import { isSameTarget, mustBePath, updateOf, type Overlay, type RowChange } from './overlay.ts';
import { checkSeq } from './snapshot.ts';
import type {
  CommitOptions,
  FileState,
  LocalConflict,
  ShelvedEdit,
  SyncReport,
  Workspace,
  WorkspaceChange,
  WorkspaceStatus,
} from './workspace-api.ts';
import { filesAfterCommit, pathsFilter, planCommit, rowsAfterCommit } from './workspace-commit.ts';
import { planSync, type PlannedFile, type SyncPlan } from './workspace-sync.ts';

const inBytes = <T extends { readonly path: RepoPath }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));

/** Called before the rows of a sync or commit are written, to make the files the same; not where it has none. */
export type WriteFiles = (files: readonly PlannedFile[], workspace: WorkspaceRow) => void;

/** The one kind of workspace; a directory of files is a user of it. */
export class OverlayWorkspace implements Workspace {
  readonly overlay: Overlay;
  readonly name: string;
  readonly dir: string | undefined;
  readonly branch: string;
  private readonly mergePool: MergePool;
  private readonly land: (intent: Intent) => Promise<Outcome>;
  /** Edits come from its files alone. */
  private readonly isOfDirectory: boolean;

  constructor(
    overlay: Overlay,
    mergePool: MergePool,
    land: (intent: Intent) => Promise<Outcome>,
    isOfDirectory: boolean,
  ) {
    this.overlay = overlay;
    this.mergePool = mergePool;
    this.land = land;
    this.isOfDirectory = isOfDirectory;
    const { name, dir, branchId } = overlay.workspace();
    this.name = name;
    this.dir = dir;
    this.branch = overlay.reader.branch(branchId).name;
  }

  get seq(): Seq {
    return this.overlay.workspace().seq as Seq;
  }

  read(path: string): Buffer | undefined {
    return this.overlay.content(this.overlay.workspace(), path as RepoPath)?.content;
  }

  readText(path: string): string | undefined {
    return this.read(path)?.toString('utf8');
  }

  head(path: string): { blob: BlobId; mode: Mode } | undefined {
    const target = this.overlay.target(this.overlay.workspace(), path as RepoPath);
    return target && { blob: target.blob, mode: target.mode };
  }

  list(prefix = ''): RepoPath[] {
    const workspace = this.overlay.workspace();
    const isBelow = prefix === '' ? () => true : pathsFilter([prefix]);
    const paths = new Set(
      this.overlay
        .snapshot(workspace)
        .list(prefix)
        .map(({ path }) => path),
    );
    for (const row of this.overlay.rows()) {
      if (!isBelow(row.path) || row.path === prefix) continue;
      if (this.overlay.target(workspace, row.path, row) === undefined) paths.delete(row.path);
      else paths.add(row.path);
    }
    return [...paths].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  private mustTakeEdits(): void {
    const { dir } = this.overlay.workspace();
    if (dir === undefined || this.isOfDirectory) return;
    const message = `workspace ${this.name} has its files in ${dir}: edit them there`;
    throw new MoundError('workspace-has-files', message, { workspace: this.name, dir });
  }

  private mustExist(workspace: WorkspaceRow, path: RepoPath): FileState {
    const state = this.overlay.content(workspace, path);
    if (state !== undefined) return state;
    throw new MoundError('no-such-path', `there is no ${path} in workspace ${this.name}`, { path });
  }

  private mustFit(workspace: WorkspaceRow, path: RepoPath): void {
    const clash = this.overlay.clashOf(workspace, path);
    if (clash === undefined) return;
    const message = `${path} cannot stand beside ${clash}: one is a file where the other needs a directory`;
    throw new MoundError('path-clash', message, { path, clash });
  }

  async write(path: string, content: Uint8Array | string, options: { mode?: Mode } = {}): Promise<void> {
    this.mustTakeEdits();
    const repoPath = mustBePath(path);
    if (options.mode !== undefined && !isMode(options.mode)) {
      throw new MoundError('invalid-argument', `${JSON.stringify(options.mode)} is no mode`, { path });
    }
    const staged = this.overlay.stage(Buffer.from(content as string));
    await this.overlay.update((workspace) => {
      const before = this.overlay.target(workspace, repoPath);
      if (before === undefined) this.mustFit(workspace, repoPath);
      const mode = options.mode ?? before?.mode ?? 'file';
      return updateOf([this.overlay.edited(workspace, repoPath, { blob: staged.blob, mode })], [staged]);
    });
  }

  async delete(path: string): Promise<void> {
    this.mustTakeEdits();
    const repoPath = mustBePath(path);
    await this.overlay.update((workspace) => {
      this.mustExist(workspace, repoPath);
      return updateOf([this.overlay.edited(workspace, repoPath, undefined)]);
    });
  }

  async chmod(path: string, mode: 'file' | 'executable'): Promise<void> {
    const content = this.mustExist(this.overlay.workspace(), path as RepoPath);
    await this.write(path, content.content, { mode });
  }

  async move(from: string, to: string): Promise<void> {
    this.mustTakeEdits();
    const [source, destination] = [mustBePath(from), mustBePath(to)];
    for (;;) {
      const seen = this.overlay.workspace();
      const { content, mode } = this.mustExist(seen, source);
      const staged = this.overlay.stage(content);
      const isDone = await this.overlay.update((workspace) => {
        if (workspace.generation !== seen.generation) return undefined;
        const clash =
          this.overlay.target(workspace, destination) === undefined
            ? this.overlay.clashOf(workspace, destination)
            : destination;
        if (clash !== undefined && clash !== source) {
          throw new MoundError('path-clash', `${to} cannot be moved to: ${clash} is there`, { path: to, clash });
        }
        return updateOf(this.moved(workspace, source, destination, { blob: staged.blob, mode }), [staged]);
      });
      if (isDone !== undefined) return;
    }
  }

  private moved(
    workspace: WorkspaceRow,
    from: RepoPath,
    to: RepoPath,
    content: { blob: BlobId; mode: Mode },
  ): RowChange[] {
    const before = this.overlay.getRowOf(from);
    const stood = before?.kind === 'put' ? this.overlay.versionAsOf(workspace.branchId, from, before.base) : undefined;
    const isNew = before?.kind === 'put' && stood?.target === undefined;
    const origin = isNew ? before.movedFrom : from;
    const put = this.overlay.edited(workspace, to, content);
    const isPut = 'put' in put && origin !== to;
    return [this.overlay.edited(workspace, from, undefined), isPut ? { put: { ...put.put, movedFrom: origin } } : put];
  }

  async discard(paths: readonly string[]): Promise<RepoPath[]> {
    this.mustTakeEdits();
    return (await this.discarded(paths)).map(({ path }) => path);
  }

  /** The same; gives what the files hold then. */
  async discarded(paths: readonly string[], writeFiles?: WriteFiles): Promise<PlannedFile[]> {
    const isNamed = pathsFilter(paths);
    const workspace = this.overlay.workspace();
    const rows = this.overlay.rows().filter((row) => row.kind !== 'pin' && isNamed(row.path));
    const files = rows.map(({ path, base }) => ({
      path,
      before: undefined,
      after: this.overlay.stateOf(this.overlay.versionAsOf(workspace.branchId, path, base)),
    }));
    writeFiles?.(files, workspace);
    await this.overlay.update((now) => updateOf(rows.map(({ path, base }) => this.overlay.unedited(now, path, base))));
    return files;
  }

  status(): WorkspaceStatus {
    const workspace = this.overlay.workspace();
    const rows = inBytes(this.overlay.rows().filter(({ kind }) => kind !== 'pin'));
    const changes = rows.map((row) => this.changeOf(workspace, row));
    return { workspace: this.name, seq: workspace.seq as Seq, changes };
  }

  changeOf(workspace: WorkspaceRow, row: OverlayRow): WorkspaceChange {
    const stood = this.overlay.versionAsOf(workspace.branchId, row.path, row.base)?.target;
    const added = row.movedFrom === undefined ? 'added' : 'moved';
    const kind = row.kind === 'delete' ? 'deleted' : stood === undefined ? added : 'modified';
    return {
      path: row.path,
      kind,
      mode: row.content?.mode,
      base: stood === undefined ? 0 : row.base,
      ...(row.movedFrom !== undefined && { movedFrom: row.movedFrom }),
      ...(row.conflict !== undefined && { conflict: row.conflict.reason }),
      ...(row.kept > 0 && { kept: this.keptId(row.kept) }),
    };
  }

  private keptId(seq: number): WorkspaceChange['kept'] & string {
    const isConflict = this.overlay.reader.store.tables.conflicts.getBinary(seqKey(seq)) !== undefined;
    return isConflict ? conflictIdOf(seq) : parkedIdOf(seq);
  }

  private mustBeInConflict(path: string): OverlayRow & { readonly conflict: LocalConflictRow } {
    const row = this.overlay.getRowOf(path as RepoPath);
    if (row?.conflict !== undefined) return { ...row, conflict: row.conflict };
    throw new MoundError('no-such-path', `${path} is in no local conflict in workspace ${this.name}`, { path });
  }

  conflict(path: string): LocalConflict {
    const { branchId } = this.overlay.workspace();
    const { conflict, path: repoPath } = this.mustBeInConflict(path);
    const { at, base, current, reason, incoming } = conflict;
    const side = (seq: number): FileState | null =>
      this.overlay.stateOf(this.overlay.versionAsOf(branchId, at, seq)) ?? null;
    return {
      path: repoPath,
      reason,
      base: side(base),
      current: side(current),
      incoming: incoming ? this.overlay.stateOfStaged(repoPath, incoming) : null,
    };
  }

  async resolve(path: string, content?: Uint8Array | string | null): Promise<void> {
    if (content !== undefined) {
      this.mustBeInConflict(path);
      if (content !== null) await this.write(path, content);
      else if (this.head(path) !== undefined) await this.delete(path);
    }
    for (;;) {
      const seen = this.overlay.workspace();
      const row = this.mustBeInConflict(path);
      this.mustBeFreeOfMarkers(row, this.conflict(path));
      const isDone = await this.overlay.update((workspace) => {
        if (workspace.generation !== seen.generation) return undefined;
        return updateOf([this.resolved(workspace, row)]);
      });
      if (isDone !== undefined) return;
    }
  }

  /** The resolution is an edit on the version that the sync brought. */
  private resolved(workspace: WorkspaceRow, row: OverlayRow & { readonly conflict: LocalConflictRow }): RowChange {
    const { at, current, reason } = row.conflict;
    if (at !== row.path || reason === 'path-clash') return { put: { ...row, conflict: undefined } };
    const now = this.overlay.versionAsOf(workspace.branchId, row.path, current);
    const base = now?.place.seq ?? 0;
    if (isSameTarget(now?.target, row.content)) return this.overlay.unedited(workspace, row.path, base);
    return { put: { ...row, base, conflict: undefined } };
  }

  private mustBeFreeOfMarkers(row: OverlayRow, { base, current, incoming }: LocalConflict): void {
    if (row.content === undefined) return;
    const { content } = this.overlay.stateOfStaged(row.path, row.content);
    const none = Buffer.alloc(0);
    const [line] = addedMarkers(
      content,
      [base, current, incoming].map((side) => side?.content ?? none),
    );
    if (line === undefined) return;
    const message = `${row.path} still holds a conflict marker in line ${line}`;
    throw new MoundError('invalid-argument', message, { path: row.path, line });
  }

  async sync({ to }: { to?: number } = {}): Promise<SyncReport> {
    this.mustTakeEdits();
    return this.synced(to);
  }

  /** The same; `writeFiles` makes the files what the rows will say, before they do. */
  async synced(to?: number, writeFiles?: WriteFiles): Promise<SyncReport> {
    for (;;) {
      const plan = await this.plan(to);
      if (writeFiles !== undefined) {
        const isNoted = await this.overlay.update((now) =>
          now.generation === plan.workspace.generation ? { ...updateOf([]), row: { syncTo: plan.to } } : undefined,
        );
        if (isNoted === undefined) continue;
        this.overlay.reader.store.steps.reach('sync-noted');
        writeFiles(plan.files, this.overlay.workspace());
      }
      const isDone = await this.overlay.update((now) => {
        const noted = writeFiles === undefined ? 0 : 1;
        if (now.generation !== plan.workspace.generation + noted) return undefined;
        return { ...updateOf(plan.changes, plan.objects), row: { seq: plan.to, syncTo: 0 } };
      });
      if (isDone !== undefined) return reportOf(plan);
    }
  }

  /** Errors: `no-such-seq`, also where `to` is before its seq. */
  async plan(to?: number): Promise<SyncPlan> {
    const workspace = this.overlay.workspace();
    const { lastSeq } = this.overlay.reader.store.counters;
    const target = to ?? lastSeq;
    checkSeq(target, lastSeq);
    if (target < workspace.seq) {
      const message = `workspace ${this.name} stands on seq ${workspace.seq}: it cannot be synced back to ${target}`;
      throw new MoundError('no-such-seq', message, { seq: target });
    }
    return planSync(this.overlay, this.mergePool, workspace, target);
  }

  async commit(options: CommitOptions): Promise<Outcome> {
    this.mustTakeEdits();
    return this.committed(options);
  }

  async committed(options: CommitOptions, writeFiles?: WriteFiles): Promise<Outcome> {
    const plan = planCommit(this.overlay, this.overlay.workspace(), options);
    if ('kind' in plan) return plan;
    const outcome = await this.land(plan.intent);
    this.overlay.reader.store.steps.reach('commit-landed');
    this.overlay.reader.refresh();
    if (outcome.kind === 'rejected') return outcome;
    writeFiles?.(filesAfterCommit(this.overlay, plan, outcome), plan.workspace);
    await this.overlay.update((workspace) => updateOf(rowsAfterCommit(this.overlay, workspace, plan, outcome)));
    this.overlay.reader.store.steps.reach('commit-settled');
    return outcome;
  }

  /** Makes rows of what was found on disk, in one transaction; gives the generation that it came to. */
  async shelve(edits: readonly ShelvedEdit[]): Promise<number | undefined> {
    const staged = edits.map(({ content }) => (content === null ? undefined : this.overlay.stage(content)));
    const generation = await this.overlay.update((workspace) =>
      updateOf(
        edits.map(({ path, mode, conflict }, at) => {
          const content = staged[at];
          return this.overlay.edited(workspace, path, content && { blob: content.blob, mode }, conflict);
        }),
        staged.filter((content) => content !== undefined),
      ),
    );
    this.overlay.reader.store.steps.reach('shelved');
    return generation;
  }
}

function reportOf({ workspace, to, updated, merged, conflicts, heldBack }: SyncPlan): SyncReport {
  return { from: workspace.seq as Seq, seq: to as Seq, updated, merged, conflicts, heldBack };
}
