import type { Database, RootDatabase } from 'lmdb';

export type Table = Database<Buffer, Buffer>;

/**
 * Every table of the store. Keys and values are bytes; `docs/spec/storage-format.md`
 * gives their layout. Only `log`, `segments` and `parts` hold what cannot be rebuilt, with
 * `unchanged`, `git-by-seq`, `objects`, `workspaces`, `overlays` and `meta`'s identity; the rest are indexes of the log.
 */
const tableNames = {
  meta: 'meta',
  log: 'log',
  segments: 'segments',
  parts: 'parts',
  heads: 'heads',
  paths: 'paths',
  pathNames: 'path-names',
  folds: 'folds',
  authors: 'authors',
  authorIds: 'author-ids',
  branches: 'branches',
  branchNames: 'branch-names',
  records: 'records',
  operations: 'operations',
  unchanged: 'unchanged',
  conflicts: 'conflicts',
  conflictSides: 'conflict-sides',
  parked: 'parked',
  freezes: 'freezes',
  flags: 'flags',
  contention: 'contention',
  holds: 'holds',
  redirects: 'redirects',
  references: 'references',
  breakages: 'breakages',
  tags: 'tags',
  commits: 'commits',
  gitBySeq: 'git-by-seq',
  seqByGit: 'seq-by-git',
  objects: 'objects',
  purges: 'purges',
  workspaces: 'workspaces',
  overlays: 'overlays',
} as const;

export type TableName = keyof typeof tableNames;
export type Tables = Readonly<Record<TableName, Table>>;

const namesOnDisk: ReadonlySet<string> = new Set(Object.values(tableNames));

export const isTableName = (name: string): boolean => namesOnDisk.has(name);

export const tableCount = Object.keys(tableNames).length;

export function openTables(root: RootDatabase<Buffer, Buffer>): Tables {
  const entries = Object.entries(tableNames).map(([key, name]) => [
    key,
    root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' }),
  ]);
  return Object.fromEntries(entries) as Tables;
}
