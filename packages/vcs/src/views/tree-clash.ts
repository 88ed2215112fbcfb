import type { RepoPath } from '../core/ids.ts';
import { bytesOfPath, parentsOfPath } from '../core/path.ts';
import { foldKey } from '../land/batch-writer.ts';
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
  const { paths, folds } = reader.store.tables;
  const start = Buffer.concat([bytesOfPath(path), Buffer.from('/')]);
  const end = Buffer.concat([bytesOfPath(path), Buffer.from('0')]);
  for (const { value } of paths.getRange({ start, end })) {
    if (isLive(reader.pathOf(value.readUInt32BE(0)))) return 'file/directory';
  }
  for (const key of folds.getKeys({ start: foldKey(path, 0), end: foldKey(path, 0xffffffff) })) {
    const twin = reader.pathOf(key.readUInt32BE(16));
    if (twin !== path && isLive(twin)) return 'path-collision';
  }
  return undefined;
}
