import type { RepoPath } from '../core/ids.ts';
import { bytesOfPath, foldPath, parentsOfPath } from '../core/path.ts';
import { digest } from '../format/hash.ts';
import { idKey } from '../format/keys.ts';
import type { LogReader } from './log-reader.ts';

/** Longer directories are no beginning of a key of `paths`; only an import brings them. */
const directoryBytesMax = 1023;

/** `paths` and `folds` hold byte forms; only an import brings those. */
const isText = (path: RepoPath): boolean => !path.startsWith('//');

/** A row for a path, or for a directory under the path that first stood in it. */
export function foldKey(path: string, pathId: number): Buffer {
  return Buffer.concat([digest(Buffer.from(foldPath(path as RepoPath))).subarray(0, 16), idKey(pathId)]);
}

export const directoryFoldKey = (directory: RepoPath, pathId: number): Buffer => foldKey(`${directory}/`, pathId);

/** Directories above a path that have a row, nearest first. */
export const foldedDirectories = (path: RepoPath): RepoPath[] =>
  isText(path) ? parentsOfPath(path).filter((parent) => Buffer.byteLength(parent) <= directoryBytesMax) : [];

/** Directories above a path in which none stood yet, under exactly this name; to be asked before the path has an id. */
export function newDirectories(reader: LogReader, path: RepoPath): RepoPath[] {
  const directories = foldedDirectories(path);
  // What is above a known one is known.
  const known = directories.findIndex((directory) => hasPathsBelow(reader, directory));
  return known < 0 ? directories : directories.slice(0, known);
}

function hasPathsBelow(reader: LogReader, directory: RepoPath): boolean {
  const start = Buffer.concat([bytesOfPath(directory), Buffer.from('/')]);
  const end = Buffer.concat([bytesOfPath(directory), Buffer.from('0')]);
  // Nearly always the first one: those that are no text have no directories.
  for (const { value } of reader.store.tables.paths.getRange({ start, end })) {
    if (isText(reader.pathOf(value.readUInt32BE(0)))) return true;
  }
  return false;
}

function* idsOfFold(reader: LogReader, name: string): Generator<number> {
  const range = { start: foldKey(name, 0), end: foldKey(name, 0xffffffff) };
  for (const key of reader.store.tables.folds.getKeys(range)) yield key.readUInt32BE(16);
}

/** Other paths that equal one by folding. */
export function* twinsOf(reader: LogReader, path: RepoPath): Generator<RepoPath> {
  for (const id of idsOfFold(reader, path)) {
    const twin = reader.pathOf(id);
    if (twin !== path) yield twin;
  }
}

/** Other directories that equal one by folding. */
export function* twinDirectoriesOf(reader: LogReader, directory: RepoPath): Generator<RepoPath> {
  const depth = directory.split('/').length;
  for (const id of idsOfFold(reader, `${directory}/`)) {
    const twin = reader.pathOf(id).split('/').slice(0, depth).join('/') as RepoPath;
    if (twin !== directory) yield twin;
  }
}

/**
 * A live path with which one that comes to be would share a name on a file system that folds case or Unicode form: its
 * twin, or one in a twin of a directory above it that nothing stands in so far.
 */
export function collisionOf(
  reader: LogReader,
  path: RepoPath,
  isLive: (path: RepoPath) => boolean,
  liveBelow: (directory: RepoPath) => RepoPath | undefined,
): RepoPath | undefined {
  for (const twin of twinsOf(reader, path)) if (isLive(twin)) return twin;
  for (const directory of foldedDirectories(path)) {
    for (const twin of twinDirectoriesOf(reader, directory)) {
      const other = liveBelow(twin);
      // Where both are there already nothing becomes worse.
      if (other !== undefined && liveBelow(directory) === undefined) return other;
    }
  }
  return undefined;
}
