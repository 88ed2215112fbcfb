import fs from 'node:fs';

import { add, commit, remove, version } from 'isomorphic-git';

import { runInFlight } from '../harness/measurement.ts';
import type { CommitOperation } from '../workloads/operation.ts';
import { commitText } from './git/commit-text.ts';
import { gitIsAvailable } from './git/git-repo.ts';
import { gitFaults, seededGitRepo } from './git/seeded-repo.ts';
import { changeWorkTree } from './git/work-tree.ts';
import type { Subject } from './subject.ts';

/** git in JavaScript, in this process. It never flushes. git itself makes the initial repository and reads it back. */
export const isomorphicGitSubject: Subject = {
  name: 'isomorphic-git',
  version: () => Promise.resolve(version()),
  durability: 'unflushed',
  pace: 'one-at-a-time',
  storeIn: '.git',
  available: gitIsAvailable,
  prepare: async (files, dir, signal) => {
    const repo = await seededGitRepo(files, dir, { bare: false, signal });
    const cache = {};
    return {
      notes: ['isomorphic-git: flushes nothing'],
      run: (operations, options) => runInFlight(operations, options, (operation) => commitOne(dir, cache, operation)),
      verify: (acknowledged) => gitFaults(repo, acknowledged),
      cleanup: () => repo.close(),
    };
  },
};

async function commitOne(dir: string, cache: object, operation: CommitOperation): Promise<void> {
  for (const change of operation.changes) {
    await changeWorkTree(dir, change);
    const filepath = change.path;
    if (change.content === null) await remove({ fs, dir, cache, filepath });
    else await add({ fs, dir, cache, filepath, force: true });
  }
  const author = { name: operation.agent, email: `${operation.agent}@mound.invalid` };
  await commit({ fs, dir, cache, author, message: commitText(operation) });
}
