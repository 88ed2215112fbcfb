import { MoundError } from '../core/errors.ts';
import type { BlobId, Seq } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Intent } from '../core/intent.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Clock, Random } from '../core/ports.ts';
import { blobsOfOverlay, type WorkspaceRow, type WorkspaceState } from '../format/workspace.ts';
import type { Lander } from '../land/lander.ts';
import type { LogReader } from '../log/log-reader.ts';
import { dropWorkspace, getWorkspace, overlayRows, putWorkspace, workspaceRows } from '../log/overlays.ts';
import type { MergePool } from '../merge/index.ts';
import { systemPlace } from '../store/place.ts';
import { startOfProcess } from '../store/thread-state.ts';
import { noSuchWorkspace, Overlay } from './overlay.ts';
import { checkSeq } from './snapshot.ts';
import type { Workspace, WorkspaceOptions, WorkspaceView } from './workspace-api.ts';
import { OverlayWorkspace } from './workspace.ts';

export interface WorkspacesParts {
  readonly reader: LogReader;
  readonly lander: Lander;
  readonly mergePool: MergePool;
  readonly clock: Clock;
  readonly random: Random;
  readonly land: (intent: Intent) => Promise<Outcome>;
}

/** A new workspace's place and files. */
export interface NewWorkspace extends Pick<WorkspaceOptions, 'branch' | 'at'> {
  readonly dir: string | undefined;
  readonly sparse: readonly string[];
  readonly state: WorkspaceState;
}

const thisProcess = (): string =>
  `${process.pid} ${startOfProcess(process.pid) ?? 0} ${systemPlace.bootId() ?? 'unknown'}`;

/** Whether the process that adds or removes a workspace still runs. */
export function isDoing({ doer }: WorkspaceRow): boolean {
  const [pid, start, bootId] = doer.split(' ');
  if (bootId !== (systemPlace.bootId() ?? 'unknown')) return false;
  const began = startOfProcess(Number(pid));
  return began !== undefined && (start === '0' || began === start);
}

/** The workspaces of one repository, by name. */
export class Workspaces {
  private readonly parts: WorkspacesParts;

  constructor(parts: WorkspacesParts) {
    this.parts = parts;
  }

  private get store(): LogReader['store'] {
    return this.parts.reader.store;
  }

  rows(): WorkspaceRow[] {
    this.store.mustBeOpen();
    this.parts.reader.refresh();
    return workspaceRows(this.store);
  }

  getRow(name: string): WorkspaceRow | undefined {
    this.store.mustBeOpen();
    this.parts.reader.refresh();
    return getWorkspace(this.store, name);
  }

  list(): WorkspaceView[] {
    return this.rows().map((row) => this.view(row));
  }

  private view({ id, name, branchId, seq, dir, sparse, state, time }: WorkspaceRow): WorkspaceView {
    const rows = overlayRows(this.store, id).filter(({ kind }) => kind !== 'pin');
    const conflicts = rows.filter(({ conflict }) => conflict !== undefined).length;
    const branch = this.parts.reader.branch(branchId).name;
    return { name, branch, seq: seq as Seq, dir, sparse, state, edits: rows.length, conflicts, time };
  }

  /** Edits that name one of these objects. */
  mentionsOf(blobs: ReadonlySet<BlobId>): { readonly seq: number; readonly where: string }[] {
    return this.rows().flatMap(({ name, id }) =>
      overlayRows(this.store, id)
        .filter((row) => blobsOfOverlay(row).some((blob) => blobs.has(blob)))
        .map(({ path }) => ({ seq: 0, where: `edit of ${path} in workspace ${name}` })),
    );
  }

  /** Errors: `no-such-workspace`, `workspace-exists`, `no-such-seq`, `no-such-branch`, `invalid-argument`. */
  async open(name: string, options: WorkspaceOptions = {}): Promise<Workspace> {
    const { create = true } = options;
    const known = create === 'new' ? undefined : this.getRow(name);
    if (known !== undefined && known.state !== 'adding') return this.opened(known, false);
    if (create === false) throw noSuchWorkspace(name);
    const added = await this.add(name, { ...options, dir: undefined, sparse: [], state: 'ready' });
    if (added !== undefined) return this.opened(added, false);
    // Another came first.
    const other = this.getRow(name);
    if (create !== 'new' && other !== undefined) return this.opened(other, false);
    throw existsAlready(name);
  }

