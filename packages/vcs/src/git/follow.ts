import { isMoundError } from '../core/errors.ts';
import type { Author } from '../core/intent.ts';
import type { RepoPath } from '../core/ids.ts';
import type { Repo } from '../repo/api.ts';
import { landingSeqOf } from './branch-names.ts';
import { parseCommit, parseIdentity } from './commit-object.ts';
import { isBehind } from './export-plan.ts';
import { runGit } from './git-command.ts';
import { takeIn, type ImportOptions } from './import.ts';
import { ObjectReader } from './object-reader.ts';

/** A branch here that is to have the commits behind one of git's. */
export interface Followed {
  /** Git's name for it. */
  readonly branch: string;
  /** The commit that it stands at in git. */
  readonly id: string;
  /** The branch here. */
  readonly here: string;
  /** The git branch that is `main` here. */
  readonly headBranch: string | undefined;
}

export type Followup =
  /** The branch holds the commit already. */
  | { readonly kind: 'current' }
  /** The commits landed on it, each with its own id. */
  | { readonly kind: 'forward'; readonly commits: number }
  /** They landed beside it, and what they changed was merged into it as one landing. */
  | { readonly kind: 'merged'; readonly commits: number; readonly seq: number }
  | { readonly kind: 'conflicted'; readonly conflict: string; readonly paths: readonly RepoPath[] }
  | { readonly kind: 'parked'; readonly parked: string; readonly paths: readonly RepoPath[] }
  /** The branch moved meanwhile; nothing landed on it. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * How a git branch stands to the branch here; git must have been given what landed
 * here, or it counts as `unknown`.
 */
export async function standingOf(
  repo: Repo,
  gitDir: string,
  { here, id }: Followed,
): Promise<'same' | 'behind' | 'ahead' | 'aside' | 'unknown'> {
  const head = headSeqOf(repo, here);
  const old = head === undefined ? undefined : repo.gitMarks.gitIdOf(head);
  if (old === id) return 'same';
  const seq = repo.gitMarks.seqOf(id);
  if (seq !== undefined && head !== undefined && isBehind(repo, seq, head)) return 'behind';
  if (head === undefined) return 'ahead';
  return old === undefined ? 'unknown' : relationOf(gitDir, old, id);
}

/** Lands the commits on the branch itself, which must be behind them. Errors: those of an import but `branch-moved`. */
export async function goForward(
  repo: Repo,
  gitDir: string,
  followed: Followed,
  options: Pick<ImportOptions, 'onProgress' | 'shallow'> = {},
): Promise<Followup> {
  const { branch, id, headBranch } = followed;
  try {
    const wanted = { tips: [{ branch, id }], tags: [], headBranch };
    const { commits } = await takeIn(repo, gitDir, wanted, { ...options, ...strictly(repo) });
    return { kind: 'forward', commits };
  } catch (error) {
    if (!isMoundError(error, 'branch-moved')) throw error;
    // It moved after somebody had looked, or the commits have landed on another branch, which a branch cannot join.
    const landed = repo.gitMarks.seqOf(id);
    if (landed === undefined) return { kind: 'stale' };
    const on = repo.commit(landed).branch;
    return { kind: 'refused', reason: `its commits are on branch '${on}' here; merge it with --no-ff` };
  }
}

/** Lands the commits on `beside`, then what they changed on the branch, as one merge landing. */
export async function mergeIn(
  repo: Repo,
  gitDir: string,
  { id, here, headBranch }: Followed,
  { beside, message }: { readonly beside: string; readonly message: string },
): Promise<Followup> {
  const wanted = { tips: [{ branch: beside, id }], tags: [], headBranch };
  const { commits } = await takeIn(repo, gitDir, wanted, strictly(repo));
  if (repo.branch(beside).parent !== here) return { kind: 'refused', reason: `it was not begun on branch '${here}'` };
  const author = await committerOf(gitDir, id);
  const outcome = await repo.merge(beside, { author, message, operationId: `git-merge:${here}:${id}` });
  switch (outcome.kind) {
    case 'landed':
    case 'merged':
    case 'unchanged':
      return { kind: 'merged', commits, seq: outcome.seq };
    case 'conflicted':
      return { kind: 'conflicted', conflict: outcome.conflict, paths: outcome.paths };
    case 'parked':
      return { kind: 'parked', parked: outcome.parked, paths: outcome.paths };
    case 'rejected':
      return { kind: 'refused', reason: `${outcome.message}; ${outcome.next}` };
  }
}

/** Who made the merge necessary answers for it. */
async function committerOf(gitDir: string, id: string): Promise<Author> {
  const reader = new ObjectReader(gitDir);
  try {
    const { committerLine, encoding } = parseCommit(await reader.content(id, 'commit'));
    const { name, email } = parseIdentity(committerLine, encoding);
    return { name: name === '' ? 'git' : name, kind: 'human', email };
  } finally {
    await reader.close();
  }
}

/** Nothing lands unless each branch can go on; git need not list what the branches hold. */
export const strictly = (repo: Repo): { readonly isStrict: true; readonly known: readonly string[] } => ({
  isStrict: true,
  known: repo.branches().flatMap(({ name }) => {
    const seq = headSeqOf(repo, name);
    return (seq === undefined ? undefined : repo.gitMarks.gitIdOf(seq)) ?? [];
  }),
});

function headSeqOf(repo: Repo, branch: string): number | undefined {
  const view = repo.branches().find(({ name }) => name === branch);
  return view && landingSeqOf(repo, view);
}

async function relationOf(gitDir: string, old: string, id: string): Promise<'ahead' | 'aside' | 'unknown'> {
  const options = { gitDir, okCodes: [0, 1, 128] };
  const { code } = await runGit(['merge-base', '--is-ancestor', old, id], options);
  return code === 0 ? 'ahead' : code === 1 ? 'aside' : 'unknown';
}
