import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { seededRandom } from '@mound/vcs';

import type { EditAnswer } from '../workloads/contended-trunk.ts';
import type { HotEdit } from '../workloads/hot-edits.ts';
import type { GitTroubles } from './git-worktrees-troubles.ts';
import type { CommitOperation } from '../workloads/operation.ts';
import { commitText } from './git/commit-text.ts';
import type { GitRepo } from './git/git-repo.ts';
import { changeWorkTree } from './git/work-tree.ts';

/** How often an agent tries to bring one edit to the trunk, and to get past one lock. */
export const attemptsMax = 10;
/** A lost race is followed by a random wait of up to this, and up to twice as long each time it is lost again. */
const waitMsFirst = 200;
const waitMsMax = 2_000;
/** Agents on files of their own lose races, but they need not give up. */
const disjointAttemptsMax = 200;

/** What all agents of one repository share. */
export interface WorktreeSetting {
  readonly repo: GitRepo;
  readonly troubles: GitTroubles;
  /** False: a lost race is run again at once. */
  readonly backsOff: boolean;
}

/** Where an edit stays that did not get to the trunk. */
export const sideBranchOf = ({ agent, id }: HotEdit): string => `stranded/agent-${agent}/${id}`;

/** One agent with a worktree and a branch of its own. */
export class WorktreeAgent {
  readonly #setting: WorktreeSetting;
  readonly #dir: string;
  readonly #name: string;
  readonly #random: ReturnType<typeof seededRandom>;
  /** Commit of the trunk that its branch stands on. */
  #seen = '';

  private constructor(setting: WorktreeSetting, dir: string, agent: number) {
    this.#setting = setting;
    this.#dir = dir;
    this.#name = `agent-${agent}`;
    this.#random = seededRandom(agent);
  }

  static async add(setting: WorktreeSetting, dir: string, agent: number): Promise<WorktreeAgent> {
    const added = new WorktreeAgent(setting, dir, agent);
    // Setting up is not measured, so it need not wait for the disk.
    const { repo } = setting;
    await repo.run(['-c', 'core.fsync=none', 'worktree', 'add', '--quiet', '--force', '-B', added.#name, dir, 'main']);
    added.#seen = await repo.text(['rev-parse', 'main']);
    return added;
  }

  async bring(edit: HotEdit, rewrite: (seen: Buffer) => Buffer): Promise<EditAnswer> {
    const file = join(this.#dir, edit.path);
    await writeFile(file, rewrite(await readFile(file)));
    const committed =
      (await this.#pastLocks(() => this.#git(['add', '--', edit.path]))) &&
      (await this.#pastLocks(() => this.#git(['commit', '--quiet', '--no-verify', `--message=Edit ${edit.path}`])));
    if (!committed) return this.#strand(edit, 'refused', false);
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const reached = await this.#tryTrunk();
      if (reached === 'landed') return { kind: 'landed' };
      if (reached === 'conflict') return this.#strand(edit, 'conflict', true);
      await this.#backOff(attempt);
    }
    return this.#strand(edit, 'tries', true);
  }

  /** Makes a whole commit in the worktree and brings it to the trunk; for agents that never want the same file. */
  async commit(operation: CommitOperation): Promise<void> {
    for (const change of operation.changes) await changeWorkTree(this.#dir, change);
    const paths = operation.changes.map(({ path }) => path);
    const message = { input: commitText(operation) };
    const committed =
      (await this.#pastLocks(() => this.#git(['add', '--all', '--force', '--', ...paths]))) &&
      (await this.#pastLocks(() => this.#git(['commit', '--quiet', '--no-verify', '--file=-'], message)));
    if (!committed) throw new Error(`git-worktrees: ${operation.id} met a lock ${attemptsMax} times`);
    for (let attempt = 0; attempt < disjointAttemptsMax; attempt++) {
      const reached = await this.#tryTrunk();
      if (reached === 'landed') return;
      if (reached === 'conflict') throw new Error(`git-worktrees: ${operation.id} conflicts`);
      await this.#backOff(attempt);
    }
    throw new Error(`git-worktrees: ${operation.id} lost ${disjointAttemptsMax} races`);
  }

  /** Starts anew from the trunk. */
  async catchUp(): Promise<void> {
    await this.#pastLocks(() => this.#git(['reset', '--quiet', '--hard', 'main']));
    this.#seen = await this.#text('rev-parse', 'HEAD');
  }

  /** Onto the newest trunk, then the trunk onto it, unless somebody was faster. */
  async #tryTrunk(): Promise<'landed' | 'conflict' | 'again'> {
    const trunk = await this.#text('rev-parse', 'main');
    try {
      if (trunk !== this.#seen) await this.#git(['rebase', '--quiet', trunk]);
      this.#seen = trunk;
      const head = await this.#text('rev-parse', 'HEAD');
      await this.#git(['update-ref', 'refs/heads/main', head, trunk]);
      this.#seen = head;
      return 'landed';
    } catch (error) {
      const trouble = this.#setting.troubles.take(error);
      if (trouble === 'conflict') return 'conflict';
      // A rebase that met a lock half way is taken back as a whole; where there is none, there is nothing to take back.
      if (this.#seen !== trunk) await this.#git(['rebase', '--abort']).catch(() => undefined);
      return 'again';
    }
  }

  /** All at once, the agents would take the processor from the one that is about to land. */
  async #backOff(attempt: number): Promise<void> {
    if (!this.#setting.backsOff) return;
    await setTimeout(this.#random.next() * Math.min(waitMsMax, waitMsFirst * 2 ** attempt));
  }

  /** Leaves the edit on a side branch and starts anew from the trunk: the next edit must not fail with this one. */
  async #strand(edit: HotEdit, because: 'conflict' | 'tries' | 'refused', isCommitted: boolean): Promise<EditAnswer> {
    if (because === 'conflict') await this.#pastLocks(() => this.#git(['rebase', '--abort']));
    const isRecorded = isCommitted && (await this.#pastLocks(() => this.#git(['branch', sideBranchOf(edit)])));
    await this.catchUp();
    return { kind: 'stranded', because, isRecorded };
  }

  /** Makes a call again while locks are in its way; false where they stay there. */
  async #pastLocks(call: () => Promise<Buffer>): Promise<boolean> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      try {
        await call();
        return true;
      } catch (error) {
        if (this.#setting.troubles.take(error) !== 'lock') throw error;
      }
    }
    return false;
  }

  #git(args: readonly string[], call: { readonly input?: string } = {}): Promise<Buffer> {
    const where = ['-C', this.#dir, `--git-dir=${join(this.#dir, '.git')}`, `--work-tree=${this.#dir}`];
    return this.#setting.repo.run([...where, ...args], { ...call, env: { GIT_AUTHOR_NAME: this.#name } });
  }

  async #text(...args: readonly string[]): Promise<string> {
    return (await this.#git(args)).toString('utf8').trim();
  }
}