  opened(row: WorkspaceRow, isOfDirectory: boolean): OverlayWorkspace {
    const { reader, lander, mergePool, clock, land } = this.parts;
    return new OverlayWorkspace(new Overlay(reader, lander, clock, row), mergePool, land, isOfDirectory);
  }

  /** Undefined: there is one of that name. Errors: as `open`. */
  async add(
    name: string,
    { branch = 'main', at, dir, sparse, state }: NewWorkspace,
  ): Promise<WorkspaceRow | undefined> {
    mustBeName(name);
    const { reader, clock, random, lander } = this.parts;
    this.store.mustBeOpen();
    reader.refresh();
    const branchId = reader.branchNamed(branch).id;
    const { lastSeq } = this.store.counters;
    if (at !== undefined) checkSeq(at, lastSeq);
    const row: WorkspaceRow = {
      name,
      id: Buffer.from(random.bytes(8)).toString('hex'),
      branchId,
      seq: at ?? lastSeq,
      dir,
      sparse,
      generation: 1,
      syncTo: 0,
      state,
      doer: thisProcess(),
      time: clock.now(),
    };
    const isAdded = await lander.act(() => {
      if (getWorkspace(this.store, name) !== undefined) return false;
      putWorkspace(this.store, row);
      return true;
    });
    this.store.steps.reach('workspace-named');
    return isAdded ? row : undefined;
  }

  /** Sets the state of a workspace, for this process; false where it is gone or was added anew. */
  async mark({ name, id }: WorkspaceRow, state: WorkspaceState): Promise<boolean> {
    return this.parts.lander.act(() => {
      const row = getWorkspace(this.store, name);
      if (row?.id !== id) return false;
      putWorkspace(this.store, { ...row, state, doer: thisProcess() });
      return true;
    });
  }

  /** Its files are somewhere else now. */
  async moveTo({ name, id }: WorkspaceRow, dir: string): Promise<void> {
    await this.parts.lander.act(() => {
      const row = getWorkspace(this.store, name);
      if (row?.id === id) putWorkspace(this.store, { ...row, dir });
    });
  }

  /** Drops a workspace and its rows. With `isUnused` only if it has no edit, as of this very transaction. */
  async drop({ name, id }: WorkspaceRow, isUnused = false): Promise<boolean> {
    return this.parts.lander.act(() => {
      const row = getWorkspace(this.store, name);
      if (row?.id !== id) return true;
      if (isUnused && overlayRows(this.store, id).some(({ kind }) => kind !== 'pin')) return false;
      dropWorkspace(this.store, row);
      return true;
    });
  }

  /** Errors: `no-such-workspace`, `workspace-has-files`, `workspace-has-work`. */
  async remove(name: string, { discard }: { discard?: string } = {}): Promise<void> {
    const row = this.getRow(name);
    if (row === undefined) throw noSuchWorkspace(name);
    if (row.dir !== undefined) {
      const message = `workspace ${name} has its files in ${row.dir}: remove it with them (removeWorkspace)`;
      throw new MoundError('workspace-has-files', message, { workspace: name, dir: row.dir });
    }
    if (!(await this.drop(row, discard !== name))) throw hasWork(name, this.view(row).edits);
  }
}

export const existsAlready = (name: string): MoundError =>
  new MoundError('workspace-exists', `there is a workspace '${name}' already; choose another name`, {
    workspace: name,
  });

export const hasWork = (name: string, count: number): MoundError =>
  new MoundError(
    'workspace-has-work',
    `workspace ${name} has ${count} unpublished change${count === 1 ? '' : 's'}; commit them, or force it with its name`,
    { workspace: name, changes: count },
  );

function mustBeName(name: string): void {
  const isName =
    /^[\p{L}\p{N}][\p{L}\p{N}._@+ -]*$/u.test(name) && Buffer.byteLength(name) <= limits.workspaceNameBytesMax;
  if (isName) return;
  const message = `${JSON.stringify(name)} is no name for a workspace: letters, digits and ._@+- in up to ${limits.workspaceNameBytesMax} bytes`;
  throw new MoundError('invalid-argument', message, { workspace: name });
}
