import { MoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { defaultBranch } from './branch-names.ts';
import { walkCommits, type GraphCommit } from './commit-graph.ts';
import { requireGit } from './git-command.ts';
import { resolveGitDir } from './git-dir.ts';
import { branchKey, getTextRecord, headKey, isRecordKey, putRecords } from './git-records.ts';
import { headBranchOf, headCommitOf, listRefs, type GitRef } from './git-refs.ts';
import { FlaggedPaths } from './flagged-paths.ts';
import { CommitSource } from './import-commit.ts';
import { ImportLanding } from './import-landing.ts';
import { planImport, type GitTip, type ImportPlan } from './import-plan.ts';
import { importTags, tagPrefix } from './import-tags.ts';
import { ImportWindow } from './import-window.ts';

/** The part of a repository that an import uses. */
export type ImportRepo = Pick<
  Repo,
  'branches' | 'commit' | 'fork' | 'gitMarks' | 'land' | 'landGit' | 'snapshot' | 'tag' | 'tags'
>;

export interface ImportProgress {
  readonly commits: number;
  readonly commitsTotal: number;
}

export interface ImportOptions {
  /** Only these branches, and no tags. Default: all branches and tags. */
  readonly branches?: readonly string[];
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
  /** Refs that have no place here: names that are not UTF-8 or too long, tags of trees. */
  readonly skippedRefs: readonly string[];
  /** Paths that no caller could make (a `.git` in disguise, …), kept as they are by this import or an earlier one; the first thousand. */
  readonly flaggedPaths: readonly string[];
}

const headPrefix = 'refs/heads/';

/**
 * Lands the history of a git repository, streamed. What is landed already is
 * not touched, so that a second import brings what is new and one after a kill
 * goes on. Errors: `git-missing`, `git-too-old`, `not-a-git-repository`, `git-failed`.
 */
export async function importGit(repo: ImportRepo, gitDir: string, options: ImportOptions = {}): Promise<ImportResult> {
  const startMs = performance.now();
  await requireGit();
  const dir = await resolveGitDir(gitDir);
  const { tips, tags, skipped } = await choose(dir, options.branches);
  const headBranch = await nameHead(repo, tips[0]?.branch);

  const commits: GraphCommit[] = [];
  const wanted = [...tips.map(({ id }) => id), ...tags.filter(isOfCommit).map(({ peeledId }) => peeledId)];
  for await (const commit of walkCommits(dir, wanted, knownTips(repo, tips))) {
    if (repo.gitMarks.seqOf(commit.id) === undefined) commits.push(commit);
  }
  const plan = planImport(repo, commits, tips, headBranch);
  const flagged = await landAll(repo, dir, plan, options.onProgress);

  const skippedTags = await importTags(repo, dir, tags);
  await putRecords(repo, new Map(tips.filter(isRecorded).map(({ branch, id }) => [branchKey(branch), id])));
  const head = tips[0]?.id;
  return {
    commits: commits.length,
    head,
    seq: head === undefined ? 0 : (repo.gitMarks.seqOf(head) ?? 0),
    seconds: (performance.now() - startMs) / 1000,
    diverged: plan.diverged,
    skippedRefs: [...skipped, ...skippedTags],
    flaggedPaths: flagged,
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
async function choose(
  dir: string,
  named: readonly string[] | undefined,
): Promise<{ readonly tips: GitTip[]; readonly tags: GitRef[]; readonly skipped: string[] }> {
  const refs = await listRefs(dir);
  const heads = refs.filter((ref) => ref.name.startsWith(headPrefix) && isOfCommit(ref));
  const tips = heads
    .filter(({ isText }) => isText)
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
    skipped: heads.filter(({ isText }) => !isText).map(({ name }) => name),
  };
}

/** The git branch that is `main` here: fixed by the first import into an empty repository. */
async function nameHead(repo: ImportRepo, first: string | undefined): Promise<string | undefined> {
  const named = getTextRecord(repo, headKey);
  if (named !== undefined || first === undefined) return named;
  const isEmpty = repo.branches().every(({ commit }) => commit === undefined);
  if (!isEmpty) return undefined;
  // Before the first landing, so that an import that goes on after a kill decides the same.
  await putRecords(repo, new Map([[headKey, first]]));
  return first;
}

async function landAll(
  repo: ImportRepo,
  dir: string,
  plan: ImportPlan,
  onProgress: ImportOptions['onProgress'],
): Promise<string[]> {
  const source = new CommitSource(dir);
  const flagged = new FlaggedPaths(repo);
  const landing = new ImportLanding(repo, flagged);
  const window = new ImportWindow();
  const failures: unknown[] = [];
  const open = new Set<Promise<void>>();
  let landed = 0;
  try {
    for (const commit of plan.commits) {
      await window.enter();
      if (failures.length > 0) break;
      let sizeBytes = 0;
      const read = source.read(commit.id, commit.base).then((found) => {
        sizeBytes = found.sizeBytes;
        window.hold(sizeBytes);
        return found;
      });
      read.catch(() => undefined);
      const done = landing
        .land(commit, read)
        .then(() => onProgress?.({ commits: ++landed, commitsTotal: plan.commits.length }))
        .catch((error: unknown) => void failures.push(error))
        .finally(() => {
          window.leave(sizeBytes);
          open.delete(done);
        });
      open.add(done);
    }
    await Promise.all(open);
    if (failures.length > 0) throw failures[0];
    await Promise.all(plan.forks.map(({ branch, at }) => landing.fork(branch, at)));
  } finally {
    await source.close();
  }
  return flagged.list();
}
