import { createHash } from 'node:crypto';
import { MoundError } from '../core/errors.ts';
import { seqOfId, type RepoPath, type Seq } from '../core/ids.ts';
import { absent, version, type Change, type Intent } from '../core/intent.ts';
import type { Outcome } from '../core/outcome.ts';
import type { OverlayRow, WorkspaceRow } from '../format/workspace.ts';
import { reject } from '../intent/reject.ts';
import type { Version } from '../log/version.ts';
import { detectRenames, type RenameFile } from '../merge/index.ts';
import { isSameTarget, mustBePath, pin, type Overlay, type RowChange } from './overlay.ts';
import { asOfCommit, UpstreamMoves } from './upstream-moves.ts';
import type { CommitOptions } from './workspace-api.ts';
import type { PlannedFile } from './workspace-sync.ts';

/** Edits that a commit takes, and the intent that lands them. */
export interface CommitPlan {
  readonly workspace: WorkspaceRow;
  readonly rows: readonly OverlayRow[];
  readonly intent: Intent;
}

/** Why a path is in local conflict whose file on disk others share. */
export const writtenThroughLink = 'written-through-link';

const isEdit = (row: OverlayRow): boolean => row.kind !== 'pin';

/** Whether a path is one of those named, or below one. Errors: `path-refused`. */
export function pathsFilter(paths: readonly string[]): (path: RepoPath) => boolean {
  const named = paths.map((path) => {
    const plain = path.replace(/\/+$/, '');
    return plain === '' || plain === '.' ? '' : mustBePath(plain);
  });
  return (path) => named.some((name) => name === '' || path === name || path.startsWith(`${name}/`));
}

/**
 * The intent of a commit, or its outcome where nothing needs to be landed.
 * Errors: `no-such-path` where a named path has no edit and is nothing, `path-refused`, `purged`.
 */
export function planCommit(overlay: Overlay, workspace: WorkspaceRow, options: CommitOptions): CommitPlan | Outcome {
  const { paths, ...rest } = options;
  const rows = overlay.rows();
  const all = rows.filter(isEdit);
  const chosen = paths === undefined ? all.filter(({ kept }) => kept === 0) : namedRows(overlay, workspace, all, paths);
  const blocked = chosen.filter(({ conflict }) => conflict !== undefined).map(({ path }) => path);
  if (blocked.length > 0) {
    const shared = chosen.filter(({ conflict }) => conflict?.reason === writtenThroughLink).map(({ path }) => path);
    const isShared = shared.length === blocked.length;
    const message = isShared
      ? `${blocked.join(', ')} changed through a hard link that other workspaces may share: it may be another's edit`
      : `${blocked.join(', ')} did not merge with what the last sync brought`;
    const hint = isShared
      ? 'resolve what is meant so here, discard the rest, or name other paths'
      : 'settle it in the workspace and resolve it, or name other paths';
    return reject('workspace-conflict', message, hint, { paths: blocked });
  }
  const noRecords = rest.records === undefined || rest.records.length === 0;
  if (chosen.length === 0 && noRecords) return { kind: 'unchanged', seq: workspace.seq as Seq };
  const changes = changesOf(overlay, workspace, chosen);
  const branch = overlay.reader.branch(workspace.branchId).name;
  const operationId = rest.operationId ?? operationIdOf(workspace, options);
  const asOf = asOfCommit(overlay, workspace, rows, chosen);
  const seen = asOf === undefined ? {} : { asOf };
  return { workspace, rows: chosen, intent: { ...rest, ...seen, branch, operationId, changes } };
}

/** The rows of named paths, and of a move both ends. */
function namedRows(
  overlay: Overlay,
  workspace: WorkspaceRow,
  rows: readonly OverlayRow[],
  paths: readonly string[],
): OverlayRow[] {
  for (const path of paths) {
    const isNamed = pathsFilter([path]);
    if (rows.some((row) => isNamed(row.path))) continue;
    const plain = path.replace(/\/+$/, '');
    const snapshot = overlay.snapshot(workspace);
    if (plain === '' || plain === '.' || snapshot.head(plain) || snapshot.list(plain).length > 0) continue;
    throw new MoundError('no-such-path', `there is no ${path} in workspace ${workspace.name}`, { path });
  }
  const isNamed = pathsFilter(paths);
  const chosen = new Set(rows.filter(({ path }) => isNamed(path)));
  for (const row of rows) {
    if (row.movedFrom === undefined) continue;
    const source = rows.find(({ path, kind }) => path === row.movedFrom && kind === 'delete');
    if (source === undefined || (!chosen.has(row) && !chosen.has(source))) continue;
    chosen.add(row);
    chosen.add(source);
  }
  return [...chosen];
}

