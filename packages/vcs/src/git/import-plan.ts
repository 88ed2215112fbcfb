import { invariant, MoundError } from '../core/errors.ts';
import type { BranchView, Repo } from '../repo/api.ts';
import { isSideBranch, landingSeqOf, moundBranchesOf, sideBranchOf } from './branch-names.ts';
import { isBehind } from './export-plan.ts';
import type { GraphCommit } from './commit-graph.ts';

/** A git branch and the commit it stands at. */
export interface GitTip {
  readonly branch: string;
  readonly id: string;
}

/** A chain of commits that lands, in order, on one branch. */
export interface ImportLine {
  readonly branch: string;
  /** False where the branch must be forked first, at its first commit's first parent. */
  readonly exists: boolean;
  /** Git id that it begins after; undefined for a root. */
  readonly after: string | undefined;
}

export interface PlannedCommit extends GraphCommit {
  line: ImportLine | undefined;
  /** Git id of what its branch stands at before it: its first parent, but for a branch that git moved past a merge. */
  base: string | undefined;
}

export interface ImportPlan {
  /** Parents before children. */
  readonly commits: readonly (PlannedCommit & { line: ImportLine })[];
  /** Branches that stand at a commit of another line and have none of their own. */
  readonly forks: readonly { readonly branch: string; readonly at: string }[];
  /** Git branches that stand beside where they belong, by this import or an earlier one. */
  readonly diverged: readonly string[];
}

export type PlanRepo = Pick<Repo, 'branches' | 'commit' | 'gitMarks'>;

/** What is landed already, as the plan asks for it. */
class LandedState {
  readonly #repo: PlanRepo;
  readonly #branches: Map<string, BranchView>;

  constructor(repo: PlanRepo) {
    this.#repo = repo;
    this.#branches = new Map(repo.branches().map((branch) => [branch.name, branch]));
  }

  has(branch: string): boolean {
    return this.#branches.has(branch);
  }

