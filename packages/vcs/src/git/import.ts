import { MoundError } from '../core/errors.ts';
import type { GitIntake, Repo } from '../repo/api.ts';
import { defaultBranch } from './branch-names.ts';
import { walkCommits, type GraphCommit } from './commit-graph.ts';
import { requireGit } from './git-command.ts';
import { resolveGitDir } from './git-dir.ts';
import { branchKey, flaggedKey, getTextRecord, headKey, isRecordKey, malformedKey, putRecords } from './git-records.ts';
import { headBranchOf, headCommitOf, listRefs, type GitRef } from './git-refs.ts';
import { Flagged } from './flagged.ts';
import { CommitSource, type ReadCommit } from './import-commit.ts';
import { blamingSource, describeSource, refuseEdge, refuseHoles } from './import-source.ts';
import { forkAt, ImportLanding } from './import-landing.ts';
import { planImport, type GitTip, type ImportPlan, type PlannedCommit } from './import-plan.ts';
import { importTags, tagPrefix } from './import-tags.ts';
import { ImportWindow } from './import-window.ts';

/** The part of a repository that an import uses. */
export type ImportRepo = Pick<
  Repo,
  'branches' | 'commit' | 'fork' | 'gitIntake' | 'gitMarks' | 'land' | 'snapshot' | 'tag' | 'tags'
>;

export interface ImportProgress {
  readonly commits: number;
  readonly commitsTotal: number;
}

export interface ImportOptions {
  /** Only these branches, and no tags. Default: all branches and tags. */
  readonly branches?: readonly string[];
  /** Take a shallow clone as it is: commits at its edge get no parents, and never will. Default: refused. */
  readonly shallow?: boolean;
  readonly onProgress?: (progress: ImportProgress) => void;
}

export interface ImportResult {
  /** Landed by this import. */
  readonly commits: number;
  /** Git id at HEAD's branch, or the first of those named; undefined where there is no commit. */
  readonly head: string | undefined;
  /** Seq of its landing, 0 where there is none. */
  readonly seq: number;
  readonly seconds: number;
  /** Branches that went another way here than in git: theirs is beside, under `git/heads/` or `git/side/`. */
  readonly diverged: readonly string[];
  /** Refs that have no place here: names that are not UTF-8 or too long, branches at no commit, tags that git cannot read. */
  readonly skippedRefs: readonly string[];
  /** Paths that no caller could make (a `.git` in disguise, …), kept as they are by this import or an earlier one; the first thousand. */
  readonly flaggedPaths: readonly string[];
  /** What `git fsck` takes for an error of a commit, a tree or a tag, as `type id: error`; kept and told likewise. */
  readonly malformed: readonly string[];
}

const headPrefix = 'refs/heads/';

/**
 * Lands the history of a git repository, streamed. What is landed already is
 * not touched, so that a second import brings what is new and one after a kill
 * goes on. Errors: `git-missing`, `git-too-old`, `not-a-git-repository`,
 * `git-unreadable` (ids other than sha1; damaged; a shallow or partial clone, or
 * one that borrows from what is gone: then nothing lands), `git-failed`, `branch-moved` where somebody else landed on
 * one of the branches meanwhile (what had landed by then stays; import again).
 */
export async function importGit(repo: ImportRepo, gitDir: string, options: ImportOptions = {}): Promise<ImportResult> {
  const startMs = performance.now();
  await requireGit();
  const dir = await resolveGitDir(gitDir);
  await describeSource(dir);
  const { skipped, ...wanted } = await choose(dir, options.branches);
  const { tips, tags } = wanted;
  const headBranch = headNameOf(repo, tips[0]?.branch);
  const taken = await takeIn(repo, dir, { tips, tags, headBranch }, options);
  const head = tips[0]?.id;
  return {
    commits: taken.commits,
    head,
    seq: head === undefined ? 0 : (repo.gitMarks.seqOf(head) ?? 0),
    seconds: (performance.now() - startMs) / 1000,
    diverged: taken.diverged,
    skippedRefs: [...skipped, ...taken.skippedTags],
    flaggedPaths: taken.flaggedPaths,
    malformed: taken.malformed,
  };
}

