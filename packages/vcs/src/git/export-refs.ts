import { isMoundError, MoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { defaultBranch, gitBranchOf, isSideBranch, landingSeqOf } from './branch-names.ts';
import { isBehind } from './export-plan.ts';
import { neverImported, noRefName, noTagName, notAhead, rivalOf, tagOfNothing } from './export-skips.ts';
import type { Refusal, SkippedRef } from './export-skips.ts';
import { branchKey, getRecord, tagKey } from './git-records.ts';
import { isRefName, type GitRef } from './git-refs.ts';
import { keptObjects } from './kept-objects.ts';
import { gitObjectId } from './object-id.ts';
import type { GitObject } from './object-reader.ts';
import { parseTagTarget, plainTagTarget } from './tag-object.ts';

export type RefRepo = Pick<Repo, 'branch' | 'branches' | 'commit' | 'gitMarks' | 'log' | 'snapshot' | 'tags'>;

/** A ref that is to stand at a landing, directly or by way of raw objects (an annotated tag). */
export interface WantedRef {
  readonly name: string;
  /** Undefined for a tag. */
  readonly branch: string | undefined;
  /** Undefined for a tag of something that is no commit. */
  readonly seq: number | undefined;
  /** The objects of an annotated tag, the outermost first; of a plain one of no commit, what it names and all below. */
  readonly tag: readonly GitObject[];
}

/** One branch as a ref. Errors: `no-such-branch`, `invalid-argument`. */
export function wantBranch(
  repo: RefRepo,
  branch: string,
  ref: string | undefined,
  headBranch: string | undefined,
): WantedRef[] {
  const name = ref ?? `refs/heads/${gitBranchOf(branch, headBranch)}`;
  if (!name.startsWith('refs/') || !isRefName(name)) {
    throw new MoundError('invalid-argument', `'${name}' cannot be the name of a git ref`, { ref: name });
  }
  const seq = landingSeqOf(repo, repo.branch(branch));
  return seq === undefined ? [] : [{ name, branch, seq, tag: [] }];
}

/**
 * Every branch with a landing of its own (or one that git had) and every tag;
 * those that git cannot have go to `skipped`.
 */
export function wantAll(repo: RefRepo, headBranch: string | undefined, skipped: SkippedRef[]): WantedRef[] {
  const wanted = new Map<string, WantedRef>();
  // A branch before one that had to be put beside it.
  const branches = repo
    .branches()
    .toSorted((a, b) => Number(a.name.startsWith('git/')) - Number(b.name.startsWith('git/')));
  for (const branch of branches) {
    const { name } = branch;
    const seq = isSideBranch(name) ? undefined : landingSeqOf(repo, branch);
    if (seq === undefined) continue;
    const gitName = gitBranchOf(name, headBranch);
    const hasOwnLanding = name === defaultBranch || seq > branch.forkSeq;
    if (!hasOwnLanding && getRecord(repo, branchKey(gitName)) === undefined) continue;
    const ref = `refs/heads/${gitName}`;
    // Of two branches for one ref, the one that holds the other.
    const rival = wanted.get(ref)?.seq;
    const isAhead = rival === undefined || isBehind(repo, rival, seq);
    if (!isRefName(ref)) skipped.push({ name, ...noRefName(name) });
    else if (isAhead) wanted.set(ref, { name: ref, branch: name, seq, tag: [] });
    else if (!isBehind(repo, seq, rival)) skipped.push({ name, ...rivalOf(name, ref) });
  }
  const names = new Set<string>();
  for (const { name, seq } of repo.tags()) {
    names.add(name);
    const ref = `refs/tags/${name}`;
    const landing = landingAt(repo, seq);
    if (!isRefName(ref)) skipped.push({ name, ...noTagName });
    else if (landing === undefined) skipped.push({ name, ...tagOfNothing });
    else wanted.set(ref, { name: ref, branch: undefined, seq: landing, tag: annotationOf(repo, name, landing) });
  }
  for (const { key } of repo.snapshot().records(tagKey(''))) {
    const name = key.slice(tagKey('').length);
    if (names.has(name) || name.includes('#')) continue;
    const tag = annotationOf(repo, name, undefined);
    const ref = `refs/tags/${name}`;
    if (tag.length > 0) wanted.set(ref, { name: ref, branch: undefined, seq: undefined, tag });
  }
  return [...wanted.values()];
}

/** The landing that a seq stands for: itself, else the newest on the default branch by then. */
function landingAt(repo: RefRepo, seq: number): number | undefined {
  try {
    const view = repo.commit(seq);
    if (view.commit !== undefined) return view.seq;
  } catch (error) {
    if (!isMoundError(error, 'no-such-commit')) throw error;
  }
  for (const view of repo.log({ from: seq, branch: defaultBranch })) if (view.commit !== undefined) return view.seq;
  return undefined;
}

/** The raw objects of an imported tag; none where it is a plain one of a commit or has moved since. */
function annotationOf(repo: RefRepo, name: string, landing: number | undefined): WantedRef['tag'] {
  const raw = getRecord(repo, tagKey(name));
  if (!raw) return [];
  const plain = plainTagTarget(raw);
  if (plain !== undefined) return landing === undefined ? keptObjects(repo, plain) : [];
  const objects: GitObject[] = [{ id: gitObjectId('tag', raw), type: 'tag', content: raw }];
  let target = parseTagTarget(raw);
  if (target !== undefined && target.type !== 'commit') {
    const kept = keptObjects(repo, target.id);
    if (kept.length === 0) return [];
    objects.push(...kept);
    // Of tags of tags the last one may name a commit.
    const innermost = kept.findLast(({ type }) => type === 'tag');
    target = innermost === undefined ? undefined : parseTagTarget(innermost.content);
  }
  const peeled = target?.type !== 'commit' ? undefined : repo.gitMarks.seqOf(target.id);
  return peeled === landing ? objects : [];
}

/** What git's ref of a tag stands at once it is exported; undefined where there is none, or git has no such commit yet. */
export function gitIdOfTag(repo: RefRepo, name: string): string | undefined {
  const tag = repo.tags().find((candidate) => candidate.name === name);
  const landing = tag && landingAt(repo, tag.seq);
  const [annotation] = annotationOf(repo, name, landing);
  return annotation?.id ?? (landing === undefined ? undefined : repo.gitMarks.gitIdOf(landing));
}

/**
 * Why a ref that exists in git may not be moved to the landing: it holds what
 * Mound does not have. Undefined where it may.
 */
export function refusalOf(repo: RefRepo, ref: GitRef, wanted: WantedRef): Refusal | undefined {
  const old = repo.gitMarks.seqOf(ref.peeledId);
  if (old === undefined) return ref.id === wanted.tag[0]?.id ? undefined : neverImported(wanted.branch);
  // A tag may be moved freely among what is known.
  if (ref.name.startsWith('refs/tags/') || wanted.branch === undefined || wanted.seq === undefined) return undefined;
  return isBehind(repo, old, wanted.seq) ? undefined : notAhead(wanted.branch);
}
