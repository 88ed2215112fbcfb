/** Why a ref may not be written, and what the caller can do about it. */
export interface Refusal {
  readonly reason: string;
  readonly remedy: string;
}

/** A branch, tag or ref that an export left alone. */
export interface SkippedRef extends Refusal {
  readonly name: string;
}

/** Another ref for a branch, as the command line has it. */
const elsewhere = (branch: string): string => `'--branch ${branch} --ref refs/heads/mound/${branch}'`;

/** Git's ref stands at a commit that Mound has never seen. */
export const neverImported = (branch: string | undefined): Refusal => ({
  reason: 'git has it at what was never imported',
  remedy:
    branch === undefined ? 'import that first' : `import that first, or export to another ref: ${elsewhere(branch)}`,
});

/** Git's ref holds commits that the branch does not: moving it would lose them. */
export const notAhead = (branch: string): Refusal => ({
  reason: `git has commits there that branch '${branch}' does not`,
  remedy: `export to another ref (${elsewhere(branch)}), merge the two in git, and import that`,
});

/** Two branches stand for one ref, and neither holds the other. */
export const rivalOf = (branch: string, ref: string): Refusal => ({
  reason: `another branch stands for ${ref} and does not hold it`,
  remedy: `export it to another ref: ${elsewhere(branch)}`,
});

export const noRefName = (branch: string): Refusal => ({
  reason: 'git cannot have a branch of this name',
  remedy: `export it under another: '--branch ${branch} --ref refs/heads/NAME'`,
});

export const noTagName: Refusal = {
  reason: 'git cannot have a tag of this name',
  remedy: 'tag its seq under another name',
};

export const tagOfNothing: Refusal = {
  reason: 'nothing had landed by the seq that the tag names',
  remedy: 'tag a later seq',
};
