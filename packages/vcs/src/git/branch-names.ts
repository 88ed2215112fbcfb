import { isMoundError } from '../core/errors.ts';
import type { BranchView, Repo } from '../repo/api.ts';

/** Mound's default branch. */
export const defaultBranch = 'main';

const sidePrefix = 'git/side/';
const otherPrefix = 'git/heads/';

/** The unnamed branch that a side line lands on, called after its first commit. */
export const sideBranchOf = (gitId: string): string => sidePrefix + gitId;
export const isSideBranch = (branch: string): boolean => branch.startsWith(sidePrefix);

/**
 * The branches that a git branch may land on, the preferred one first: HEAD's
 * branch on `main`, any other under its own name; where that one has gone
 * another way, beside it under `git/heads/`.
 */
export function moundBranchesOf(gitBranch: string, headBranch: string | undefined): readonly string[] {
  const beside = otherPrefix + gitBranch;
  if (gitBranch === headBranch) return [defaultBranch, beside];
  // Another branch of the default's name cannot have that name here.
  if (gitBranch === defaultBranch && headBranch !== undefined) return [beside];
  return [gitBranch, beside];
}

/** The git branch that a branch is exported as; inverse of the preferred name above. */
export function gitBranchOf(branch: string, headBranch: string | undefined): string {
  if (branch === defaultBranch) return headBranch ?? defaultBranch;
  return branch.startsWith(otherPrefix) ? branch.slice(otherPrefix.length) : branch;
}

/**
 * The seq of the landing at a branch's head, undefined where it has none. A
 * branch's own seq comes first, since commits that differ in odd bytes of git
 * only may share a commit id.
 */
export function landingSeqOf(repo: Pick<Repo, 'commit'>, branch: BranchView): number | undefined {
  if (branch.commit === undefined) return undefined;
  try {
    const view = repo.commit(branch.seq);
    if (view.commit === branch.commit) return view.seq;
  } catch (error) {
    // A fork may stand at an entry that is no landing.
    if (!isMoundError(error, 'no-such-commit')) throw error;
  }
  return repo.commit(branch.commit).seq;
}
