import { runInFlight } from '../harness/measurement.ts';
import type { CommitOperation } from '../workloads/operation.ts';
import { commitText } from './git/commit-text.ts';
import { gitIsAvailable, type GitRepo } from './git/git-repo.ts';
import { gitFaults, seededGitRepo } from './git/seeded-repo.ts';
import { changeWorkTree } from './git/work-tree.ts';
import type { Subject } from './subject.ts';

/** What most people do: edit in a checkout, `git add`, `git commit`. */
export const gitPorcelainSubject: Subject = {
  name: 'git-porcelain',
  durability: 'flushed',
  pace: 'one-at-a-time',
  storeIn: '.git',
  available: gitIsAvailable,
  prepare: async (files, dir, signal) => {
    const repo = await seededGitRepo(files, dir, { bare: false, signal });
    return {
      notes: [],
      run: (operations, options) => runInFlight(operations, options, (operation) => commit(repo, operation)),
      verify: (acknowledged) => gitFaults(repo, acknowledged),
      cleanup: () => repo.close(),
    };
  },
};

async function commit(repo: GitRepo, operation: CommitOperation): Promise<void> {
  for (const change of operation.changes) await changeWorkTree(repo.dir, change);
  await repo.run(['add', '--all', '--force', '--', ...operation.changes.map(({ path }) => path)]);
  await repo.run(['commit', '--quiet', '--no-verify', '--file=-'], {
    input: commitText(operation),
    env: { GIT_AUTHOR_NAME: operation.agent },
  });
}
