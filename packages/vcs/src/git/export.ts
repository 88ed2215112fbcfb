import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { MoundError } from '../core/errors.ts';
import { CommitExport, type CommitRepo } from './export-commit.ts';
import { refuseCheckedOut } from './checked-out.ts';
import { planExport, type ExportStep } from './export-plan.ts';
import { refusalOf, wantAll, wantBranch, type RefRepo, type WantedRef } from './export-refs.ts';
import type { SkippedRef } from './export-skips.ts';
import { defaultBranch, gitBranchOf, landingSeqOf } from './branch-names.ts';
import { requireGit } from './git-command.ts';
import { resolveOrInitGitDir } from './git-dir.ts';
import { getTextRecord, headKey } from './git-records.ts';
import { listRefs, moveRefs, type GitRef, type RefMove } from './git-refs.ts';
import { ObjectReader } from './object-reader.ts';
import { PackWriter } from './pack-writer.ts';

/** The part of a repository that an export uses. */
export type ExportRepo = CommitRepo & RefRepo;

export interface ExportProgress {
  readonly commits: number;
  readonly commitsTotal: number;
}

export interface ExportOptions {
  /** Only this branch. Default: all branches with a landing, and all tags. */
  readonly branch?: string;
  /** Full name of the ref for `branch` (then `main` where none is named); default: `refs/heads/` and the name that git knows it by. */
  readonly ref?: string;
  readonly onProgress?: (progress: ExportProgress) => void;
}

export interface ExportResult {
  /** Written by this export. */
  readonly commits: number;
  /** Git id of the branch (`main` where all are exported); undefined where it has no landing or its ref was left alone. */
  readonly head: string | undefined;
  /** Refs that moved. */
  readonly refs: readonly { readonly name: string; readonly id: string }[];
  /** Branches, tags and refs that were left alone: git cannot have the name, or has commits that are not here. */
  readonly skipped: readonly string[];
  /** The same, each with why and what to do. */
  readonly skips: readonly SkippedRef[];
}

/**
 * Writes landings as git commits into a repository, made bare where there is
 * none. The same landings give the same ids every time; what is there already
 * is not written again. Refs move last, all or none. Errors: `git-missing`,
 * `git-too-old`, `not-a-git-repository`, `no-such-branch`, `object-damaged`;
 * `git-failed` where `branch` is named and its ref has commits that are not
 * here, and where a branch that would move is checked out in a worktree.
 */
export async function exportGit(repo: ExportRepo, gitDir: string, options: ExportOptions = {}): Promise<ExportResult> {
  await requireGit();
  const headBranch = getTextRecord(repo, headKey);
  const skips: SkippedRef[] = [];
  const branch = options.branch ?? (options.ref === undefined ? undefined : defaultBranch);
  // Asked first: what lands while this runs is for the next export.
  const head = landingSeqOf(repo, repo.branch(branch ?? defaultBranch));
  const all =
    branch === undefined ? wantAll(repo, headBranch, skips) : wantBranch(repo, branch, options.ref, headBranch);
  const dir = await resolveOrInitGitDir(gitDir, headBranch ?? defaultBranch);
  const refs = new Map((await listRefs(dir, ['refs'])).map((ref) => [ref.name, ref]));
  const wanted = all.filter((ref) => mayMove(repo, refs.get(ref.name), ref, branch !== undefined, skips));
  await refuseCheckedOut(dir, namesToMove(repo, wanted, refs));
  await untilDurable(repo);

  const heads = wanted.map(({ seq }) => seq).filter((seq) => seq !== undefined);
  const known = [...refs.values()]
    .map(({ peeledId }) => repo.gitMarks.seqOf(peeledId))
    .filter((seq) => seq !== undefined);
  const steps = planExport(repo, heads, known);
  const reader = new ObjectReader(dir);
  try {
    const writer = new PackWriter(dir);
    const commits = new CommitExport(repo, writer, reader, steps);
    await writeCommits(repo, commits, writer, steps, options.onProgress);
    for (const { name, tag } of wanted) {
      // What a ref stands at is there with all that it leads to.
      if (refs.get(name)?.id !== tag[0]?.id) for (const { type, content } of tag) writer.add(type, content);
    }
    await writer.finish();
    if (commits.shallow.length > 0)
      await appendFile(join(dir, 'shallow'), commits.shallow.map((id) => `${id}\n`).join(''));
    const moves = wanted.map((ref) => moveOf(ref, refs.get(ref.name), commits)).filter((move) => move.from !== move.to);
    await moveRefs(dir, moves);
    // A branch whose ref was left alone may have no git commit at all.
    const headRef = options.ref ?? `refs/heads/${gitBranchOf(branch ?? defaultBranch, headBranch)}`;
    const isOut = wanted.some(({ name }) => name === headRef);
    return {
      commits: steps.length,
      head: isOut && head !== undefined ? commits.idOf(head) : undefined,
      refs: moves.map(({ name, to }) => ({ name, id: to })),
      skipped: skips.map(({ name }) => name),
      skips,
    };
  } finally {
    await reader.close();
  }
}

