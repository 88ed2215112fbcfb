import { MoundError } from '../core/errors.ts';
import type { BlobId, RepoPath } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Mode } from '../core/mode.ts';
import { isPathFault, parentsOfPath, parsePath } from '../core/path.ts';
import type { Clock } from '../core/ports.ts';
import { blobIdOf } from '../format/hash.ts';
import { encodeObject } from '../format/object.ts';
import type { LocalConflictRow, OverlayRow, WorkspaceRow } from '../format/workspace.ts';
import type { Lander } from '../land/lander.ts';
import type { LogReader } from '../log/log-reader.ts';
import { dropOverlay, getOverlay, getWorkspace, overlayRows, putOverlay, putWorkspace } from '../log/overlays.ts';
import { getObject, isSound, putObject } from '../log/staged.ts';
import type { Target, Version } from '../log/version.ts';
import type { FileState } from './workspace-api.ts';
import { LogSnapshot } from './snapshot.ts';

export const isSameTarget = (a: Target | undefined, b: Target | undefined): boolean =>
  a?.blob === b?.blob && a?.mode === b?.mode;

/** A content on its way into the store, hashed and encoded before any transaction. */
export interface StagedContent {
  readonly blob: BlobId;
  readonly rows: readonly Buffer[];
  readonly wasSound: boolean;
}

/** What a transaction writes to a workspace. */
export interface OverlayUpdate {
  readonly puts: readonly OverlayRow[];
  readonly drops: readonly RepoPath[];
  readonly objects: readonly StagedContent[];
  readonly row?: Partial<Pick<WorkspaceRow, 'seq' | 'syncTo'>>;
}

const isOverlayRow = (row: OverlayRow | undefined): row is OverlayRow => row !== undefined;

/** The rows of one workspace: read past no cache, written a transaction at a time. */
export class Overlay {
  readonly name: string;
  readonly id: string;
  readonly reader: LogReader;
  readonly lander: Lander;
  private readonly clock: Clock;

  constructor(reader: LogReader, lander: Lander, clock: Clock, row: WorkspaceRow) {
    this.reader = reader;
    this.lander = lander;
    this.clock = clock;
    this.name = row.name;
    this.id = row.id;
  }

  /** Errors: `no-such-workspace`, `repo-closed`. */
  workspace(): WorkspaceRow {
    this.reader.store.mustBeOpen();
    this.reader.refresh();
    const row = this.getRow();
    if (row === undefined) throw noSuchWorkspace(this.name);
    return row;
  }

  private getRow(): WorkspaceRow | undefined {
    const row = getWorkspace(this.reader.store, this.name);
    return row?.id === this.id ? row : undefined;
  }

  rows(): OverlayRow[] {
    return overlayRows(this.reader.store, this.id);
  }

  getRowOf(path: RepoPath): OverlayRow | undefined {
    return getOverlay(this.reader.store, this.id, path);
  }

  snapshot({ branchId, seq }: WorkspaceRow): LogSnapshot {
    return new LogSnapshot(this.reader, this.reader.branch(branchId), seq, seq);
  }

  /** The version of a path as of a seq; a tombstone where it was deleted, undefined where it never was. */
  versionAsOf(branchId: number, path: RepoPath, seq: number): Version | undefined {
    const pathId = seq === 0 ? undefined : this.reader.getPathId(path);
    const head = pathId === undefined ? undefined : this.reader.heads.get(branchId, pathId);
    return head && this.reader.versionAsOf(head, seq);
  }

  /** Every path of the snapshot beneath, pins and edits aside. */
  *versions(workspace: WorkspaceRow): Generator<{ readonly path: RepoPath; readonly version: Version }> {
    for (const { path } of this.snapshot(workspace).list()) {
      const version = this.versionAsOf(workspace.branchId, path, workspace.seq);
      if (version !== undefined) yield { path, version };
    }
  }

  /** What stands under the edits of a path: as of its pin, else as of the workspace's seq. */
  beneath(workspace: WorkspaceRow, path: RepoPath, row: OverlayRow | undefined): Version | undefined {
    return this.versionAsOf(workspace.branchId, path, row?.kind === 'pin' ? row.base : workspace.seq);
  }

  /** What a path holds. */
  target(
    workspace: WorkspaceRow,
    path: RepoPath,
    row: OverlayRow | undefined = this.getRowOf(path),
  ): Target | undefined {
    if (row?.kind === 'put') return row.content;
    return row?.kind === 'delete' ? undefined : this.beneath(workspace, path, row)?.target;
  }

  /** Bytes of what a path holds. Errors: `purged`, `object-damaged`. */
  content(
    workspace: WorkspaceRow,
    path: RepoPath,
    row: OverlayRow | undefined = this.getRowOf(path),
  ): FileState | undefined {
    if (row?.kind === 'put' && row.content) return this.stateOfStaged(path, row.content);
    const version = row?.kind === 'delete' ? undefined : this.beneath(workspace, path, row);
    return this.stateOf(version);
  }

  stateOf(version: Version | undefined): FileState | undefined {
    if (version?.target === undefined) return undefined;
    return { content: this.reader.content(version.place), mode: version.target.mode };
  }

  stateOfStaged(path: RepoPath, { blob, mode }: Target): FileState {
    const content = getObject(this.reader.store, blob);
    if (content !== undefined) return { content, mode };
    throw new MoundError('purged', `the edit of ${path} in workspace ${this.name} was purged; discard it`, {
      path,
      blob,
    });
  }

