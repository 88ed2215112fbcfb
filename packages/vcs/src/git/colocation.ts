import { appendFile, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isMoundError, MoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { storeDirName } from '../store/store-dir.ts';
import { defaultBranch, landingSeqOf, sideBranchOf } from './branch-names.ts';
import { listCheckedOut } from './checked-out.ts';
import { isBehind } from './export-plan.ts';
import { exportGit, type ExportOptions, type ExportResult } from './export.ts';
import { goForward, mergeIn, standingOf, strictly, type Followed, type Followup } from './follow.ts';
import { requireGit, runGit } from './git-command.ts';
import { resolveGitDir } from './git-dir.ts';
import { colocationKey, getTextRecord, headKey, putRecords } from './git-records.ts';
import { headBranchOf, isRefName, listRefs } from './git-refs.ts';
import { describeSource } from './import-source.ts';
import { choose, headNameOf, takeIn, type ImportOptions, type ImportResult } from './import.ts';

/** A repository whose directory is a git checkout, too. */
export interface Colocation {
  readonly gitDir: string;
  /** Full name of git's ref for what lands on `main`. */
  readonly ref: string;
}

const headPrefix = 'refs/heads/';

/**
 * Git's own ref for everything that landed on `main`, moved by every export and
 * import: never checked out, so always free to move. Git then knows how its
 * branches stand to what landed here.
 */
export const trunkRef = `refs/mound/${defaultBranch}`;

/** How often an import starts anew because somebody landed meanwhile. */
const triesMax = 5;

/** True where a directory is the top of a git checkout. */
export async function isCheckout(dir: string): Promise<boolean> {
  return (await stat(join(dir, '.git')).catch(() => undefined)) !== undefined;
}

/** The git checkout that a repository was made in. Errors: `not-a-git-repository` where it is no more. */
export async function colocationOf(repo: Repo): Promise<Colocation | undefined> {
  const ref = getTextRecord(repo, colocationKey);
  return ref === undefined ? undefined : { gitDir: await resolveGitDir(repo.dir), ref };
}

/** Refuses before anything is made. Errors: those of `importGit`; `invalid-argument` where the branch cannot be. */
export async function checkColocation(dir: string, branch: string): Promise<void> {
  await requireGit();
  const gitDir = await resolveGitDir(dir);
  const ref = headPrefix + branch;
  if (!isRefName(ref)) {
    throw new MoundError('invalid-argument', `git's branch for what lands here cannot be called '${branch}'`, {
      branch,
    });
  }
  const isTaken = (await listRefs(gitDir, [ref])).length > 0 || (await headBranchOf(gitDir)) === branch;
  if (!isTaken) return;
  const message = `git has a branch '${branch}' already; name another for what lands here: '--git-branch NAME'`;
  throw new MoundError('invalid-argument', message, { branch });
}

/** The top of the git checkout that a directory lies in and is not itself; undefined where it lies in none. */
export async function checkoutAbove(dir: string): Promise<string | undefined> {
  const parent = dirname(resolve(dir));
  if (parent === resolve(dir)) return undefined;
  return (await isCheckout(parent)) ? parent : checkoutAbove(parent);
}

/** Keeps a directory below a checkout's top, by default `.mound/`, out of what git looks at: in its own list of such names. */
export async function hideFromGit(top: string, directory: string = join(top, storeDirName)): Promise<void> {
  const gitDir = await resolveGitDir(top);
  const { stdout } = await runGit(['rev-parse', '--git-path', 'info/exclude'], { gitDir });
  // A relative answer is relative to where git ran, which is here.
  const file = resolve(stdout.toString('utf8').trim());
  const path = relative(resolve(top), resolve(directory)).split(sep).join('/');
  const line = `/${path.replace(/[\\*?[]/g, String.raw`\$&`)}/`;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (text.split('\n').includes(line)) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`);
}

/**
 * Takes in the git checkout that an empty repository stands in, and remembers
 * it: from then on `importColocated` and `exportColocated` need no directory.
 * Killed and called again, it goes on. Errors: those of `importGit`.
 */
export async function colocate(repo: Repo, branch: string, options: ImportOptions = {}): Promise<ColocatedImport> {
  const gitDir = await resolveGitDir(repo.dir);
  const head = await headBranchOf(gitDir);
  const records = new Map([[colocationKey, headPrefix + branch]]);
  // Also where git has no commit yet: `main` is to be that branch once it has.
  if (head !== undefined && getTextRecord(repo, headKey) === undefined) records.set(headKey, head);
  await putRecords(repo, records);
  return importColocated(repo, options);
}

export interface ColocatedImport extends ImportResult {
  /** What became of the git branches that stand for `main`. */
  readonly followed: readonly { readonly branch: string; readonly followup: Followup }[];
}

/**
 * Takes in what is new in the git checkout. New commits of the branch that is
 * `main` here, and of the one that `main` is exported to, go on on `main`; where
 * `main` moved, too, they land beside it and are merged into it. All other
 * branches and tags as `importGit` does. Errors: those of `importGit`, and
 * `not-a-git-repository` where the repository stands in no checkout.
 */
export async function importColocated(repo: Repo, options: ImportOptions = {}): Promise<ColocatedImport> {
  const startMs = performance.now();
  await requireGit();
  const { gitDir, ref } = await mustBeColocated(repo);
  await describeSource(gitDir);
  await bringTrunk(repo, gitDir);
  const { tips, tags, skipped } = await choose(gitDir, options.branches);
  const headBranch = headNameOf(repo, tips[0]?.branch);
  const isTrunk = (branch: string): boolean => branch === headBranch || headPrefix + branch === ref;
  const followed: { readonly branch: string; readonly followup: Followup }[] = [];
  let commits = 0;
  const isFirst = landingSeqOf(repo, repo.branch(defaultBranch)) === undefined;
  for (const { branch, id } of isFirst ? [] : tips.filter((tip) => isTrunk(tip.branch))) {
    // Git's branch stands for `main`, whatever it is called.
    const followup = await follow(repo, gitDir, { branch, id, here: defaultBranch, headBranch: branch }, options);
    if (followup.kind === 'forward' || followup.kind === 'merged') commits += followup.commits;
    followed.push({ branch, followup });
  }
  // What an empty repository takes in at first has nothing to follow.
  const others = { tips: isFirst ? tips : tips.filter((tip) => !isTrunk(tip.branch)), tags, headBranch };
  const { known } = strictly(repo);
  const taken = await takeIn(repo, gitDir, others, { ...options, known });
  const head = tips[0]?.id;
  return {
    commits: commits + taken.commits,
    head,
    seq: head === undefined ? 0 : (repo.gitMarks.seqOf(head) ?? 0),
    seconds: (performance.now() - startMs) / 1000,
    diverged: taken.diverged,
    skippedRefs: [...skipped, ...taken.skippedTags],
    flaggedPaths: taken.flaggedPaths,
    malformed: taken.malformed,
    followed,
  };
}

async function mustBeColocated(repo: Repo): Promise<Colocation> {
  const colocation = await colocationOf(repo);
  if (colocation) return colocation;
  const message = `no git directory was named, and the repository in '${repo.dir}' was not made in a git checkout`;
  throw new MoundError('invalid-argument', message, { dir: repo.dir });
}

async function follow(repo: Repo, gitDir: string, followed: Followed, options: ImportOptions): Promise<Followup> {
  const { branch, id, here } = followed;
  for (let tries = 1; ; tries++) {
    const standing = await standingOf(repo, gitDir, followed);
    if (standing === 'same' || standing === 'behind') return { kind: 'current' };
    const message = `Merge git's ${branch} at ${id.slice(0, 12)} into ${here}`;
    const followup =
      standing === 'ahead'
        ? await goForward(repo, gitDir, followed, options)
        : await mergeIn(repo, gitDir, followed, { beside: sideBranchOf(id), message });
    if (followup.kind !== 'stale' || tries === triesMax) return followup;
    await bringTrunk(repo, gitDir);
  }
}