/** The same workspace asked the same answers the same: a commit that was interrupted can be repeated. */
function operationIdOf({ id, generation }: WorkspaceRow, options: CommitOptions): string {
  const asked = createHash('sha256').update(JSON.stringify(options, withBytes)).digest('hex').slice(0, 32);
  return `workspace/${id}/${generation}/${asked}`;
}

const withBytes = (_key: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

function changesOf(overlay: Overlay, workspace: WorkspaceRow, rows: readonly OverlayRow[]): Change[] {
  const deleted = new Map(rows.filter(({ kind }) => kind === 'delete').map((row) => [row.path, row]));
  const stoodAt = ({ path, base }: OverlayRow): Version | undefined =>
    overlay.versionAsOf(workspace.branchId, path, base);
  const expectOf = (row: OverlayRow): Change['expect'] =>
    stoodAt(row)?.target === undefined ? absent : version(row.base);
  const none = Buffer.alloc(0);
  const read = (row: OverlayRow): Uint8Array =>
    (row.kind === 'put' ? overlay.content(workspace, row.path, row) : overlay.stateOf(stoodAt(row)))?.content ?? none;
  const moves = movesOf(rows, deleted, stoodAt, read);
  const changes: Change[] = [];
  for (const row of rows) {
    const source = moves.get(row);
    const state = overlay.content(workspace, row.path, row);
    if (row.kind === 'put' && state !== undefined) {
      const { content, mode } = state;
      if (source === undefined) changes.push({ kind: 'put', path: row.path, content, mode, expect: expectOf(row) });
      else {
        const same = isSameTarget(stoodAt(source)?.target, row.content);
        const edit = same ? {} : { content };
        changes.push({ kind: 'move', path: source.path, to: row.path, expect: expectOf(source), ...edit });
      }
    }
  }
  const moved = new Set([...moves.values()].map(({ path }) => path));
  for (const row of deleted.values()) {
    if (moved.has(row.path) || stoodAt(row)?.target === undefined) continue;
    changes.push({ kind: 'delete', path: row.path, expect: expectOf(row) });
  }
  return changes;
}

/**
 * For each put that is a move, the deleted source: declared, or found by what both hold. A move keeps the mode of its
 * source, and its destination was nothing.
 */
function movesOf(
  rows: readonly OverlayRow[],
  deleted: ReadonlyMap<RepoPath, OverlayRow>,
  stood: (row: OverlayRow) => Version | undefined,
  read: (row: OverlayRow) => Uint8Array,
): Map<OverlayRow, OverlayRow> {
  const moves = new Map<OverlayRow, OverlayRow>();
  const gone = new Map([...deleted].filter(([, row]) => stood(row)?.target !== undefined));
  const come = new Map(
    rows.filter((row) => row.kind === 'put' && stood(row)?.target === undefined).map((row) => [row.path, row]),
  );
  const take = (row: OverlayRow, source: OverlayRow | undefined): void => {
    if (source === undefined || !gone.has(source.path)) return;
    if (stood(source)?.target?.mode !== row.content?.mode) return;
    gone.delete(source.path);
    come.delete(row.path);
    moves.set(row, source);
  };
  for (const row of come.values()) if (row.movedFrom !== undefined) take(row, deleted.get(row.movedFrom));
  const removed = [...gone.values()].flatMap((row): RenameFile[] => {
    const { target, size } = stood(row) ?? {};
    return target === undefined || size === undefined
      ? []
      : [{ ...target, path: row.path, size, read: () => read(row) }];
  });
  const added = [...come.values()].flatMap((row): RenameFile[] => {
    if (row.content === undefined || removed.length === 0) return [];
    const content = read(row);
    return [{ ...row.content, path: row.path, size: content.length, read: () => content }];
  });
  for (const { from, to } of detectRenames(removed, added)) {
    const row = come.get(to as RepoPath);
    if (row !== undefined) take(row, gone.get(from as RepoPath));
  }
  return moves;
}

/** Files of a landed commit that stand under another path than they were committed under, by the latter. */
function landedElsewhere(overlay: Overlay, { workspace, rows }: CommitPlan, outcome: Outcome): Map<RepoPath, RepoPath> {
  const elsewhere = new Map<RepoPath, RepoPath>();
  if (outcome.kind !== 'landed' && outcome.kind !== 'merged') return elsewhere;
  const { seq } = outcome;
  const { reader } = overlay;
  const moves = new UpstreamMoves(overlay, workspace, seq);
  const landed = reader.landing(seq).changes.map(({ pathId }) => reader.pathOf(pathId));
  const committed = new Set(rows.map(({ path }) => path));
  for (const row of rows) {
    if (row.kind !== 'put' || moves.head(row.path)?.target !== undefined) continue;
    const stood = overlay.versionAsOf(workspace.branchId, row.path, row.base);
    const name = row.path.slice(row.path.lastIndexOf('/'));
    const to =
      stood?.target !== undefined
        ? moves.destinationOf(row.path, stood)
        : // It was added, and went along with its directory: under its own name, with its own bytes.
          landed.find(
            (path) =>
              !committed.has(path) && `/${path}`.endsWith(name) && isSameTarget(moves.head(path)?.target, row.content),
          );
    if (to !== undefined && !committed.has(to)) elsewhere.set(row.path, to);
  }
  return elsewhere;
}

/** Whether a path is free for what a commit brought there; else the next sync brings it. */
const isFree = (overlay: Overlay, workspace: WorkspaceRow, path: RepoPath): boolean =>
  overlay.getRowOf(path) === undefined &&
  overlay.target(workspace, path) === undefined &&
  overlay.clashOf(workspace, path) === undefined;

/** The files that hold something else than was committed once it landed: another side was merged in, or they moved. */
export function filesAfterCommit(overlay: Overlay, plan: CommitPlan, outcome: Outcome): PlannedFile[] {
  if (outcome.kind !== 'merged' && outcome.kind !== 'landed') return [];
  const { branchId } = plan.workspace;
  const changed = plan.rows.flatMap((row): PlannedFile[] => {
    const now = overlay.versionAsOf(branchId, row.path, outcome.seq);
    if (isSameTarget(now?.target, row.content)) return [];
    const before = overlay.content(plan.workspace, row.path, row);
    return [{ path: row.path, before, after: overlay.stateOf(now) }];
  });
  const come = [...landedElsewhere(overlay, plan, outcome).values()].filter((path) =>
    isFree(overlay, plan.workspace, path),
  );
  return [
    ...changed,
    ...come.map((path) => {
      const after = overlay.stateOf(overlay.versionAsOf(branchId, path, outcome.seq));
      return { path, before: undefined, after };
    }),
  ];
}

const sameRow = (a: OverlayRow | undefined, b: OverlayRow): boolean =>
  a !== undefined && a.kind === b.kind && a.base === b.base && isSameTarget(a.content, b.content);

/** Inside a transaction: the rows after a commit. What was edited again meanwhile stays an edit. */
export function rowsAfterCommit(
  overlay: Overlay,
  workspace: WorkspaceRow,
  plan: CommitPlan,
  outcome: Outcome,
): RowChange[] {
  const kept = seqOfKept(outcome);
  const come = [...landedElsewhere(overlay, plan, outcome).values()].filter((path) => isFree(overlay, workspace, path));
  const pins = come.map((path): RowChange => {
    const seq = outcome.kind === 'rejected' ? 0 : outcome.seq;
    return { put: pin(path, overlay.versionAsOf(workspace.branchId, path, seq)?.place.seq ?? 0) };
  });
  const settled = plan.rows.flatMap((row): RowChange[] => {
    const now = overlay.getRowOf(row.path);
    if (outcome.kind === 'rejected') return [];
    if (kept !== undefined) return now !== undefined && sameRow(now, row) ? [{ put: { ...now, kept } }] : [];
    const { seq } = outcome;
    const standing = overlay.versionAsOf(workspace.branchId, row.path, seq);
    if (sameRow(now, row)) {
      return [overlay.unedited(workspace, row.path, standing?.place.seq ?? 0)];
    }
    // It was edited on top of what was committed; a merge brought another side in, which it has not seen.
    const hasSeen = isSameTarget(standing?.target, row.content);
    return now !== undefined && now.kind !== 'pin' && hasSeen
      ? [{ put: { ...now, base: standing?.place.seq ?? 0, movedFrom: undefined } }]
      : [];
  });
  return [...settled, ...pins];
}

function seqOfKept(outcome: Outcome): number | undefined {
  if (outcome.kind === 'conflicted') return seqOfId(outcome.conflict, 'c');
  return outcome.kind === 'parked' ? seqOfId(outcome.parked, 'p') : undefined;
}
