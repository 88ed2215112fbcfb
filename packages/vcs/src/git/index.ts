/** History in from git and out to git, byte for byte; needs the `git` command. */
export { importGit, type ImportOptions, type ImportProgress, type ImportRepo, type ImportResult } from './import.ts';
export { exportGit, type ExportOptions, type ExportProgress, type ExportRepo, type ExportResult } from './export.ts';
export type { SkippedRef } from './export-skips.ts';
export {
  checkColocation,
  checkoutAbove,
  colocate,
  colocationOf,
  exportColocated,
  hideFromGit,
  importColocated,
  isCheckout,
  trunkRef,
  type ColocatedImport,
  type Colocation,
} from './colocation.ts';
export { excludesOf } from './excludes.ts';
export { lineEndSettingsOf } from './line-end-settings.ts';
export type { Followup } from './follow.ts';
export { listFirstParentCommits, type GitCommitSummary } from './history.ts';
export { ObjectReader, type GitObject } from './object-reader.ts';
export { contentOf, diffCommit, readTreeFlat, type TreeChange } from './tree-diff.ts';
export { gitBlobId, gitObjectId, type GitObjectType } from './object-id.ts';
export { parseTree, writeTree, type ParsedTree, type TreeEntry } from './tree-object.ts';
export {
  joinCommit,
  parseCommit,
  parseIdentity,
  type CommitHeader,
  type GitIdentity,
  type ParsedCommit,
} from './commit-object.ts';
export { buildCommit, type CommitSource } from './commit-build.ts';
export { requireGit } from './git-command.ts';
export { resolveGitDir } from './git-dir.ts';
