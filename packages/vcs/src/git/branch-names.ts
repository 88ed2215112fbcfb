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
