import { renameSync, rmSync } from 'node:fs';
import { MoundError } from '../core/errors.ts';
import type { WorkspaceRow } from '../format/workspace.ts';
import type { Repo } from '../repo/api.ts';
import { Workspaces } from '../repo/workspaces.ts';
import { readMarker } from './marker.ts';

/** A repo's workspaces with what their directories need. */
export function workspacesOf(repo: Repo): Workspaces {
  if (repo.workspaces instanceof Workspaces) return repo.workspaces;
  throw new MoundError('invalid-argument', 'workspaces with files need a repository that was opened in this process');
}

/** Beside its place, where it is made and taken apart: never half of one is in its place. */
export const draftOf = ({ id }: WorkspaceRow, dir: string): string => `${dir}.mound-${id}`;

/** Whether a directory is that of this very workspace. */
export function isPlaced({ id }: WorkspaceRow, dir: string): boolean {
  try {
    return readMarker(dir).id === id;
  } catch {
    return false;
  }
}

/** Takes a workspace's directory out of its place and removes it. */
export function unplace(row: WorkspaceRow, dir: string, placed: () => void = () => undefined): void {
  const draft = draftOf(row, dir);
  if (isPlaced(row, dir)) renameSync(dir, draft);
  placed();
  rmSync(draft, { recursive: true, force: true });
}
