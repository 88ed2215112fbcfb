import type { RepoPath } from '../core/ids.ts';
import { parentsOfPath } from '../core/path.ts';
import { pathsBelow } from '../land/paths-below.ts';
import { collisionOf } from '../log/folds.ts';
import type { LogReader } from '../log/log-reader.ts';

/** Whether a file is at a path, in the state that is looked at. */
export type IsLive = (path: RepoPath) => boolean;

/** Why a path that is to come to be does not fit the tree: the same as landing it would find; undefined where it fits. */
export function treeClash(
  reader: LogReader,
  path: RepoPath,
  isLive: IsLive,
): 'file/directory' | 'path-collision' | undefined {
  if (parentsOfPath(path).some(isLive)) return 'file/directory';
  const liveBelow = (directory: RepoPath): RepoPath | undefined => {
    for (const below of pathsBelow(reader, directory)) if (isLive(below)) return below;
    return undefined;
  };
  if (liveBelow(path) !== undefined) return 'file/directory';
  return collisionOf(reader, path, isLive, liveBelow) === undefined ? undefined : 'path-collision';
}
