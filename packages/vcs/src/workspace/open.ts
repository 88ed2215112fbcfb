import { resolve } from 'node:path';
import { MoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { hasWork } from '../repo/workspaces.ts';
import { noSuchWorkspace, type Overlay } from '../repo/overlay.ts';
import type { Workspace } from '../repo/workspace-api.ts';
import { OverlayWorkspace } from '../repo/workspace.ts';
import { mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { DiskDirectory } from './directory.ts';
import { FileCache } from './file-cache.ts';
import { parseIgnoreFile } from './ignore-rules.ts';
import { isWorkspaceDir, readMarker, settingsOf } from './marker.ts';
import { isPlaced, unplace, workspacesOf } from './place.ts';
import { recoverWorkspaces } from './recover.ts';
import { writeTree } from './tree.ts';
import type { WrittenTree } from './written-tree.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

export interface WorkspaceOpenOptions {
  /**
   * Lists of ignored paths beside the `.gitignore`s, which count first, as git's `info/exclude` is one; of these the
   * last counts first. A workspace does not keep them: give them each time.
   */
  readonly excludes?: readonly Uint8Array[];
}

export interface WorkspaceRemoveOptions extends WorkspaceOpenOptions {
  /** The workspace's name: its unpublished work may go. */
  readonly discard?: string;
}

/**
 * The workspace whose files are in `dir`. One that was moved is found in its new place.
 * Errors: `not-a-workspace` (also of another repository, or a copy), `no-such-workspace`.
 */
export async function openWorkspace(
  repo: Repo,
  dir: string,
  { excludes = [] }: WorkspaceOpenOptions = {},
): Promise<WorkspaceDirectory> {
  const workspaces = workspacesOf(repo);
  const home = realpathSync(resolve(dir));
  const { workspace: name, id, repoId, symlinks, modes = true, links = false, lineEnds } = readMarker(home);
  if (repoId !== repo.repoId) {
    throw new MoundError('not-a-workspace', `${home} is a workspace of another repository than ${repo.dir}`, {
      dir: home,
    });
  }
  await recoverWorkspaces(repo);
  const row = workspaces.getRow(name);
  if (row?.id !== id) throw noSuchWorkspace(name);
  if (row.dir !== home) {
    if (row.dir !== undefined && isPlaced(row, row.dir)) {
      const message = `${home} is a copy of workspace ${name}, which is in ${row.dir}; add a workspace of its own`;
      throw new MoundError('not-a-workspace', message, { dir: home });
    }
    await workspaces.moveTo(row, home);
  }
  const ignored = excludes.map((content) => parseIgnoreFile(content, ''));
  const cache = new FileCache(repo.dir);
  return new DiskDirectory(home, workspaces.opened(row, true), {
    hasSymlinks: symlinks,
    hasModes: modes,
    isOfLinks: links,
    excludes: ignored,
    lineEnds: settingsOf(lineEnds),
    cache,
  });
}

/**
 * Removes a workspace and its directory, ignored files included.
 * Errors: `no-such-workspace`, `workspace-has-work` unless `discard` is its name, `file-changing`.
 */
export async function removeWorkspace(repo: Repo, name: string, options: WorkspaceRemoveOptions = {}): Promise<void> {
  const { discard } = options;
  const workspaces = workspacesOf(repo);
  await recoverWorkspaces(repo);
  const row = workspaces.getRow(name);
  if (row === undefined) throw noSuchWorkspace(name);
  const { dir } = row;
  if (dir === undefined) return workspaces.remove(name, discard === undefined ? {} : { discard });
  if (discard !== name) {
    const inner = workspaces.opened(row, true);
    const { changes } = isPlaced(row, dir) ? await (await openWorkspace(repo, dir, options)).status() : inner.status();
    if (changes.length > 0) throw hasWork(name, changes.length);
  }
  const { steps } = workspaces.opened(row, true).overlay.reader.store;
  await workspaces.mark(row, 'removing');
  steps.reach('workspace-removing');
  unplace(row, dir, () => steps.reach('workspace-unplaced'));
  await workspaces.drop(row);
}

/** The name of the workspace that is in a directory, or the text itself where it is none. */
export function workspaceNameOf(nameOrDir: string): string {
  return isWorkspaceDir(nameOrDir) ? readMarker(nameOrDir).workspace : nameOrDir;
}

/**
 * Writes what a workspace holds, edits included, as a plain copy into an empty directory: nothing leads back from it.
 * Errors: `invalid-argument` where the directory is not empty.
 */
export function materialise(workspace: Workspace, dir: string): Omit<WrittenTree, 'gitlinks' | 'linked' | 'cloned'> {
  const root = resolve(dir);
  mkdirSync(root, { recursive: true });
  if (readdirSync(root).length > 0) {
    throw new MoundError('invalid-argument', `${root} is no empty directory; name another one`, { dir: root });
  }
  const overlay = overlayOf(workspace);
  const settings = { hasSymlinks: true, lineEnds: {} };
  const { files, skipped, collisions } = writeTree(overlay, overlay.workspace(), root, settings, () => undefined);
  return { files, skipped, collisions };
}

function overlayOf(workspace: Workspace): Overlay {
  if (workspace instanceof OverlayWorkspace) return workspace.overlay;
  throw new MoundError('invalid-argument', 'this workspace was not opened by a repository in this process');
}
