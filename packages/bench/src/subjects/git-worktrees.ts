import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { throwIfInterrupted } from '../harness/interrupt.ts';
import type { ContendedSubject, ContendedTrunk, EditAnswer } from '../workloads/contended-trunk.ts';
import type { HotEdit } from '../workloads/hot-edits.ts';
import { readGitFiles } from './git-worktrees-read.ts';
import { attemptsMax, sideBranchOf, WorktreeAgent, type WorktreeSetting } from './git-worktrees-agent.ts';
import { GitTroubles } from './git-worktrees-troubles.ts';
import { gitIsAvailable, type GitRepo } from './git/git-repo.ts';
import { seededGitRepo } from './git/seeded-repo.ts';

export interface GitWorktreesOptions {
  /** Waits a random time after a lost race, as a careful script does. */
  readonly backsOff: boolean;
}

/** How agents share a git repository: a worktree and a branch for each, and one `main` that all bring their work to. */
export const gitWorktrees = ({ backsOff }: GitWorktreesOptions): ContendedSubject => ({
  name: 'git-worktrees',
  onConflict: 'the rebase is aborted, the edit stays behind on a side branch that only its own agent knows of',
  available: gitIsAvailable,
  prepare: async (files, agents, dir, signal) => {
    const trunkDir = join(dir, 'trunk.git');
    await mkdir(trunkDir);
    const repo = await seededGitRepo(files, trunkDir, { bare: true, signal });
    try {
      const setting = { repo, troubles: new GitTroubles(), backsOff };
      return new WorktreesTrunk(setting, await addWorktrees(setting, agents, dir));
    } catch (error) {
      await repo.close();
      throw error;
    }
  },
});

interface AddedWorktrees {
  readonly agents: readonly WorktreeAgent[];
  /** What git said where it failed at the first call. */
  readonly failures: readonly string[];
}

/** All at once, as a swarm starts; those that git failed at are made again one by one. */
export async function addWorktrees(setting: WorktreeSetting, agents: number, dir: string): Promise<AddedWorktrees> {
  const { repo } = setting;
  const add = (agent: number): Promise<WorktreeAgent> => WorktreeAgent.add(setting, join(dir, `agent-${agent}`), agent);
  const first = await Promise.allSettled(Array.from({ length: agents }, (_, agent) => add(agent)));
  const failures: string[] = [];
  const added: WorktreeAgent[] = [];
  for (const [agent, result] of first.entries()) {
    if (result.status === 'fulfilled') {
      added.push(result.value);
      continue;
    }
    throwIfInterrupted(repo.signal);
    failures.push(result.reason instanceof Error ? result.reason.message : String(result.reason));
    await rm(join(dir, `agent-${agent}`), { recursive: true, force: true });
    await repo.run(['worktree', 'prune']);
    added.push(await add(agent));
  }
  return { agents: added, failures };
}

class WorktreesTrunk implements ContendedTrunk {
  readonly notes: readonly string[];
  readonly troubles: GitTroubles;
  readonly #repo: GitRepo;
  readonly #agents: readonly WorktreeAgent[];

  constructor({ repo, troubles, backsOff }: WorktreeSetting, { agents, failures }: AddedWorktrees) {
    this.#repo = repo;
    this.#agents = agents;
    this.troubles = troubles;
    this.notes = [
      `git-worktrees: add, commit, then rebase onto main and update-ref with the old value; ${attemptsMax} tries, ${backsOff ? 'after a random, growing wait' : 'at once'}`,
      ...(failures.length === 0
        ? []
        : [`git-worktrees: ${failures.length} of ${agents.length} calls of git worktree add failed when made at once`]),
    ];
  }

  bring(edit: HotEdit, rewrite: (seen: Buffer) => Buffer): Promise<EditAnswer> {
    const agent = this.#agents[edit.agent];
    if (agent === undefined) throw new RangeError(`no agent ${edit.agent}`);
    return agent.bring(edit, rewrite);
  }

  async readTrunk(paths: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    return readGitFiles(this.#repo, new Map(paths.map((path) => [path, `main:${path}`])));
  }

  async readAside(edits: readonly HotEdit[]): Promise<ReadonlyMap<string, Buffer>> {
    return readGitFiles(this.#repo, new Map(edits.map((edit) => [edit.id, `${sideBranchOf(edit)}:${edit.path}`])));
  }

  close(): Promise<void> {
    return this.#repo.close();
  }
}