/** Gives git what landed on `main`, unless it has it. */
async function bringTrunk(repo: Repo, gitDir: string): Promise<void> {
  const seq = landingSeqOf(repo, repo.branch(defaultBranch));
  if (seq === undefined) return;
  const [trunk] = await listRefs(gitDir, [trunkRef]);
  if (trunk === undefined || trunk.id !== repo.gitMarks.gitIdOf(seq)) await exportGit(repo, gitDir, { ref: trunkRef });
}

/**
 * Writes what landed on `main` into the git checkout, to the branch that was
 * chosen for it (or `ref`). A branch that is checked out is not moved under its
 * files: it is among the `skips`, with the way on. Errors: those of
 * `exportGit`, and `invalid-argument` where the repository stands in no checkout.
 */
export async function exportColocated(repo: Repo, options: ExportOptions = {}): Promise<ExportResult> {
  const { gitDir, ref } = await mustBeColocated(repo);
  const target = { ...options, ref: options.ref ?? ref };
  if (options.branch !== undefined && options.branch !== defaultBranch) return exportGit(repo, gitDir, options);
  const trunk = await exportGit(repo, gitDir, { ...options, ref: trunkRef });
  const [at] = await listRefs(gitDir, [target.ref]);
  if (trunk.head === undefined || at?.id === trunk.head) return trunk;
  const where = (await listCheckedOut(gitDir)).get(target.ref);
  if (where !== undefined) {
    const known = at && repo.gitMarks.seqOf(at.id);
    const head = landingSeqOf(repo, repo.branch(defaultBranch));
    const isHeld = at === undefined || (known !== undefined && head !== undefined && isBehind(repo, known, head));
    const forward = `'git merge --ff-only ${trunkRef}' there brings it forward`;
    const skip = {
      name: target.ref,
      reason: `it is checked out in '${where}'${isHeld ? '' : ", and has commits that are not on 'main' here"}`,
      remedy: isHeld ? forward : `'mound import' takes them in; then ${forward}`,
    };
    return { ...trunk, skipped: [skip.name], skips: [skip] };
  }
  const moved = await exportGit(repo, gitDir, target).catch((error: unknown) => {
    if (!isMoundError(error, 'git-failed') || error.fields['ref'] !== target.ref) throw error;
    const message = `git's ${target.ref} has commits that are not on 'main' here; 'mound import' takes them in, then export again`;
    throw new MoundError('git-failed', message, error.fields, error);
  });
  return { ...moved, commits: trunk.commits + moved.commits, refs: [...trunk.refs, ...moved.refs] };
}
