import type { Stats } from 'node:fs';
import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Target } from '../log/version.ts';
import { blobIdOf } from '../format/hash.ts';
import { inodeOf, type CachedFile, type FileCache } from './file-cache.ts';
import type { StatIndex } from './stat-index.ts';

/** A file that was written to through a link. */
export interface SharedFile {
  /** Its bytes on disk. */
  readonly raw: Buffer;
  /** What it was made as, where that is known. */
  readonly entry: CachedFile | undefined;
}

/** Tells, of the files of one look at a workspace, which are linked and which were written to through a link. */
export class LinkWatch {
  private readonly cache: FileCache;
  private readonly index: StatIndex;
  private readonly isOfLinks: boolean;
  private readonly isWhole: boolean;
  private inodes: ReadonlyMap<string, CachedFile> | undefined;

  /** `isOfLinks`: the workspace was added with links; `isWhole`: the index knows every file as it last was. */
  constructor(cache: FileCache, index: StatIndex, isOfLinks: boolean, isWhole: boolean) {
    this.cache = cache;
    this.index = index;
    this.isOfLinks = isOfLinks;
    this.isWhole = isWhole;
  }

  /** Whether a file of this content is one of the cache's. */
  isLinked(path: RepoPath, stat: Stats, blob: BlobId): boolean {
    if (stat.nlink < 2 || !stat.isFile()) return false;
    return this.index.isLinked(path, stat) || this.entryOf(stat, blob) !== undefined;
  }

  /** What a file that does not hold what the rows say is, where that may be another workspace's doing. */
  writtenThrough(path: RepoPath, stat: Stats, raw: Buffer, before: Target | undefined): SharedFile | undefined {
    if (!stat.isFile()) return undefined;
    const entry = stat.nlink < 2 ? undefined : this.entryOf(stat, before?.blob);
    const isOther =
      entry === undefined
        ? this.index.isLinked(path, stat) || (before !== undefined && this.isUnknown(stat))
        : entry.blob !== blobIdOf(raw) || entry.isExecutable !== ((stat.mode & 0o100) !== 0);
    if (!isOther) return undefined;
    const wasMade = before && { blob: before.blob, isExecutable: before.mode === 'executable' };
    return { raw, entry: entry ?? wasMade };
  }

  /** The cache may be gone, and what the index knew with it. */
  private isUnknown({ nlink }: Stats): boolean {
    return nlink > 1 && this.isOfLinks && !(this.isWhole && this.cache.exists());
  }

  private entryOf(stat: Stats, likely: BlobId | undefined): CachedFile | undefined {
    const placed = likely === undefined ? undefined : this.cache.placed(likely, stat);
    if (placed !== undefined) return placed;
    this.inodes ??= this.cache.byInode();
    return this.inodes.get(inodeOf(stat));
  }
}
