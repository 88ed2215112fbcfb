import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { MoundError } from '../core/errors.ts';
import type { BlobId, RepoPath } from '../core/ids.ts';
import { parentsOfPath } from '../core/path.ts';
import type { FileState } from '../repo/workspace-api.ts';
import { storeDirName } from '../store/store-dir.ts';
import { diskPathOf, lstatOf, type DiskPath } from './disk-path.ts';
import type { FileCloner } from './file-cloner.ts';

/** Thrown where a file is not what was seen of it: the caller looks again. */
export class DiskChanged extends Error {
  readonly path: RepoPath;

  constructor(path: RepoPath) {
    super(`${path} changed`);
    this.path = path;
  }
}

/** Whether what stands at a path may be replaced. */
export type IsSeen = (stat: Stats | undefined) => boolean;

function writeNew(at: DiskPath, content: Uint8Array, isExecutable: boolean): void {
  const handle = openSync(at, 'wx', isExecutable ? 0o777 : 0o666);
  try {
    for (let done = 0; done < content.length;) done += writeSync(handle, content, done);
  } finally {
    closeSync(handle);
  }
}

/**
 * Writes files below a directory, never through a symlink: each directory above a file is looked at first, each file
 * is made beside and renamed into place.
 */
export class DiskWriter {
  private readonly root: string;
  private readonly hasSymlinks: boolean;
  private readonly cloner: FileCloner | undefined;
  private readonly directories = new Set<string>();
  private count = 0;

  constructor(root: string, hasSymlinks: boolean, cloner?: FileCloner) {
    this.root = root;
    this.hasSymlinks = hasSymlinks;
    this.cloner = cloner;
  }

  /** Errors: `path-refused` where a symlink or a file stands in the place of a directory above it. */
  private ensureDirectories(path: RepoPath): void {
    const parents = path.startsWith('//hex:') ? parentsOfHex(path) : parentsOfPath(path);
    for (const parent of parents.toReversed()) {
      if (this.directories.has(parent)) continue;
      const at = diskPathOf(this.root, parent);
      const stat = lstatOf(at);
      if (stat === undefined) mkdirSync(at);
      else if (!stat.isDirectory()) {
        const what = stat.isSymbolicLink() ? 'a symlink' : 'no directory';
        const message = `${path} is not written: ${parent} is ${what} on disk; move it away`;
        throw new MoundError('path-refused', message, { path, parent });
      }
      this.directories.add(parent);
    }
  }

  /**
   * Makes a path hold `state`, where what stands there (undefined: nothing) is what was seen. Gives its stat data.
   * `blob`: the landed content whose very bytes these are. Throws {@link DiskChanged} where it is not.
   */
  write(path: RepoPath, state: FileState, isSeen: IsSeen, blob?: BlobId): Stats {
    this.ensureDirectories(path);
    const at = diskPathOf(this.root, path);
    const draft = join(this.root, storeDirName, `file-${process.pid}-${this.count++}`);
    try {
      if (state.mode === 'symlink' && this.hasSymlinks) symlinkSync(state.content, draft);
      else this.make(draft, state, blob);
      const stat = lstatOf(at);
      // What was a directory is empty by now, or nothing may take its place.
      if (stat?.isDirectory() === true) removeEmpty(at, path);
      else if (!isSeen(stat)) throw new DiskChanged(path);
      renameSync(draft, at);
    } finally {
      rmSync(draft, { force: true });
    }
    const written = lstatOf(at);
    if (written === undefined) throw new DiskChanged(path);
    return written;
  }

  private make(draft: string, { content, mode }: FileState, blob: BlobId | undefined): void {
    const isExecutable = mode === 'executable';
    const isCloned = blob !== undefined && this.cloner?.clone({ blob, isExecutable }, content.length, draft);
    if (isCloned) return;
    writeNew(draft, content, isExecutable);
    if (blob !== undefined) this.cloner?.keep(blob, content.length, draft);
  }

  /** Removes a file and the directories that it leaves empty. Throws {@link DiskChanged} as `write`. */
  remove(path: RepoPath, isSeen: IsSeen): void {
    const at = diskPathOf(this.root, path);
    const stat = lstatOf(at);
    if (stat?.isDirectory() !== true) {
      if (!isSeen(stat)) throw new DiskChanged(path);
      // Through a symlink above it, it would be another's file.
      const parents = path.startsWith('//hex:') ? parentsOfHex(path) : parentsOfPath(path);
      const isOwn = parents.every((parent) => lstatOf(diskPathOf(this.root, parent))?.isDirectory() === true);
      if (isOwn && stat !== undefined) rmSync(at, { force: true });
      for (const parent of isOwn ? parents : []) {
        try {
          rmdirSync(diskPathOf(this.root, parent));
          this.directories.delete(parent);
        } catch {
          break;
        }
      }
    }
  }
}

function removeEmpty(at: DiskPath, path: RepoPath): void {
  try {
    rmdirSync(at);
  } catch (cause) {
    const message = `${path} is not written: a directory with files of its own (maybe ignored ones) is there; move it away`;
    throw new MoundError('path-clash', message, { path }, cause);
  }
}

/** The directories above a path whose bytes are not UTF-8, nearest first. */
function parentsOfHex(path: RepoPath): RepoPath[] {
  const bytes = Buffer.from(path.slice('//hex:'.length), 'hex');
  const parents: RepoPath[] = [];
  for (let end = bytes.lastIndexOf('/'); end > 0; end = bytes.lastIndexOf('/', end - 1)) {
    parents.push(`//hex:${bytes.toString('hex', 0, end)}` as RepoPath);
  }
  return parents;
}
