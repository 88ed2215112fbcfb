import { isMoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { moundBranchesOf } from './branch-names.ts';
import { goForward, mergeIn, standingOf, strictly, type Followup } from './follow.ts';
import { getTextRecord, headKey } from './git-records.ts';
import { describeRefs, type GitRef } from './git-refs.ts';
import { headNameOf, takeIn } from './import.ts';
import { gitIdOfTag } from './export-refs.ts';

export interface PushedRef {
  /** What git calls the pushed object in the pusher's repository; empty: the ref is to be deleted. */
  readonly source: string;
  /** Full name of the ref here. */
  readonly ref: string;
  readonly isForced: boolean;
}

/** Why a ref was not taken, as git tells it to its user; undefined: it was taken. */
export type PushRefusal = string | undefined;

export interface PushOptions {
  /** What becomes of a push to a branch that has moved on: `reject` (git's own way), or `merge` into it. */
  readonly onStale: 'reject' | 'merge';
  readonly isDryRun: boolean;
}

/** Words that git knows from a remote helper: it adds its own advice to `git pull`. */
const staleWord = 'fetch first';
const nonFastForward = 'non-fast forward';

/**
 * Lands a pushed ref, read from the pusher's own repository: each commit as one
 * landing with its raw bytes, so that its id stays. A branch only goes forward.
 */
export async function landPush(
  repo: Repo,
  gitDir: string,
  pushed: PushedRef,
  options: PushOptions,
): Promise<PushRefusal> {
  const { source, ref, isForced } = pushed;
  if (source === '') return 'nothing is deleted here: history is kept';
  const found = (await describeRefs(gitDir, [{ name: ref, revision: source }]))[0];
  if (!found) return `'${source}' is no object of the pushing repository`;
  try {
    if (ref.startsWith('refs/heads/')) return await pushBranch(repo, gitDir, found, isForced, options);
    if (ref.startsWith('refs/tags/')) return await pushTag(repo, gitDir, found, isForced, options);
  } catch (error) {
    if (isMoundError(error, 'branch-moved')) return staleWord;
    if (isMoundError(error)) return oneLine(error.message);
    throw error;
  }
  return 'only branches (refs/heads/) and tags (refs/tags/) can be pushed';
}

const oneLine = (text: string): string => text.split('\n')[0] ?? '';

async function pushBranch(
  repo: Repo,
  gitDir: string,
  { name, id, type }: GitRef,
  isForced: boolean,
  { onStale, isDryRun }: PushOptions,
): Promise<PushRefusal> {
  if (type !== 'commit') return 'a branch must stand at a commit';
  const branch = name.slice('refs/heads/'.length);
  const isNamable = branch === 'main' || branch === 'master';
  const headBranch = isNamable ? headNameOf(repo, branch) : getTextRecord(repo, headKey);
  const here = moundBranchesOf(branch, headBranch)[0] ?? branch;
  const followed = { branch, id, here, headBranch };
  const standing = await standingOf(repo, gitDir, followed);
  if (standing === 'same') return undefined;
  // Git, too, takes a push of what is merged already for up to date.
  if (standing === 'behind' && onStale === 'merge') return undefined;
  if (standing === 'ahead' || onStale === 'merge') {
    if (isDryRun) return undefined;
    const message = `Merge push of ${id.slice(0, 12)} into ${here}`;
    const beside = `push/${id.slice(0, 12)}`;
    return refusalOf(
      standing === 'ahead'
        ? await goForward(repo, gitDir, followed)
        : await mergeIn(repo, gitDir, followed, { beside, message }),
    );
  }
  if (isForced) return 'a branch cannot be forced back: history is kept; push under another name';
  return standing === 'unknown' ? staleWord : nonFastForward;
}

function refusalOf(followup: Followup): PushRefusal {
  switch (followup.kind) {
    case 'current':
    case 'forward':
    case 'merged':
      return undefined;
    case 'stale':
      return staleWord;
    case 'conflicted': {
      const { conflict, paths } = followup;
      return `conflicted as ${conflict} (${paths.join(', ')}); 'mound conflicts show ${conflict}'`;
    }
    case 'parked':
      return `parked as ${followup.parked}: ${followup.paths.join(', ')} is frozen`;
    case 'refused':
      return oneLine(followup.reason);
  }
}

async function pushTag(
  repo: Repo,
  gitDir: string,
  ref: GitRef,
  isForced: boolean,
  { isDryRun }: PushOptions,
): Promise<PushRefusal> {
  const name = ref.name.slice('refs/tags/'.length);
  const old = gitIdOfTag(repo, name);
  const isThere = old !== undefined || repo.tags().some((tag) => tag.name === name);
  if (isThere && ref.id !== old && !isForced) return 'already exists';
  if (isDryRun) return undefined;
  const wanted = { tips: [], tags: [ref], headBranch: getTextRecord(repo, headKey) };
  const { skippedTags } = await takeIn(repo, gitDir, wanted, strictly(repo));
  return skippedTags.length > 0 ? 'a tag of this name has no place here' : undefined;
}
