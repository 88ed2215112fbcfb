import type { Measurement, RunOptions } from '../harness/measurement.ts';
import type { CommitOperation } from '../workloads/operation.ts';
import { fastImportCommit } from './git/commit-text.ts';
import { gitIsAvailable, type GitRepo } from './git/git-repo.ts';
import { gitFaults, seededGitRepo } from './git/seeded-repo.ts';
import type { Subject } from './subject.ts';

/** git at its fastest: one process, one stream, no compare-and-swap, flushed once at the end. */
export const gitFastImportSubject: Subject = {
  name: 'git-fast-import',
  durability: 'at-end',
  pace: 'stream',
  available: gitIsAvailable,
  prepare: async (files, dir, signal) => {
    const repo = await seededGitRepo(files, dir, { bare: true, signal });
    return {
      notes: ['git-fast-import: one process, no compare-and-swap, flushed at the end of a run only'],
      run: (operations, options) => pour(repo, operations, options),
      verify: (acknowledged) => gitFaults(repo, acknowledged),
      cleanup: () => repo.close(),
    };
  },
};

async function pour(
  repo: GitRepo,
  operations: readonly CommitOperation[],
  { budgetMs }: RunOptions,
): Promise<Measurement> {
  // Without the limit a small import would be unpacked into loose objects.
  const running = repo.start(['-c', 'fastimport.unpackLimit=1', 'fast-import', '--quiet']);
  const started = performance.now();
  let acknowledged = 0;
  for (const operation of operations) {
    if (acknowledged > 0 && performance.now() - started > budgetMs) break;
    await running.write(fastImportCommit(operation, acknowledged === 0 ? 'refs/heads/main^0' : undefined));
    acknowledged++;
  }
  await running.finish();
  return { acknowledged, seconds: (performance.now() - started) / 1000 };
}
