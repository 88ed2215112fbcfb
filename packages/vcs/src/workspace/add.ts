import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { LineEndSettings } from '../attributes/index.ts';
import { MoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import type { WorkspaceRow } from '../format/workspace.ts';
import { asFault } from '../store/faults.ts';
import { existsAlready, type Workspaces } from '../repo/workspaces.ts';
import type { OverlayWorkspace } from '../repo/workspace.ts';
import { DiskDirectory } from './directory.ts';
import { FileCache } from './file-cache.ts';
import { clonerOf } from './file-cloner.ts';
import { FileLinker } from './file-linker.ts';
import { keptSettings, writeMarker } from './marker.ts';
import { draftOf, workspacesOf } from './place.ts';
import { recoverWorkspaces } from './recover.ts';
import { fileSystemClockMs, StatIndex } from './stat-index.ts';
import { writeTree, type TreeSettings } from './tree.ts';
import type { WrittenTree } from './written-tree.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

export interface AddOptions {
  /** Default: the directory's own name. */
  readonly name?: string;
  readonly branch?: string;
  /** The snapshot on which it stands; default: the newest. */
  readonly at?: number;
  /** Patterns, as in a `.gitignore`, of the paths that come into place; default: all. */
  readonly sparse?: readonly string[];
  /** False: links are written as files that hold their target; default: as the file system can. */
  readonly symlinks?: boolean;
  /**
   * True: files are put in place as hard links to read-only files that all workspaces added so share, where the file
   * system can. A write in place is found as a local conflict in each of them. Default: files of their own.
   */
  readonly links?: boolean;
  /** What git's settings say of line ends; the workspace keeps it. Default: as git's own defaults. */
  readonly lineEnds?: LineEndSettings;
}

export interface AddedWorkspace extends Pick<WrittenTree, 'files' | 'linked' | 'cloned' | 'skipped' | 'collisions'> {
  readonly name: string;
  readonly seq: number;
  readonly directory: WorkspaceDirectory;
}

/**
 * Makes a workspace with files in `dir`, which is empty or not there yet. All or nothing, whoever dies.
 * Errors: `workspace-exists`, `no-such-seq`, `no-such-branch`, `invalid-argument` (the directory is not empty, the
 * name is none), `permission-denied`, `disk-full`.
 */
export async function addWorkspace(repo: Repo, dir: string, options: AddOptions = {}): Promise<AddedWorkspace> {
  const workspaces = workspacesOf(repo);
  await recoverWorkspaces(repo);
  const target = realPath(resolve(dir));
  mustBeFree(target);
  const { name = basename(target), branch, at, sparse = [] } = options;
  const row = await workspaces.add(name, {
    dir: target,
    sparse,
    state: 'adding',
    ...(branch !== undefined && { branch }),
    ...(at !== undefined && { at }),
  });
  if (row === undefined) throw existsAlready(name);
  const draft = draftOf(row, target);
  try {
    mkdirSync(draft, { recursive: true });
    const placed = place(repo, workspaces, row, { target, draft, options });
    await workspaces.mark(row, 'ready');
    placed.directory.reached('workspace-ready');
    return placed;
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    await workspaces.drop(row);
    throw asFault(cause, target);
  }
}

interface Placing {
  readonly target: string;
  readonly draft: string;
  readonly options: AddOptions;
}

function place(
  repo: Repo,
  workspaces: Workspaces,
  row: WorkspaceRow,
  { target, draft, options }: Placing,
): AddedWorkspace & { readonly directory: DiskDirectory } {
  const { dir, repoId } = repo;
  const { symlinks, links = false, lineEnds = {} } = options;
  const hasSymlinks = symlinks ?? canLink(draft);
  const marker = { format: 1, workspace: row.name, id: row.id, repo: dir, repoId, symlinks: hasSymlinks } as const;
  const hasModes = keepsModes(draft);
  writeMarker(draft, {
    ...marker,
    ...(!hasModes && { modes: false }),
    ...(links && { links }),
    lineEnds: keptSettings(lineEnds),
  });
  const inner = workspaces.opened(row, true);
  const cache = new FileCache(dir);
  const linker = links ? new FileLinker(cache, row.id, inner.overlay.reader.store.steps) : undefined;
  const cloner = links ? undefined : clonerOf(inner.overlay, cache, draft);
  const { index, ...written } = fill(inner, row, draft, { hasSymlinks, lineEnds, linker, cloner });
  index.save(draft);
  inner.overlay.reader.store.steps.reach('workspace-drafted');
  try {
    renameSync(draft, target);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') throw notFree(target, cause);
    throw cause;
  }
  inner.overlay.reader.store.steps.reach('workspace-placed');
  const settings = { hasSymlinks, hasModes, isOfLinks: links, excludes: [], lineEnds, cache };
  const directory = new DiskDirectory(target, inner, settings);
  const { files, linked, cloned, skipped, collisions } = written;
  return { name: row.name, seq: row.seq, files, linked, cloned, skipped, collisions, directory };
}

function fill(
  { overlay }: OverlayWorkspace,
  row: WorkspaceRow,
  draft: string,
  settings: TreeSettings,
): WrittenTree & { readonly index: StatIndex } {
  const index = new StatIndex(row.generation, 0, [], 1024);
  const written = writeTree(overlay, row, draft, settings, (path, stat, isLinked) => index.set(path, stat, isLinked));
  for (const path of written.gitlinks) index.gitlinks.add(path);
  // Nobody else knows of these files before they are renamed into place.
  index.sinceMs = fileSystemClockMs(draft);
  return { ...written, index };
}

/** Where a directory will be once it is made, with the links above it followed: names of one place are one. */
function realPath(dir: string): string {
  if (existsSync(dir)) return realpathSync(dir);
  const parent = dirname(dir);
  return parent === dir ? dir : join(realPath(parent), basename(dir));
}

function mustBeFree(dir: string): void {
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code === 'ENOTDIR') throw notFree(dir, cause);
    throw asFault(cause, dir);
  }
  if (names.length > 0) throw notFree(dir);
}

const notFree = (dir: string, cause?: unknown): MoundError =>
  new MoundError('invalid-argument', `${dir} is no empty directory; name another one`, { dir }, cause);

function keepsModes(dir: string): boolean {
  const file = join(dir, '.mound-mode');
  try {
    writeFileSync(file, '', { mode: 0o600 });
    if ((lstatSync(file).mode & 0o100) !== 0) return false;
    chmodSync(file, 0o700);
    return (lstatSync(file).mode & 0o100) !== 0;
  } catch (error) {
    if (['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return false;
    throw error;
  } finally {
    rmSync(file, { force: true });
  }
}

function canLink(dir: string): boolean {
  const link = join(dir, '.mound-link');
  try {
    symlinkSync('target', link);
    return lstatSync(link).isSymbolicLink();
  } catch {
    return false;
  } finally {
    rmSync(link, { force: true });
  }
}
