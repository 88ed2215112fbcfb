import type { RepoPath } from '../core/ids.ts';
import { parentsOfPath } from '../core/path.ts';
import type { OverlayRow, WorkspaceRow } from '../format/workspace.ts';
import { Lineage } from '../land/lineage.ts';
import { movedDirectoryOf } from '../land/moved-directory.ts';
import type { Version } from '../log/version.ts';
import type { Overlay } from './overlay.ts';

/** Where files that a workspace knows went on its branch, up to a seq. */
export class UpstreamMoves {
  private readonly overlay: Overlay;
  private readonly workspace: WorkspaceRow;
  private readonly to: number;
  private readonly lineage: Lineage;

  constructor(overlay: Overlay, workspace: WorkspaceRow, to: number) {
    this.overlay = overlay;
    this.workspace = workspace;
    this.to = to;
    this.lineage = new Lineage(overlay.reader, workspace.branchId, (path) => this.head(path));
  }

  head(path: RepoPath): Version | undefined {
    return this.overlay.versionAsOf(this.workspace.branchId, path, this.to);
  }

  /** The other path that a file has which stood at a version; undefined where it stayed, is gone, or was split. */
  destinationOf(path: RepoPath, stood: Version): RepoPath | undefined {
    const trace = this.lineage.trace(path, stood.place);
    return trace.kind === 'at' && trace.path !== path && trace.head?.target !== undefined ? trace.path : undefined;
  }

  /** Where a path belongs that was added to a directory which moved since the workspace's seq. */
  placeOfAdded(path: RepoPath, rows: Iterable<OverlayRow>): RepoPath | undefined {
    if (this.to <= this.workspace.seq || hasSeenGoing(this.overlay, this.workspace, rows, path)) return undefined;
    const { lineage } = this;
    const state = { reader: this.overlay.reader, lineage, head: (below: RepoPath) => this.head(below) };
    const to = movedDirectoryOf(state, path, this.workspace.seq);
    return to === path ? undefined : to;
  }
}

const isBelow = (path: RepoPath, directory: RepoPath): boolean => path.startsWith(`${directory}/`);

/** Pins beyond the workspace's seq: what its own commits made of the branch, which it has seen. */
const ownPins = (rows: Iterable<OverlayRow>, { seq }: WorkspaceRow): OverlayRow[] =>
  [...rows].filter(({ kind, base }) => kind === 'pin' && base > seq);

/** Whether files went from a directory above a path by the workspace's own commits: what it adds there is meant so. */
function hasSeenGoing(overlay: Overlay, workspace: WorkspaceRow, rows: Iterable<OverlayRow>, added: RepoPath): boolean {
  const parents = parentsOfPath(added);
  return ownPins(rows, workspace).some(
    ({ path, base }) =>
      parents.some((directory) => isBelow(path, directory)) &&
      overlay.versionAsOf(workspace.branchId, path, base)?.target === undefined,
  );
}

/**
 * As of which seq the author of a commit has seen the directories that it adds
 * to or moves files from: the workspace's, unless its own commits changed those
 * since, whose later state no one seq tells. Then nothing goes along.
 */
export function asOfCommit(
  overlay: Overlay,
  workspace: WorkspaceRow,
  rows: readonly OverlayRow[],
  chosen: readonly OverlayRow[],
): number | undefined {
  const touched = new Set(chosen.map(({ path }) => path));
  const left = ownPins(rows, workspace).filter(
    ({ path, base }) => !touched.has(path) && overlay.versionAsOf(workspace.branchId, path, base)?.target !== undefined,
  );
  for (const { path, kind } of chosen) {
    if (kind === 'put' && hasSeenGoing(overlay, workspace, rows, path)) return undefined;
    // What stays in a directory that is moved otherwise stays there by intent, where its author made it.
    const parents = kind === 'delete' ? parentsOfPath(path) : [];
    if (left.some((pin) => parents.some((directory) => isBelow(pin.path, directory)))) return undefined;
  }
  return workspace.seq;
}
