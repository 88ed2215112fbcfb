import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { BlobId } from '../core/ids.ts';
import type { Steps } from '../core/steps.ts';
import { workspaceRows } from '../log/overlays.ts';
import type { Overlay } from '../repo/overlay.ts';
import { storeDirName } from '../store/store-dir.ts';
import type { DiskPath } from './disk-path.ts';
import { isPristine, timeOf, type CachedFile, type FileCache } from './file-cache.ts';

/** Smaller files are written as fast as they are cloned: decision 44 says how that was measured. */
export const cloneBytesMin = 64 * 1024;
/** Of the files that are kept to be cloned. */
const sourceBytesMax = 4 * 1024 * 1024 * 1024;
const makingMsMax = 10_000;

/** Makes a new file share the blocks of another; throws what the system says. */
export type CloneFile = (from: DiskPath, to: DiskPath) => void;

const cloneFile: CloneFile = (from, to) => {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** How a workspace's files are cloned. */
export interface ClonerOptions {
  /** The workspace's directory, which has a `.mound`. */
  readonly root: string;
  /** Nobody else makes drafts of this name. */
  readonly owner: string;
  readonly steps: Steps;
  /** Whether the repository has no other workspace with files: nobody else would have use of what is kept. */
  readonly isAlone: () => boolean;
  readonly cloneFile?: CloneFile;
  /** Of the sources together. */
  readonly bytesMax?: number;
  /** A source is not touched once it is made, so it was born and changed its state within this time. */
  readonly makingMs?: number;
}

/**
 * Puts large files in place as clones of those in the cache, and keeps there what it did not find. For one operation on
 * one workspace: once it is found that nothing can be cloned, nothing more is tried.
 */
export class FileCloner {
  private readonly cache: FileCache;
  private readonly options: ClonerOptions;
  private readonly cloneFile: CloneFile;
  private drafts = 0;
  private isOff: boolean | undefined;
  private room: number | undefined;
  private executableMode: number | undefined;

  constructor(cache: FileCache, options: ClonerOptions) {
    this.cache = cache;
    this.options = options;
    this.cloneFile = options.cloneFile ?? cloneFile;
  }

  /**
   * Makes the file where nothing may be. Gives its stat data; undefined: nothing is there and it is to be written.
   * Errors: `EEXIST`.
   */
  clone(file: CachedFile, size: number, at: DiskPath): Stats | undefined {
    if (!this.isFor(size)) return undefined;
    const source = this.cache.sourceOf(file.blob);
    try {
      this.cloneFile(source, at);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw error;
      if (codeOf(error) !== 'ENOENT') this.mustBeOff(error);
      return undefined;
    }
    // Looked at after it was cloned: whoever writes to it changes its time first.
    const stat = lstatSync(source, { throwIfNoEntry: false });
    if (stat === undefined || !this.isUntouched(stat, file.blob, size)) {
      rmSync(at);
      this.drop(source);
      return undefined;
    }
    chmodSync(at, this.modeOf(file));
    const cloned = lstatSync(at);
    if (cloned.mtimeMs !== stat.mtimeMs) return cloned;
    // There are systems on which a clone has the time of what it was cloned from.
    const now = new Date();
    utimesSync(at, now, now);
    return lstatSync(at);
  }

  /** Keeps a file, which was written just now and is nobody else's yet, for others to clone. */
  keep(blob: BlobId, size: number, at: DiskPath): void {
    if (!this.isFor(size)) return;
    this.room ??= this.cache.roomForSources(this.options.bytesMax ?? sourceBytesMax);
    if (size > this.room) return;
    const draft = this.cache.draftOf(this.options.owner, this.drafts++);
    const source = this.cache.sourceOf(blob);
    let made: string | undefined;
    try {
      made = mkdirSync(this.cache.dir, { recursive: true });
      this.cloneFile(at, draft);
      chmodSync(draft, 0o444);
      utimesSync(draft, timeOf(blob), timeOf(blob));
      mkdirSync(dirname(source), { recursive: true });
      renameSync(draft, source);
      this.room -= size;
      this.options.steps.reach('file-cached');
    } catch (error) {
      this.mustBeOff(error);
    } finally {
      rmSync(draft, { force: true });
    }
    if (made !== undefined && this.isOff === true) removeEmpty(made);
  }

  /** One that is not as it was made, so that the next is. */
  private drop(source: string): void {
    try {
      rmSync(source, { force: true });
    } catch (error) {
      this.mustBeOff(error);
    }
  }

  private isFor(size: number): boolean {
    if (size < cloneBytesMin) return false;
    this.isOff ??= this.options.isAlone();
    return !this.isOff;
  }

  /** As if it had been written: the user's mask says which bits. */
  private modeOf({ isExecutable }: CachedFile): number {
    if (this.executableMode === undefined) {
      const draft = join(this.options.root, storeDirName, `mode-${process.pid}`);
      rmSync(draft, { force: true });
      const handle = openSync(draft, 'wx', 0o777);
      this.executableMode = fstatSync(handle).mode & 0o777;
      closeSync(handle);
      rmSync(draft, { force: true });
    }
    return isExecutable ? this.executableMode : this.executableMode & 0o666;
  }

  /** Also where its time was set back afterwards, as far as the file system tells when it was born. */
  private isUntouched(stat: Stats, blob: BlobId, size: number): boolean {
    const { makingMs = makingMsMax } = this.options;
    const isOfMaking = stat.birthtimeMs <= 0 || stat.ctimeMs - stat.birthtimeMs < makingMs;
    return isOfMaking && stat.nlink === 1 && isPristine(stat, { blob, isExecutable: false }, size);
  }

  /**
   * Whatever the system said, whether it cannot clone (`EOPNOTSUPP`, `EXDEV`, `EAGAIN`…) or has no room: all can be
   * written instead, and what forbids that, too, is told then.
   */
  private mustBeOff(error: unknown): void {
    if (codeOf(error) === '') throw error;
    this.isOff = true;
  }
}

/** Unless somebody else has put something there. */
function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch (error) {
    if (codeOf(error) === '') throw error;
  }
}

export function clonerOf(overlay: Overlay, cache: FileCache, root: string): FileCloner {
  const { store } = overlay.reader;
  const { id } = overlay.workspace();
  const isAlone = (): boolean => !workspaceRows(store).some((row) => row.id !== id && row.dir !== undefined);
  return new FileCloner(cache, { root, owner: `${id}-${randomBytes(6).toString('hex')}`, steps: store.steps, isAlone });
}