  /** Git id at a branch's head: null where it is empty, undefined where git does not know the head. */
  headOf(branch: string): string | null | undefined {
    const view = this.#branches.get(branch);
    const seq = view && landingSeqOf(this.#repo, view);
    return seq === undefined ? null : this.#repo.gitMarks.gitIdOf(seq);
  }

  /** True where the commit is in the branch's own line, that is, at its head or behind it. */
  contains(branch: string, gitId: string): boolean {
    const seq = this.#repo.gitMarks.seqOf(gitId);
    if (seq === undefined) return false;
    const on = this.#repo.commit(seq).branch;
    let upTo = Number.MAX_SAFE_INTEGER;
    for (let line = this.#branches.get(branch); line; line = this.#branches.get(line.parent ?? '')) {
      if (line.name === on) return seq <= upTo;
      upTo = Math.min(upTo, line.forkSeq);
    }
    return false;
  }

  /** True where a landed commit is an ancestor of another, or the same. */
  isBehind(gitId: string, other: string): boolean {
    const [old, head] = [this.#repo.gitMarks.seqOf(gitId), this.#repo.gitMarks.seqOf(other)];
    return old !== undefined && head !== undefined && isBehind(this.#repo, old, head);
  }

  /** True where the commit is in the branch's line or was merged into it. */
  holds(branch: string, gitId: string): boolean {
    if (this.contains(branch, gitId)) return true;
    const seq = this.#repo.gitMarks.seqOf(gitId);
    const view = this.#branches.get(branch);
    const head = view && landingSeqOf(this.#repo, view);
    return seq !== undefined && head !== undefined && isBehind(this.#repo, seq, head);
  }

  branchOfCommit(gitId: string): string {
    const seq = this.#repo.gitMarks.seqOf(gitId);
    if (seq === undefined) throw new MoundError('git-failed', `git did not list commit ${gitId}`, { id: gitId });
    return this.#repo.commit(seq).branch;
  }
}

/**
 * Decides which branch each commit lands on. `commits` are those not landed
 * yet, in topological order; `tips` the git branches, HEAD's first, so that a
 * commit on several first-parent chains is landed on the most important one.
 */
export function planImport(
  repo: PlanRepo,
  commits: readonly GraphCommit[],
  tips: readonly GitTip[],
  headBranch: string | undefined,
): ImportPlan {
  const landed = new LandedState(repo);
  const planned = new Map<string, PlannedCommit>(
    commits.map(({ id, parents }) => [id, { id, parents, line: undefined, base: parents[0] }]),
  );
  const claimed = new Set<string>();
  const forks: { readonly branch: string; readonly at: string }[] = [];
  const diverged: string[] = [];

  for (const tip of tips) {
    const chain: PlannedCommit[] = [];
    let next = planned.get(tip.id);
    while (next && next.line === undefined) {
      chain.push(next);
      next = planned.get(next.parents[0] ?? '');
    }
    const candidates = moundBranchesOf(tip.branch, headBranch).filter((name) => !claimed.has(name));
    const oldest = chain.at(-1);
    if (oldest === undefined && candidates.some((name) => landed.contains(name, tip.id))) {
      if (candidates[0] !== undefined && !landed.holds(candidates[0], tip.id)) diverged.push(tip.branch);
      continue;
    }
    // Where the chain meets what is landed or on another line.
    const after = oldest ? oldest.parents[0] : tip.id;
    const fits = (name: string): boolean => !landed.has(name) || landed.headOf(name) === (after ?? null);
    const branch = candidates.find((name) => fits(name) || rebase(planned, landed, chain, name));
    if (branch === undefined || branch !== candidates[0]) diverged.push(tip.branch);
    if (branch !== undefined) claimed.add(branch);
    const first = chain.at(-1);
    if (first === undefined) {
      if (branch !== undefined) forks.push({ branch, at: tip.id });
      continue;
    }
    const line: ImportLine = {
      branch: branch ?? sideBranchOf(first.id),
      exists: branch !== undefined && landed.has(branch),
      after: first.base,
    };
    for (const commit of chain) commit.line = line;
  }

  planSideLines(planned, landed);
  return {
    commits: [...planned.values()].map((commit) => {
      invariant(commit.line, 'every commit has a line');
      return { ...commit, line: commit.line };
    }),
    forks,
    diverged,
  };
}

/**
 * Git may move a branch forward along another than the first parents (a merge
 * of the branch into its own topic). What of the chain descends from the
 * branch's head can go on there, the oldest of it based on that head. Cuts the
 * chain to it and answers true, or answers false.
 */
function rebase(
  planned: ReadonlyMap<string, PlannedCommit>,
  landed: LandedState,
  chain: PlannedCommit[],
  branch: string,
): boolean {
  const head = landed.headOf(branch);
  if (typeof head !== 'string') return false;
  const descendants = new Set([head]);
  const others = new Set<string>();
  const descends = (id: string): boolean => {
    if (descendants.has(id)) return true;
    if (planned.has(id) || others.has(id)) return false;
    const isDescendant = landed.isBehind(head, id);
    (isDescendant ? descendants : others).add(id);
    return isDescendant;
  };
  for (const { id, parents } of planned.values()) if (parents.some((parent) => descends(parent))) descendants.add(id);
  const oldest = chain.findLastIndex(({ id }) => descendants.has(id));
  const commit = chain[oldest];
  if (!commit) return false;
  commit.base = head;
  chain.length = oldest + 1;
  return true;
}

/** Commits on no branch's first-parent chain: each goes on its first parent's side line while that is at its end. */
function planSideLines(planned: ReadonlyMap<string, PlannedCommit>, landed: LandedState): void {
  /** The newest commit of each side line that this plan adds to. */
  const ends = new Map<string, string>();
  for (const commit of planned.values()) {
    if (commit.line) continue;
    const after = commit.parents[0];
    const parentLine = after === undefined ? undefined : planned.get(after)?.line;
    if (parentLine && ends.get(parentLine.branch) === after) {
      commit.line = parentLine;
    } else {
      const branch = goesOn(planned, landed, ends, after) ?? sideBranchOf(commit.id);
      commit.line = { branch, exists: landed.has(branch), after };
    }
    ends.set(commit.line.branch, commit.id);
  }
}

/** The landed side line that ends at this commit, if any. */
function goesOn(
  planned: ReadonlyMap<string, PlannedCommit>,
  landed: LandedState,
  ends: ReadonlyMap<string, string>,
  after: string | undefined,
): string | undefined {
  if (after === undefined || planned.has(after)) return undefined;
  const branch = landed.branchOfCommit(after);
  return isSideBranch(branch) && !ends.has(branch) && landed.headOf(branch) === after ? branch : undefined;
}
