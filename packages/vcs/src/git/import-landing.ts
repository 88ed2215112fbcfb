import { MoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { defaultBranch } from './branch-names.ts';
import type { FlaggedPaths } from './flagged-paths.ts';
import { objectKey, keptObjectValue, putRecords } from './git-records.ts';
import type { ReadCommit } from './import-commit.ts';
import type { ImportLine, PlannedCommit } from './import-plan.ts';

export type LandingRepo = Pick<Repo, 'commit' | 'fork' | 'gitMarks' | 'land' | 'landGit' | 'snapshot'>;

/**
 * Lands commits, many in flight: calls on one branch are made in order and not
 * awaited, a branch is forked once its first parent has landed, a merge is
 * called once its other parents have.
 */
export class ImportLanding {
  readonly #repo: LandingRepo;
  readonly #flagged: FlaggedPaths;
  /** Per branch: settles when the last commit so far has been handed to the store. */
  readonly #handed = new Map<string, Promise<unknown>>();
  /** Per commit of this import: its seq, or the promise of it. */
  readonly #seqs = new Map<string, number | Promise<number>>();
  readonly #branches = new Map<string, string>();

  constructor(repo: LandingRepo, flagged: FlaggedPaths) {
    this.#repo = repo;
    this.#flagged = flagged;
  }

  /** Resolves once it has landed. To be called parents before children. */
  async land(commit: PlannedCommit & { readonly line: ImportLine }, read: Promise<ReadCommit>): Promise<void> {
    const { branch } = commit.line;
    const before = this.#handed.get(branch) ?? this.#open(commit.line);
    // An object around the landing's promise, so that awaiting the hand-over does not await the landing.
    const handed = before.then(async () => ({ landed: this.#hand(await read, commit) }));
    const isHanded = handed.then(({ landed }) => landed.isHanded);
    const seq = handed.then(({ landed }) => landed.seq);
    this.#handed.set(branch, isHanded);
    this.#branches.set(commit.id, branch);
    this.#seqs.set(commit.id, seq);
    isHanded.catch(() => undefined);
    seq.catch(() => undefined);
    this.#seqs.set(commit.id, await seq);
  }

  #hand(
    read: ReadCommit,
    commit: PlannedCommit & { readonly line: ImportLine },
  ): { readonly isHanded: Promise<unknown>; readonly seq: Promise<number> } {
    const ready = this.#ready(read, commit);
    const landing = ready.then((extraParents) => ({
      promise: this.#repo.landGit({ ...read.landing, branch: commit.line.branch, extraParents }),
    }));
    return { isHanded: landing, seq: landing.then(async ({ promise }) => (await promise).seq) };
  }

  async #ready(read: ReadCommit, commit: PlannedCommit): Promise<number[]> {
    if (read.oddTrees.length > 0) {
      // Before the landing: a commit that is marked as landed is never looked at again.
      await putRecords(
        this.#repo,
        new Map(read.oddTrees.map(({ id, raw }) => [objectKey(id), keptObjectValue('tree', raw)])),
      );
    }
    await this.#flagged.note(commit.id, read.flaggedPaths);
    const extra = [...commit.parents];
    // The store adds what the branch stands at by itself.
    const own = commit.base === undefined ? -1 : extra.indexOf(commit.base);
    if (own >= 0) extra.splice(own, 1);
    return Promise.all(extra.map((id) => this.seqOf(id)));
  }

  /** Makes a line's branch where there is none yet. */
  async #open({ branch, exists, after }: ImportLine): Promise<void> {
    if (!exists) await this.fork(branch, after);
  }

  /** Forks a branch at a landed commit, or empty. */
  async fork(branch: string, after: string | undefined): Promise<void> {
    if (after === undefined) {
      await this.#repo.fork(branch, { from: defaultBranch, at: 0 });
      return;
    }
    const at = await this.seqOf(after);
    await this.#repo.fork(branch, { from: this.#branches.get(after) ?? this.#repo.commit(at).branch, at });
  }

  /** Errors: `git-failed` for a commit that is neither landed nor in this import. */
  async seqOf(gitId: string): Promise<number> {
    const seq = this.#seqs.get(gitId) ?? this.#repo.gitMarks.seqOf(gitId);
    if (seq === undefined) throw new MoundError('git-failed', `git did not list commit ${gitId}`, { id: gitId });
    return seq;
  }
}
