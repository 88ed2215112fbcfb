import type { Stats } from 'node:fs';
import type { RepoPath } from '../core/ids.ts';
import type { FileState } from '../repo/workspace-api.ts';
import { diskPathOf, isSameStat, lstatOf } from './disk-path.ts';
import { readDiskFile } from './disk-read.ts';
import { DiskChanged, type DiskWriter } from './disk-write.ts';
import type { FileCache } from './file-cache.ts';
import type { DiskEdit } from './scan.ts';
import type { StatIndex } from './stat-index.ts';

/** Files that were written to through a link are linked by nobody any more; who links them finds them still. */
export function setAsideShared(cache: FileCache, dir: string, edits: readonly DiskEdit[], done: () => void): void {
  for (const { path, stat, shared } of edits) {
    if (shared?.entry === undefined || stat === undefined) continue;
    cache.setAside(shared.entry, diskPathOf(dir, path), stat);
    done();
  }
}

/** Gives the workspace a file of its own in place of each that was written to through a link. */
export function ownShared(writer: DiskWriter, edits: readonly DiskEdit[], index: StatIndex, done: () => void): void {
  for (const { path, shared, stat, mode } of edits) {
    if (shared === undefined || stat === undefined) continue;
    const own = replaced(writer, path, { content: shared.raw, mode }, stat);
    if (own === undefined) continue;
    index.set(path, own);
    done();
  }
}

/** The same for one path, where its file has other links; gives the stat data of the new file. */
export function ownFile(writer: DiskWriter, dir: string, path: RepoPath): Stats | undefined {
  const at = diskPathOf(dir, path);
  const stat = lstatOf(at);
  const file = stat?.isFile() === true && stat.nlink > 1 ? readDiskFile(at, path) : undefined;
  if (file === undefined) return undefined;
  const mode = (file.stat.mode & 0o100) === 0 ? 'file' : 'executable';
  return replaced(writer, path, { content: file.content, mode }, file.stat);
}

/** Undefined: it changed again, which the next look finds. */
function replaced(writer: DiskWriter, path: RepoPath, state: FileState, seen: Stats): Stats | undefined {
  try {
    return writer.write(path, state, (now) => isSameStat(now, seen));
  } catch (error) {
    if (error instanceof DiskChanged) return undefined;
    throw error;
  }
}