/** What is to be taken in: branches at commits, tags. */
export interface Wanted {
  /** HEAD's branch first, since a commit on several first-parent chains lands on the first of them. */
  readonly tips: readonly GitTip[];
  readonly tags: readonly GitRef[];
  /** The git branch that is `main` here. */
  readonly headBranch: string | undefined;
}

export interface TakeOptions {
  /** Commits that are here and need not be listed, beside those of earlier imports. */
  readonly known?: readonly string[];
  /** Take in nothing unless each branch can go on where it belongs (`branch-moved`), and all at once where that can be. */
  readonly isStrict?: boolean;
  readonly shallow?: boolean | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

export interface Taken {
  readonly commits: number;
  readonly diverged: readonly string[];
  readonly skippedTags: readonly string[];
  readonly flaggedPaths: readonly string[];
  readonly malformed: readonly string[];
}

/**
 * Lands what is behind these tips and tags and is not here yet. `dir` as
 * `resolveGitDir` gives it. Errors: those of `importGit`.
 */
export const takeIn = (repo: ImportRepo, dir: string, wanted: Wanted, options: TakeOptions = {}): Promise<Taken> =>
  blamingSource(dir, () => takeAll(repo, dir, wanted, options));

async function takeAll(
  repo: ImportRepo,
  dir: string,
  { tips, tags, headBranch }: Wanted,
  { known = [], isStrict = false, shallow = false, onProgress }: TakeOptions,
): Promise<Taken> {
  const source = await describeSource(dir);
  const commits: GraphCommit[] = [];
  const wanted = [...tips.map(({ id }) => id), ...tags.filter(isOfCommit).map(({ peeledId }) => peeledId)];
  const behind = [...known, ...knownTips(repo, tips)];
  for await (const commit of walkCommits(dir, wanted, behind)) {
    if (repo.gitMarks.seqOf(commit.id) === undefined) commits.push(commit);
  }
  if (!shallow) refuseEdge(dir, source, commits);
  if (commits.length > 0) await refuseHoles(dir, source, wanted, behind);
  const plan = planImport(repo, commits, tips, headBranch);
  const [branch] = plan.diverged;
  if (isStrict && branch !== undefined) {
    throw new MoundError('branch-moved', `branch '${branch}' went another way here than in git`, { branch });
  }
  await fixHead(repo, headBranch);
  const flagged = new Flagged(repo, flaggedKey);
  const malformed = new Flagged(repo, malformedKey);
  const together = isStrict ? plan.commits.length : 0;
  await landAll(repo, dir, plan, (intake) => new ImportLanding(repo, intake, flagged, malformed), together, onProgress);
  const skippedTags = await importTags(repo, dir, tags, malformed);
  // Before the forks: a branch without a landing of its own goes out to git only where git had it.
  await putRecords(repo, new Map(tips.filter(isRecorded).map((tip) => [branchKey(tip.branch), tip.id])));
  await Promise.all(plan.forks.map((fork) => forkAt(repo, fork.branch, fork.at)));
  return {
    commits: commits.length,
    diverged: plan.diverged,
    skippedTags,
    flaggedPaths: flagged.list(),
    malformed: malformed.list(),
  };
}

const isOfCommit = (ref: GitRef): boolean => ref.peeledType === 'commit';
const isRecorded = ({ branch }: GitTip): boolean => isRecordKey(branchKey(branch));

/** Tips that an earlier import took whole: git need not list what is behind them. */
const knownTips = (repo: ImportRepo, tips: readonly GitTip[]): string[] =>
  tips
    .filter(isRecorded)
    .map(({ branch }) => getTextRecord(repo, branchKey(branch)))
    .filter((id) => id !== undefined && repo.gitMarks.seqOf(id) !== undefined)
    .map(String);

/** The branches to import, HEAD's or the first named one first, and the tags. */
export async function choose(
  dir: string,
  named: readonly string[] | undefined,
): Promise<{ readonly tips: GitTip[]; readonly tags: GitRef[]; readonly skipped: string[] }> {
  const refs = await listRefs(dir);
  const heads = refs.filter((ref) => ref.name.startsWith(headPrefix));
  const isTaken = (ref: GitRef): boolean => ref.isText && ref.type === 'commit';
  const tips = heads
    .filter((ref) => isTaken(ref))
    .map(({ name, id }) => ({ branch: name.slice(headPrefix.length), id }));
  const absent = named?.find((name) => !tips.some(({ branch }) => branch === name));
  if (absent !== undefined) {
    throw new MoundError('no-such-branch', `git has no branch '${absent}'`, { branch: absent });
  }
  const headBranch = await headBranchOf(dir);
  const first = [headBranch, ...(named ?? []), 'main', 'master'].find((name) =>
    tips.some(({ branch }) => branch === name && (named?.includes(branch) ?? true)),
  );
  const chosen = tips
    .filter(({ branch }) => named?.includes(branch) ?? true)
    .toSorted((a, b) => Number(b.branch === first) - Number(a.branch === first));
  const detached = chosen.length === 0 ? await headCommitOf(dir) : undefined;
  if (detached !== undefined) chosen.push({ branch: defaultBranch, id: detached });
  return {
    tips: chosen,
    tags: named ? [] : refs.filter(({ name }) => name.startsWith(tagPrefix)),
    skipped: heads.filter((ref) => !isTaken(ref)).map(({ name }) => name),
  };
}

/** The git branch that is `main` here, or is to be: an empty repository takes the `first` that it is given. */
export function headNameOf(repo: Pick<Repo, 'branches' | 'snapshot'>, first: string | undefined): string | undefined {
  return getTextRecord(repo, headKey) ?? (isEmpty(repo) ? first : undefined);
}

const isEmpty = (repo: Pick<Repo, 'branches'>): boolean => repo.branches().every(({ commit }) => commit === undefined);

/** Before the first landing, so that an import that goes on after a kill decides the same. */
async function fixHead(repo: ImportRepo, headBranch: string | undefined): Promise<void> {
  if (headBranch === undefined || getTextRecord(repo, headKey) !== undefined || !isEmpty(repo)) return;
  await putRecords(repo, new Map([[headKey, headBranch]]));
}

async function landAll(
  repo: ImportRepo,
  dir: string,
  plan: ImportPlan,
  landingOf: (intake: GitIntake) => ImportLanding,
  together: number,
  onProgress: ImportOptions['onProgress'],
): Promise<void> {
  const intake = repo.gitIntake(together);
  const source = new CommitSource(dir, intake);
  const landing = landingOf(intake);
  let told = 0;
  const land = async (): Promise<void> => {
    const commits = await landing.land();
    if (commits > told) onProgress?.({ commits, commitsTotal: plan.commits.length });
    told = commits;
  };
  try {
    for await (const { commit, found } of readAhead(source, plan.commits)) {
      landing.add(commit, found);
      if (landing.isFull) await land();
    }
    await land();
  } finally {
    await source.close();
  }
}

/** Commits in their order; some of those behind the one that is handed out are being read already. */
async function* readAhead<Planned extends PlannedCommit>(
  source: CommitSource,
  commits: readonly Planned[],
): AsyncGenerator<{ readonly commit: Planned; readonly found: ReadCommit }> {
  const window = new ImportWindow();
  const reads: { readonly commit: Planned; readonly read: Promise<ReadCommit> }[] = [];
  for (const commit of commits) {
    while (!window.hasRoom) {
      const oldest = reads.shift();
      if (!oldest) break;
      const found = await oldest.read;
      window.leave(found.sizeBytes);
      yield { commit: oldest.commit, found };
    }
    window.enter();
    const read = source.read(commit.id, commit.base);
    // Who asks for it is told of the error.
    read.then(
      ({ sizeBytes }) => window.hold(sizeBytes),
      () => undefined,
    );
    reads.push({ commit, read });
  }
  for (const { commit, read } of reads) yield { commit, found: await read };
}
