import { lstatSync, type Stats } from 'node:fs';
import { foldPath, hexPrefix, isGitDisguise, isPathFault, parsePath } from '../core/path.ts';
import type { RepoPath } from '../core/ids.ts';
import { storeDirName } from '../store/store-dir.ts';

/** A path on disk: bytes where they are not UTF-8. */
export type DiskPath = string | Buffer;

/** Where a repo path stands below a directory. */
export function diskPathOf(root: string, path: RepoPath): DiskPath {
  if (!path.startsWith(hexPrefix)) return `${root}/${path}`;
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path.slice(hexPrefix.length), 'hex')]);
}

/** Why no file of this path may be made in a workspace; undefined: it may. An import takes what a tree holds. */
export function refusalOf(path: RepoPath): string | undefined {
  const text = path.startsWith(hexPrefix) ? Buffer.from(path.slice(hexPrefix.length), 'hex').toString('latin1') : path;
  const segments = text.split(/[/\\]/);
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..') return `has the segment '${segment}'`;
    if (isGitDisguise(segment)) return `names git's own directory ('${segment}')`;
  }
  if (text.includes('\0')) return 'holds a NUL';
  if (foldPath((segments[0] ?? '') as RepoPath) === storeDirName) return "names Mound's own directory";
  if (path.startsWith(hexPrefix)) return undefined;
  const parsed = parsePath(path);
  return isPathFault(parsed) && !parsed.reason.startsWith('is longer') ? parsed.reason : undefined;
}

/** Paths that a file system which folds case or Unicode form takes for one, in groups; directories count, too. */
export function collisionsOf(paths: Iterable<RepoPath>): RepoPath[][] {
  const folded = new Map<string, Set<RepoPath>>();
  const seen = new Set<string>();
  for (const path of paths) {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const part = path.slice(0, end) as RepoPath;
      if (seen.has(part)) break;
      seen.add(part);
      const key = foldPath(part);
      const group = folded.get(key);
      if (group === undefined) folded.set(key, new Set([part]));
      else group.add(part);
    }
  }
  return [...folded.values()].filter(({ size }) => size > 1).map((group) => [...group].toSorted());
}

const noFile = ['ENOTDIR', 'EINVAL', 'EILSEQ', 'ENAMETOOLONG'];

/** Of the path itself, not of what a symlink leads to; undefined where there is nothing. */
export function lstatOf(path: DiskPath): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A file stands where a directory above it would be, or it is no name there: so it is none of a file.
    if (noFile.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Of a file with several links the time of its change of state tells what others do with theirs, so it does not count. */
export const isSameStat = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a?.mtimeMs === b?.mtimeMs &&
  (a?.ctimeMs === b?.ctimeMs || isShared(a) || isShared(b)) &&
  a?.size === b?.size &&
  a?.ino === b?.ino &&
  a?.mode === b?.mode;

const isShared = (stat: Stats | undefined): boolean => stat?.isFile() === true && stat.nlink > 1;
