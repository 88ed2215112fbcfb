import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import { isMoundError } from '../core/errors.ts';
import type { WorkspaceRow } from '../format/workspace.ts';
import type { Repo } from '../repo/api.ts';
import { isDoing } from '../repo/workspaces.ts';
import { FileCache, type CachePruning } from './file-cache.ts';
import { openWorkspace, removeWorkspace, type WorkspaceOpenOptions } from './open.ts';
import { isPlaced, workspacesOf } from './place.ts';
import { recoverWorkspaces } from './recover.ts';

export interface PruneOptions extends WorkspaceOpenOptions {
  /** Go for how long nobody has used them, in milliseconds. Default: a day. */
  readonly idleMs?: number;
  /** So many stay in any case, those last used. Default: none. */
  readonly keep?: number;
  /** Only say what would go. */
  readonly dryRun?: boolean;
  /** Milliseconds since 1970; default: now. */
  readonly now?: number;
}

/** Why a workspace stays. */
export type PruneReason =
  /** It holds edits that have not landed, or a conflict. */
  | 'has-work'
  /** The process that made it, or one that stands in its directory, runs. */
  | 'in-use'
  /** It was used a short while ago. */
  | 'recent'
  /** It is among those that are to stay. */
  | 'kept';

export interface PrunedWorkspace {
  readonly workspace: string;
  readonly dir: string | undefined;
  /** When it was last used: made, looked at or changed at its root. */
  readonly usedAt: number;
}

export interface PruneReport {
  readonly dryRun: boolean;
  readonly removed: readonly PrunedWorkspace[];
  readonly kept: readonly (PrunedWorkspace & { readonly why: PruneReason })[];
  /** Of the files that workspaces link and clone. */
  readonly files: CachePruning;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Removes workspaces that nobody uses, those idle for longest first, with their directories. Never one with
 * unpublished work, on disk or shelved. Errors: `file-changing`.
 */
export async function pruneWorkspaces(repo: Repo, options: PruneOptions = {}): Promise<PruneReport> {
  const { idleMs = dayMs, keep = 0, dryRun = false, now = Date.now(), excludes = [] } = options;
  const workspaces = workspacesOf(repo);
  await recoverWorkspaces(repo);
  const all = workspaces
    .rows()
    .map((row) => ({ row, usedAt: lastUse(row) }))
    .toSorted((left, right) => left.usedAt - right.usedAt);
  const removed: PrunedWorkspace[] = [];
  const kept: (PrunedWorkspace & { why: PruneReason })[] = [];
  for (const { row, usedAt } of all) {
    const about = { workspace: row.name, dir: row.dir, usedAt };
    const why =
      (isInUse(row) ? 'in-use' : undefined) ??
      (now - usedAt < idleMs ? 'recent' : undefined) ??
      (all.length - removed.length <= keep ? 'kept' : undefined) ??
      (await removeIdle(repo, row, dryRun, excludes));
    if (why === undefined) removed.push(about);
    else kept.push({ ...about, why });
  }
  return { dryRun, removed, kept, files: new FileCache(repo.dir).prune(idleMs, { dryRun, now }) };
}

/** Undefined: it is gone, or would be. */
async function removeIdle(
  repo: Repo,
  row: WorkspaceRow,
  dryRun: boolean,
  excludes: readonly Uint8Array[],
): Promise<PruneReason | undefined> {
  if (dryRun) return (await hasWork(repo, row, excludes)) ? 'has-work' : undefined;
  try {
    await removeWorkspace(repo, row.name, { excludes });
    return undefined;
  } catch (error) {
    if (isMoundError(error, 'workspace-has-work')) return 'has-work';
    // Somebody else was faster.
    if (isMoundError(error, 'no-such-workspace')) return undefined;
    throw error;
  }
}

async function hasWork(repo: Repo, row: WorkspaceRow, excludes: readonly Uint8Array[]): Promise<boolean> {
  const { dir } = row;
  if (dir !== undefined && isPlaced(row, dir))
    return (await (await openWorkspace(repo, dir, { excludes })).status()).changes.length > 0;
  return workspacesOf(repo).opened(row, true).status().changes.length > 0;
}

function lastUse({ time, dir }: WorkspaceRow): number {
  const places = dir === undefined ? [] : [dir, join(dir, '.mound'), join(dir, '.mound', 'index')];
  return Math.max(time, ...places.map((place) => lstatSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

/** Directories that processes stand in are known on Linux only. */
function isInUse(row: WorkspaceRow): boolean {
  const { dir } = row;
  // Of directories that the asking process itself has made it knows by their files and times.
  const isOwn = row.doer.startsWith(`${process.pid} `);
  if (isDoing(row) && (dir === undefined || !isOwn)) return true;
  if (dir === undefined) return false;
  return workingDirectories().some((place) => place === dir || place.startsWith(dir + sep));
}

function workingDirectories(): string[] {
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return pids.flatMap((pid) => {
    try {
      return [readlinkSync(`/proc/${pid}/cwd`)];
    } catch {
      // Gone, or another user's.
      return [];
    }
  });
}
