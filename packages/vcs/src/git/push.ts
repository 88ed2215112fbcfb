import { isMoundError, MoundError } from '../core/errors.ts';
import type { Author } from '../core/intent.ts';
import type { Repo } from '../repo/api.ts';
import { landingSeqOf, moundBranchesOf } from './branch-names.ts';
import { parseCommit, parseIdentity } from './commit-object.ts';
import { runGit } from './git-command.ts';
import { getTextRecord, headKey } from './git-records.ts';
import { describeRefs, type GitRef } from './git-refs.ts';
import { nameHead, takeIn } from './import.ts';
import { ObjectReader } from './object-reader.ts';

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
  const headBranch = isDryRun || !isNamable ? getTextRecord(repo, headKey) : await nameHead(repo, branch);
  const here = moundBranchesOf(branch, headBranch)[0] ?? branch;
  const old = headIdOf(repo, here);
  if (old === id) return undefined;
  const relation = old === undefined ? 'ahead' : await relationOf(gitDir, old, id);
  if (relation === 'ahead') {
    if (isDryRun) return undefined;
    return await goOn(repo, gitDir, branch, id, headBranch);
  }
  if (onStale === 'merge') return isDryRun ? undefined : await mergeIn(repo, gitDir, here, id, headBranch);
  if (isForced) return 'a branch cannot be forced back: history is kept; push under another name';
  return relation === 'unknown' ? staleWord : nonFastForward;
}

async function goOn(
  repo: Repo,
  gitDir: string,
  branch: string,
  id: string,
  headBranch: string | undefined,
): Promise<PushRefusal> {
  await refuseShallow(repo, gitDir, id);
  try {
    await takeIn(repo, gitDir, { tips: [{ branch, id }], tags: [], headBranch }, strictly(repo));
    return undefined;
  } catch (error) {
    if (!isMoundError(error, 'branch-moved')) throw error;
    // It moved after this push had looked, or the commits have landed on another branch, which a branch cannot join.
    const landed = repo.gitMarks.seqOf(id);
    if (landed === undefined) return staleWord;
    const on = repo.commit(landed).branch;
    return `its commits are on branch '${on}' here; merge it with --no-ff and push that`;
  }
}

/** The pushed commits beside the branch, then one merge landing of what they changed. */
async function mergeIn(
  repo: Repo,
  gitDir: string,
  here: string,
  id: string,
  headBranch: string | undefined,
): Promise<PushRefusal> {
  await refuseShallow(repo, gitDir, id);
  const beside = `push/${id.slice(0, 12)}`;
  await takeIn(repo, gitDir, { tips: [{ branch: beside, id }], tags: [], headBranch }, strictly(repo));
  const from = repo.branch(beside);
  if (from.parent !== here) return `it was not begun on branch '${here}': pull, then push again`;
  const reader = new ObjectReader(gitDir);
  const { committerLine, encoding } = parseCommit(await reader.content(id, 'commit'));
  await reader.close();
  const { name, email } = parseIdentity(committerLine, encoding);
  const author: Author = { name: name === '' ? 'git push' : name, kind: 'human', email };
  const outcome = await repo.merge(beside, { author, message: `Merge push of ${id.slice(0, 12)} into ${here}` });
  switch (outcome.kind) {
    case 'landed':
    case 'merged':
    case 'unchanged':
      return undefined;
    case 'conflicted':
      return `conflicted as ${outcome.conflict} (${outcome.paths.join(', ')}); 'mound conflicts show ${outcome.conflict}'`;
    case 'parked':
      return `parked as ${outcome.parked}: ${outcome.paths.join(', ')} is frozen`;
    case 'rejected':
      return oneLine(`${outcome.message}; ${outcome.next}`);
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
  const old = repo.tags().find((tag) => tag.name === name);
  const isSame = old !== undefined && ref.peeledId === repo.gitMarks.gitIdOf(old.seq);
  if (old !== undefined && !isSame && !isForced) return 'already exists';
  if (isDryRun) return undefined;
  await refuseShallow(repo, gitDir, ref.peeledId);
  const wanted = { tips: [], tags: [ref], headBranch: getTextRecord(repo, headKey) };
  const { skippedTags } = await takeIn(repo, gitDir, wanted, strictly(repo));
  return skippedTags.length > 0 ? 'a tag of this kind or name has no place here' : undefined;
}

/** Nothing lands unless each branch can go on; git need not list what the branches hold. */
const strictly = (repo: Repo): { readonly isStrict: true; readonly known: readonly string[] } => ({
  isStrict: true,
  known: repo.branches().flatMap(({ name }) => headIdOf(repo, name) ?? []),
});

function headIdOf(repo: Repo, branch: string): string | undefined {
  const view = repo.branches().find(({ name }) => name === branch);
  const seq = view && landingSeqOf(repo, view);
  return seq === undefined ? undefined : repo.gitMarks.gitIdOf(seq);
}

async function relationOf(gitDir: string, old: string, id: string): Promise<'ahead' | 'aside' | 'unknown'> {
  const options = { gitDir, okCodes: [0, 1, 128] };
  const { code } = await runGit(['merge-base', '--is-ancestor', old, id], options);
  return code === 0 ? 'ahead' : code === 1 ? 'aside' : 'unknown';
}

/** A commit at the edge of a shallow clone has parents that nobody here has. */
async function refuseShallow(repo: Repo, gitDir: string, id: string): Promise<void> {
  const { stdout } = await runGit(['rev-parse', '--is-shallow-repository'], { gitDir });
  if (stdout.toString('latin1').trim() !== 'true') return;
  const known = strictly(repo).known.map((old) => `^${old}\n`);
  const listed = await runGit(['rev-list', '--parents', '--ignore-missing', '--stdin'], {
    gitDir,
    input: [`${id}\n`, ...known],
  });
  const reader = new ObjectReader(gitDir);
  try {
    for (const line of listed.stdout.toString('latin1').split('\n').filter(Boolean)) {
      const [commit = '', ...parents] = line.split(' ');
      if (repo.gitMarks.seqOf(commit) !== undefined) continue;
      const raw = parseCommit(await reader.content(commit, 'commit'));
      if (raw.parents.length === parents.length) continue;
      const message = `commit ${commit} is at the edge of a shallow clone; 'git fetch --unshallow', then push again`;
      throw new MoundError('git-unreadable', message, { commit });
    }
  } finally {
    await reader.close();
  }
}