  /** A path that cannot stand in one tree with this one. */
  clashOf(workspace: WorkspaceRow, path: RepoPath): RepoPath | undefined {
    const above = parentsOfPath(path).find((parent) => this.target(workspace, parent) !== undefined);
    if (above !== undefined) return above;
    const rows = new Map(this.rows().map((row) => [row.path, row]));
    const below = [...rows.values()].find((row) => row.kind === 'put' && row.path.startsWith(`${path}/`));
    if (below !== undefined) return below.path;
    for (const head of this.snapshot(workspace).list(path)) {
      if (this.target(workspace, head.path, rows.get(head.path)) !== undefined) return head.path;
    }
    return undefined;
  }

  stage(content: Uint8Array): StagedContent {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
    if (bytes.length > limits.blobSizeBytesMax) {
      const message = `a content of ${bytes.length} bytes is over the limit blobSizeBytesMax of ${limits.blobSizeBytesMax}`;
      throw new MoundError('invalid-argument', message, { size: bytes.length });
    }
    const blob = blobIdOf(bytes);
    return { blob, rows: encodeObject(bytes, this.clock.now()), wasSound: isSound(this.reader.store, blob) };
  }

  /**
   * One transaction over the workspace as it is in it. `decide` gives what to write, or undefined to write nothing
   * (then the answer is undefined: what the caller had seen has changed). Gives the generation that it came to.
   */
  async update(decide: (workspace: WorkspaceRow) => OverlayUpdate | undefined): Promise<number | undefined> {
    const { store } = this.reader;
    const written = await this.lander.act(() => {
      const workspace = this.getRow();
      if (workspace === undefined) return noSuchWorkspace(this.name);
      const update = decided(() => decide(workspace));
      if (update === undefined) return undefined;
      if (update instanceof MoundError) return update;
      const now = this.clock.now();
      for (const { blob, rows, wasSound } of update.objects) putObject(store, blob, rows, now, wasSound);
      for (const path of update.drops) dropOverlay(store, this.id, path);
      for (const row of update.puts) putOverlay(store, this.id, row);
      store.steps.reach('overlay-written');
      const generation = workspace.generation + 1;
      putWorkspace(store, { ...workspace, ...update.row, generation });
      return generation;
    });
    if (written instanceof MoundError) throw written;
    return written;
  }

  /**
   * Inside `update`: the rows that make a path hold something: none where that is what stands beneath. Keeps what
   * the edit was made on, where it was moved from, and its conflict. `conflict`: why it is one with what it was made on.
   */
  edited(
    workspace: WorkspaceRow,
    path: RepoPath,
    content: { blob: BlobId; mode: Mode } | undefined,
    conflict?: string,
  ): RowChange {
    const before = this.getRowOf(path);
    const edit = before?.kind === 'pin' ? undefined : before;
    const beneath = this.beneath(workspace, path, before);
    const base = edit ? edit.base : (beneath?.place.seq ?? 0);
    const stood = this.versionAsOf(workspace.branchId, path, base);
    if (edit?.conflict === undefined && isSameTarget(stood?.target, content)) {
      return this.unedited(workspace, path, base);
    }
    const row: OverlayRow = {
      path,
      kind: content === undefined ? 'delete' : 'put',
      base,
      content,
      movedFrom: content === undefined ? undefined : edit?.movedFrom,
      kept: edit !== undefined && isSameTarget(edit.content, content) ? edit.kept : 0,
      conflict: edit?.conflict ?? (conflict === undefined ? undefined : inConflict(path, base, content, conflict)),
    };
    return { put: row };
  }

  /** The row of a path that stands as of `base` again: a pin, where the workspace's own seq is another. */
  unedited(workspace: WorkspaceRow, path: RepoPath, base: number): RowChange {
    const now = this.versionAsOf(workspace.branchId, path, workspace.seq);
    return (now?.place.seq ?? 0) === base ? { drop: path } : { put: pin(path, base) };
  }
}

/** A refusal as a value: a throw would roll back what others have written in the same transaction. */
function decided<T>(decide: () => T): T | MoundError {
  try {
    return decide();
  } catch (error) {
    if (error instanceof MoundError) return error;
    throw error;
  }
}

const inConflict = (
  path: RepoPath,
  base: number,
  incoming: LocalConflictRow['incoming'],
  reason: string,
): LocalConflictRow => ({ at: path, base, current: base, reason, incoming });

/** What becomes of one row. */
export type RowChange = { readonly put: OverlayRow } | { readonly drop: RepoPath };

export const pin = (path: RepoPath, base: number): OverlayRow => ({
  path,
  kind: 'pin',
  base,
  content: undefined,
  movedFrom: undefined,
  kept: 0,
  conflict: undefined,
});

export function updateOf(changes: readonly RowChange[], objects: readonly StagedContent[] = []): OverlayUpdate {
  return {
    puts: changes.map((change) => ('put' in change ? change.put : undefined)).filter(isOverlayRow),
    drops: changes.flatMap((change) => ('drop' in change ? [change.drop] : [])),
    objects,
  };
}

export const noSuchWorkspace = (name: string): MoundError =>
  new MoundError('no-such-workspace', `there is no workspace '${name}'; 'mound workspace list' lists them`, {
    workspace: name,
  });

/** Errors: `path-refused`. */
export function mustBePath(path: string): RepoPath {
  const parsed = parsePath(path);
  if (!isPathFault(parsed)) return parsed;
  throw new MoundError('path-refused', `path ${JSON.stringify(path)} ${parsed.reason}`, { path });
}
