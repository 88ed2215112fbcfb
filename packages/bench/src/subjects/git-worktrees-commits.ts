import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { runInFlight } from '../harness/measurement.ts';
import { GitTroubles } from './git-worktrees-troubles.ts';
import { addWorktrees } from './git-worktrees.ts';
import { gitIsAvailable } from './git/git-repo.ts';
import { gitFaults, seededGitRepo } from './git/seeded-repo.ts';
import { agentsOfFew, type Subject } from './subject.ts';

/** Agents with a worktree and a branch each, on files of their own: commit, rebase onto main, move main with compare-and-swap. */
export const gitWorktreesSubject: Subject = {
  name: 'git-worktrees',
  durability: 'flushed',
  pace: 'few-in-flight',
  storeIn: 'trunk.git',
  available: gitIsAvailable,
  prepare: async (files, dir, signal) => {
    const trunkDir = join(dir, 'trunk.git');
    await mkdir(trunkDir);
    const repo = await seededGitRepo(files, trunkDir, { bare: true, signal });
    try {
      const { agents } = await addWorktrees({ repo, troubles: new GitTroubles(), backsOff: true }, agentsOfFew, dir);
      return {
        notes: [`git-worktrees: ${agentsOfFew} agents with a worktree each at most`],
        run: async (operations, options) => {
          const agentOf = new Map(operations.map(({ id }, at) => [id, agents[at % options.inFlight]]));
          for (const agent of agents) await agent.catchUp();
          return runInFlight(operations, options, async (operation) => {
            const agent = agentOf.get(operation.id);
            if (agent === undefined) throw new RangeError(`at most ${agentsOfFew} in flight`);
            await agent.commit(operation);
          });
        },
        verify: (acknowledged) => gitFaults(repo, acknowledged),
        cleanup: () => repo.close(),
      };
    } catch (error) {
      await repo.close();
      throw error;
    }
  },
};
