/** Workspaces with files in a directory; those without are `repo.workspace`. */
export { addWorkspace, type AddedWorkspace, type AddOptions } from './add.ts';
export { diskFiles } from './disk-files.ts';
export { FileCache, type CachePruning } from './file-cache.ts';
export { findWorkspaceDir, readMarker, type Marker } from './marker.ts';
export {
  materialise,
  openWorkspace,
  removeWorkspace,
  workspaceNameOf,
  type WorkspaceOpenOptions,
  type WorkspaceRemoveOptions,
} from './open.ts';
export {
  pruneWorkspaces,
  type PrunedWorkspace,
  type PruneOptions,
  type PruneReason,
  type PruneReport,
} from './prune.ts';
export { recoverWorkspaces } from './recover.ts';
export type { SkippedPath, WrittenTree } from './written-tree.ts';
export type { DirectoryChange, DirectoryStatus, DirectorySync, WorkspaceDirectory } from './workspace-directory.ts';
