/**
 * Every named step on the way of a write, in the order of an intent's way.
 * A process may die at any of them; `test/crash-sweep.test.ts` kills one at
 * each, and fails if this list names a step that it does not reach.
 */
export const stepNames = [
  // Making and opening a repository.
  'draft-made',
  'repo-named',
  'store-opened',
  // One intent, on its way to a transaction.
  'admitted',
  'prepared',
  'merge-planned',
  'merged-outside',
  // Inside a transaction, which holds the writer mutex.
  'batch-begun',
  'decided',
  'merged-inside',
  'paths-held',
  'part-written',
  'entry-written',
  'heads-written',
  'records-written',
  'git-marked',
  'unchanged-kept',
  'row-opened',
  'row-closed',
  'branch-added',
  'split-written',
  'reference-written',
  'breakage-written',
  'freeze-expired',
  'act-written',
  'index-slice-drained',
  'segment-written',
  'batch-written',
  // Behind the flush.
  'committed',
  'told',
  // Between the transactions of one call.
  'merging-held',
  'sides-met',
  'thaw-marked',
  'split-read',
  'split-landed',
  'unparked',
  'branch-read',
  // A workspace: its rows, then on disk.
  'overlay-written',
  'workspace-named',
  'file-cached',
  'workspace-drafted',
  'workspace-placed',
  'workspace-ready',
  'shared-aside',
  'shelved',
  'shared-owned',
  'sync-noted',
  'file-replaced',
  'files-synced',
  'commit-landed',
  'commit-settled',
  'workspace-removing',
  'workspace-unplaced',
  // Closing.
  'drained',
  'closed',
] as const;

export type StepName = (typeof stepNames)[number];

/** Told of each step that is reached, for tests that make a process die there. */
export interface Steps {
  reach(step: StepName): void;
}

export const noSteps: Steps = { reach: () => undefined };
