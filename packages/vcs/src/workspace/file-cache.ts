import { existsSync, linkSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BlobId } from '../core/ids.ts';
import { storeDirName } from '../store/store-dir.ts';
import type { DiskPath } from './disk-path.ts';

/** A content that workspaces link, as a file or an executable. */
export interface CachedFile {
  readonly blob: BlobId;
  readonly isExecutable: boolean;
}

/** What became of the cache's files that no workspace links. */
export interface CachePruning {
  readonly removed: number;
  readonly kept: number;
  /** Of those that were removed. */
  readonly bytes: number;
}

/** Nothing is linked there: other file systems, none that knows of links, no right to make some, too many already. */
export const linkFaults = ['EXDEV', 'EPERM', 'EACCES', 'EROFS', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

const asideName = 'aside';
const draftPrefix = 'draft-';
/** 2000-01-01, in seconds. */
const firstTime = 946_684_800;

/** The time of modification, in whole seconds, of a linked file that nobody has written to. */
export const timeOf = (blob: BlobId): number => firstTime + (Number.parseInt(blob.slice(0, 8), 16) & 0x1f_ff_ff_ff);

/** Whether a file is as the cache made it, as far as stat data can tell. */
export function isPristine(stat: Stats, { blob, isExecutable }: CachedFile, size: number): boolean {
  const isRunnable = (stat.mode & 0o100) !== 0;
  return (
    stat.isFile() &&
    stat.size === size &&
    stat.mtimeMs === timeOf(blob) * 1000 &&
    (stat.mode & 0o222) === 0 &&
    isRunnable === isExecutable
  );
}

/** The files of a repository that its workspaces link; see docs/spec/workspace.md. It may be missing or deleted. */
export class FileCache {
  readonly dir: string;

  constructor(repoDir: string) {
    this.dir = join(repoDir, storeDirName, 'files');
  }

  pathOf(entry: CachedFile): string {
    return join(this.dir, entry.blob.slice(0, 2), `${entry.blob}.${kindOf(entry)}`);
  }

  draftOf(owner: string, count: number): string {
    return join(this.dir, `${draftPrefix}${owner}-${count}`);
  }

  exists(): boolean {
    return existsSync(this.dir);
  }

  /** The entry in its place that a file is, if it is one of this content. */
  placed(blob: BlobId, stat: Stats): CachedFile | undefined {
    return [false, true]
      .map((isExecutable) => ({ blob, isExecutable }))
      .find((entry) => isThere(this.pathOf(entry), stat));
  }

  /** By inode, what each file was made as, in its place or set aside. */
  byInode(): ReadonlyMap<string, CachedFile> {
    return new Map([...this.entries()].map(({ stat, entry }) => [inodeOf(stat), entry]));
  }

  /**
   * Sees to it that a file which was written to has a name in the cache, by which it is found, and is never linked
   * again. `at` is one of its names. It was made as `entry`.
   */
  setAside(entry: CachedFile, at: DiskPath, file: Stats): void {
    const place = this.pathOf(entry);
    const aside = join(this.dir, asideName, `${entry.blob}.${kindOf(entry)}-${file.ino}`);
    if (isThere(aside, file)) return rmIf(place, file);
    mkdirSync(dirname(aside), { recursive: true });
    try {
      if (isThere(place, file)) renameSync(place, aside);
      // The cache was deleted, or lost this entry.
      else linkSync(at, aside);
    } catch (error) {
      // Another was faster, or nothing more can be linked.
      if (!['ENOENT', 'EEXIST', ...linkFaults].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }

  /** Removes what no workspace has linked for so long, and what killed processes left. */
  prune(idleMs: number, { now = Date.now(), dryRun = false } = {}): CachePruning {
    let [removed, kept, bytes] = [0, 0, 0];
    for (const { at, stat } of this.files()) {
      // The last link that went has changed its state.
      if (stat.nlink > 1 || now - stat.ctimeMs < idleMs) {
        kept++;
        continue;
      }
      if (!dryRun) rmSync(at, { force: true });
      removed++;
      bytes += stat.size;
    }
    return { removed, kept, bytes };
  }

  /** Removes the entries of contents: workspaces keep their files. */
  forget(blobs: ReadonlySet<BlobId>): void {
    for (const { at, entry } of this.entries()) if (blobs.has(entry.blob)) rmSync(at, { force: true });
  }

  private *entries(): Generator<{ readonly at: string; readonly stat: Stats; readonly entry: CachedFile }> {
    for (const { name, ...file } of this.files()) {
      const [, blob, kind] = /^([\da-f]{64})\.([fx])(?:-\d+)?$/.exec(name) ?? [];
      if (blob !== undefined) yield { ...file, entry: { blob: blob as BlobId, isExecutable: kind === 'x' } };
    }
  }

  private *files(): Generator<{ readonly at: string; readonly name: string; readonly stat: Stats }> {
    for (const below of namesIn(this.dir)) {
      const place = join(this.dir, below);
      for (const name of below.startsWith(draftPrefix) ? [''] : namesIn(place)) {
        const at = join(place, name);
        const stat = lstatSync(at, { throwIfNoEntry: false });
        if (stat?.isFile() === true) yield { at, name, stat };
      }
    }
  }
}

export const inodeOf = ({ dev, ino }: Stats): string => `${dev} ${ino}`;

const kindOf = ({ isExecutable }: CachedFile): string => (isExecutable ? 'x' : 'f');

function isThere(at: string, file: Stats): boolean {
  const there = lstatSync(at, { throwIfNoEntry: false });
  return there !== undefined && inodeOf(there) === inodeOf(file);
}

function rmIf(at: string, file: Stats): void {
  if (isThere(at, file)) rmSync(at, { force: true });
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
