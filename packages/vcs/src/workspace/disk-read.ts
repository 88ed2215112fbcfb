import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs';
import { MoundError } from '../core/errors.ts';
import type { RepoPath } from '../core/ids.ts';
import { isSameStat, lstatOf, type DiskPath } from './disk-path.ts';

/** What stands at a path on disk. */
export interface DiskFile {
  readonly content: Buffer;
  /** Taken before it was read and the same after it. */
  readonly stat: Stats;
}

const triesMax = 3;

/**
 * A file's bytes, or a symlink's target; undefined where there is neither. A file that changes while it is read is
 * read again. Errors: `file-changing`.
 */
export function readDiskFile(at: DiskPath, path: RepoPath): DiskFile | undefined {
  for (let tries = 0; tries < triesMax; tries++) {
    const stat = lstatOf(at);
    if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return undefined;
    const content = stat.isFile() ? readWhole(at, stat) : linkTarget(at);
    if (content !== undefined && isSameStat(lstatOf(at), stat)) return { content, stat };
  }
  throw new MoundError('file-changing', `${path} changes while it is read; try again when nobody writes to it`, {
    path,
  });
}

function linkTarget(at: DiskPath): Buffer | undefined {
  try {
    return readlinkSync(at, { encoding: 'buffer' });
  } catch {
    return undefined;
  }
}

/** undefined where it is not the file of this stat data any more, or grows or shrinks. */
function readWhole(at: DiskPath, stat: Stats): Buffer | undefined {
  let handle: number;
  try {
    handle = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR') return undefined;
    throw error;
  }
  try {
    const content = Buffer.allocUnsafe(stat.size);
    let length = 0;
    while (length < stat.size) {
      const count = readSync(handle, content, length, stat.size - length, length);
      if (count === 0) return undefined;
      length += count;
    }
    return isSameStat(fstatSync(handle), stat) ? content : undefined;
  } finally {
    closeSync(handle);
  }
}
