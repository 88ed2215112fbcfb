import { existsSync, rmSync } from 'node:fs';
import type { Repo } from '../repo/api.ts';
import { isDoing } from '../repo/workspaces.ts';
import { draftOf, isPlaced, unplace, workspacesOf } from './place.ts';

/** Finishes or undoes what processes that died have left half done. */
export async function recoverWorkspaces(repo: Repo): Promise<void> {
  const workspaces = workspacesOf(repo);
  for (const row of workspaces.rows()) {
    const { dir, state } = row;
    if (state === 'ready' || dir === undefined || isDoing(row)) continue;
    if (state === 'removing') {
      unplace(row, dir);
      await workspaces.drop(row);
    } else if (isPlaced(row, dir)) await workspaces.mark(row, 'ready');
    else {
      const draft = draftOf(row, dir);
      if (existsSync(draft)) rmSync(draft, { recursive: true, force: true });
      await workspaces.drop(row);
    }
  }
}