function moveOf(ref: WantedRef, old: GitRef | undefined, commits: CommitExport): RefMove {
  const to = ref.tag[0]?.id ?? (ref.seq === undefined ? undefined : commits.idOf(ref.seq));
  if (to === undefined) throw new Error('invariant broken: a wanted ref has a landing or a tag');
  return { name: ref.name, to, from: old?.id };
}

/** Refs that do not stand at their landing yet. A landing without a git id is new, so its ref moves. */
const namesToMove = (
  repo: ExportRepo,
  wanted: readonly WantedRef[],
  refs: ReadonlyMap<string, GitRef>,
): readonly string[] =>
  wanted
    .filter(({ name, seq }) => {
      const gitId = seq === undefined ? undefined : repo.gitMarks.gitIdOf(seq);
      return gitId === undefined || gitId !== refs.get(name)?.id;
    })
    .map(({ name }) => name);

function mayMove(
  repo: ExportRepo,
  old: GitRef | undefined,
  wanted: WantedRef,
  isNamed: boolean,
  skips: SkippedRef[],
): boolean {
  const refusal = old && refusalOf(repo, old, wanted);
  if (refusal === undefined) return true;
  if (isNamed) {
    throw new MoundError('git-failed', `git's ${wanted.name} cannot move: ${refusal.reason}; ${refusal.remedy}`, {
      ref: wanted.name,
    });
  }
  skips.push({ name: wanted.name, ...refusal });
  return false;
}

/** Nothing leaves for git that a power loss could still take back. */
async function untilDurable(repo: ExportRepo): Promise<void> {
  const { seq } = repo.snapshot();
  for (let waits = 0; repo.snapshot().durableSeq < seq && waits < 6000; waits++) await sleep(5);
}

async function writeCommits(
  repo: ExportRepo,
  commits: CommitExport,
  writer: PackWriter,
  steps: readonly ExportStep[],
  onProgress: ExportOptions['onProgress'],
): Promise<void> {
  let fresh: { readonly seq: number; readonly gitId: string }[] = [];
  const mark = async (): Promise<void> => {
    if (fresh.length > 0) await repo.gitMarks.add(fresh);
    fresh = [];
  };
  let count = 0;
  for (const step of steps) {
    const gitId = await commits.write(step);
    if (repo.gitMarks.gitIdOf(step.seq) === undefined) fresh.push({ seq: step.seq, gitId });
    count++;
    onProgress?.({ commits: count, commitsTotal: steps.length });
    if (writer.isFull) await writer.flush();
    if (fresh.length >= 10_000) await mark();
    // The work above does not wait: a turn for the pipe to git.
    if (count % 32 === 0) await nextTurn();
  }
  // Before the refs move: a ref that stands at an unmarked commit would be taken for somebody else's.
  await mark();
}
