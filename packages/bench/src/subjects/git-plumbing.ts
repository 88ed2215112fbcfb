import { join } from 'node:path';

import { runInFlight } from '../harness/measurement.ts';
import type { CommitOperation } from '../workloads/operation.ts';
import { commitText, gitModeOf, quotedPath } from './git/commit-text.ts';
import { gitIsAvailable, GitRepo } from './git/git-repo.ts';
import { gitFaults, seededGitRepo } from './git/seeded-repo.ts';
import type { Subject } from './subject.ts';

/** Of one commit, after races that other processes won. */
const attemptsMax = 1_000;

/**
 * The way git can be used by agents without a checkout: blobs, a private index,
 * a tree, a commit, and `update-ref` with the old value as compare-and-swap.
 */
export const gitPlumbingSubject: Subject = {
  name: 'git-plumbing',
  durability: 'flushed',
  pace: 'one-at-a-time',
  available: gitIsAvailable,
  prepare: async (files, dir, signal) => {
    const repo = await seededGitRepo(files, dir, { bare: true, signal });
    const agent = new PlumbingAgent(repo);
    try {
      await agent.start();
    } catch (error) {
      await repo.close();
      throw error;
    }
    return {
      notes: [],
      run: (operations, options) => runInFlight(operations, options, (operation) => agent.commit(operation)),
      verify: (acknowledged) => gitFaults(repo, acknowledged),
      cleanup: () => repo.close(),
    };
  },
  attach: async (dir, signal) => {
    const repo = new GitRepo(dir, true, signal);
    const agent = new PlumbingAgent(repo);
    await agent.start();
    return {
      run: (operations, options) => runInFlight(operations, options, (operation) => agent.commit(operation)),
      cleanup: () => repo.close(),
    };
  },
};

/** One agent with its own index, kept from commit to commit as git can best use it. */
class PlumbingAgent {
  readonly #repo: GitRepo;
  readonly #env: NodeJS.ProcessEnv;
  #head = '';

  constructor(repo: GitRepo) {
    this.#repo = repo;
    this.#env = { GIT_INDEX_FILE: join(repo.gitDir, `agent-index-${process.pid}`) };
  }

  async start(): Promise<void> {
    this.#head = await this.#repo.text(['rev-parse', 'main']);
    await this.#repo.run(['read-tree', this.#head], { env: this.#env });
  }

  async commit(operation: CommitOperation): Promise<void> {
    const lines: string[] = [];
    for (const { path, content, mode } of operation.changes) {
      if (content === null) lines.push(`0 ${'0'.repeat(40)}\t${quotedPath(path)}\n`);
      else {
        const blob = await this.#repo.text(['hash-object', '-w', '--stdin'], { input: content });
        lines.push(`${gitModeOf(mode)} ${blob}\t${quotedPath(path)}\n`);
      }
    }
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      if (await this.#offer(operation, lines.join(''))) return;
      // Another process was faster, or held the lock of the ref: once more on what is there now.
      await this.start();
    }
    throw new Error(`git-plumbing: ${operation.id} lost ${attemptsMax} races`);
  }

  /** False where `main` is no longer what this agent's index stands on. */
  async #offer(operation: CommitOperation, lines: string): Promise<boolean> {
    await this.#repo.run(['update-index', '--index-info'], { input: lines, env: this.#env });
    const tree = await this.#repo.text(['write-tree'], { env: this.#env });
    const commit = await this.#repo.text(['commit-tree', tree, '-p', this.#head], {
      input: commitText(operation),
      env: { GIT_AUTHOR_NAME: operation.agent },
    });
    try {
      await this.#repo.run(['update-ref', 'refs/heads/main', commit, this.#head]);
    } catch (error) {
      if (String(error).includes('cannot lock ref')) return false;
      throw error;
    }
    this.#head = commit;
    return true;
  }
}
