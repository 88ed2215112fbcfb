import { existsSync, linkSync, lstatSync, mkdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BlobId } from '../core/ids.ts';
import { cachedDraftPrefix, cachedNames, cachedStat, contentOfName, filesDirOf } from '../store/cached-files.ts';
import type { DiskPath } from './disk-path.ts';

/** A content that workspaces link, as a file or an executable. */
export interface CachedFile {
  readonly blob: BlobId;
  readonly isExecutable: boolean;
}

/** What became of the cache's files that no workspace links, those that are cloned included. */
export interface CachePruning {
  readonly removed: number;
  readonly kept: number;
  /** Of those that were removed. */
  readonly bytes: number;
}

/** Nothing is linked there: other file systems, none that knows of links, no right to make some, too many already. */
export const linkFaults = ['EXDEV', 'EPERM', 'EACCES', 'EROFS', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

const asideName = 'aside';
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

/** The files of a repository that its workspaces link and clone; see docs/spec/workspace.md. It may be missing or deleted. */
export class FileCache {
  readonly dir: string;

  constructor(repoDir: string) {
    this.dir = filesDirOf(repoDir);
  }

  pathOf(entry: CachedFile): string {
    return join(this.dir, entry.blob.slice(0, 2), `${entry.blob}.${kindOf(entry)}`);
  }

  /** Of a content that is cloned: a file that no workspace ever links. */
  sourceOf(blob: BlobId): string {
    return join(this.dir, blob.slice(0, 2), `${blob}.c`);
  }

  draftOf(owner: string, count: number): string {
    return join(this.dir, `${cachedDraftPrefix}${owner}-${count}`);
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
    return new Map([...this.linked()].map(({ stat, entry }) => [inodeOf(stat), entry]));
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

  /** Removes what no workspace has linked for so long, what was made to be cloned so long ago, and what killed processes left. */
  prune(idleMs: number, { now = Date.now(), dryRun = false } = {}): CachePruning {
    let [removed, kept, bytes] = [0, 0, 0];
    for (const { at } of cachedNames(this.dir)) {
      const stat = cachedStat(at);
      if (stat === undefined) continue;
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

  /**
   * How many bytes more may be kept to be cloned, where no more than `bytesMax` are to be. Where there are as many, the
   * oldest go until half of it is free.
   */
  roomForSources(bytesMax: number): number {
    const sources = [...cachedNames(this.dir)].flatMap(({ at, name }) => {
      const stat = contentOfName(name)?.kind === 'c' ? cachedStat(at) : undefined;
      return stat === undefined ? [] : [{ at, stat }];
    });
    let bytes = sources.reduce((sum, { stat }) => sum + stat.size, 0);
    if (bytes < bytesMax) return bytesMax - bytes;
    for (const { at, stat } of sources.toSorted((a, b) => a.stat.ctimeMs - b.stat.ctimeMs)) {
      if (bytes <= bytesMax / 2) break;
      rmSync(at, { force: true });
      bytes -= stat.size;
    }
    return bytesMax - bytes;
  }

  private *linked(): Generator<{ readonly stat: Stats; readonly entry: CachedFile }> {
    for (const { at, name } of cachedNames(this.dir)) {
      const { blob, kind = 'c' } = contentOfName(name) ?? {};
      const stat = kind === 'c' ? undefined : cachedStat(at);
      if (blob !== undefined && stat !== undefined) yield { stat, entry: { blob, isExecutable: kind === 'x' } };
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
