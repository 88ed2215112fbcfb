import { invariant } from '../core/errors.ts';
import { parseCommit } from './commit-object.ts';
import type { Repo } from '../repo/api.ts';

export interface ExportStep {
  readonly seq: number;
  /** Seqs of the parents, in the order of the git commit. */
  readonly parents: readonly number[];
  /** Seq of the landing that its changes apply to: what its branch stood at. */
  readonly base: number | undefined;
}

/** Bits of a landing's standing in the walk. */
const wantedBit = 1;
const knownBit = 2;

type PlanRepo = Pick<Repo, 'commit' | 'gitMarks'>;

/** An imported landing's parents go by their git ids: two that differ in odd bytes only may share a commit id. */
function stepOf(repo: PlanRepo, seq: number): ExportStep {
  const { parents: ids, gitRaw } = repo.commit(seq);
  const [baseId] = ids;
  if (baseId === undefined) return { seq, parents: [], base: undefined };
  if (gitRaw) {
    const marked = parseCommit(gitRaw).parents.map((id) => repo.gitMarks.seqOf(id));
    const parents = marked.filter((parent) => parent !== undefined && parent < seq).map(Number);
    if (parents.length === marked.length && parents.length > 0) {
      const base = parents.find((parent) => repo.commit(parent).commit === baseId);
      return { seq, parents, base: base ?? repo.commit(baseId).seq };
    }
  }
  const parents = ids.map((id) => repo.commit(id).seq);
  return { seq, parents, base: parents[0] };
}

/**
 * The landings behind `heads` and not behind `known`, parents before children.
 * A parent's seq is lower than its child's, so one walk down the seqs sees each
 * landing after all its children, and stops where only known ones are left.
 */
export function planExport(repo: PlanRepo, heads: readonly number[], known: readonly number[]): ExportStep[] {
  const bits = new Map<number, number>();
  let wantedCount = 0;
  const add = (seq: number, more: number): void => {
    const before = bits.get(seq) ?? 0;
    const after = before | more;
    bits.set(seq, after);
    wantedCount += Number(after === wantedBit) - Number(before === wantedBit);
  };
  for (const seq of heads) add(seq, wantedBit);
  for (const seq of known) add(seq, knownBit);
  const steps: ExportStep[] = [];
  for (let seq = Math.max(0, ...bits.keys()); seq > 0 && wantedCount > 0; seq--) {
    const standing = bits.get(seq);
    if (standing === undefined) continue;
    bits.delete(seq);
    if (standing === wantedBit) wantedCount--;
    const step = stepOf(repo, seq);
    for (const parent of step.parents) {
      invariant(parent < seq, 'a parent lands before its child');
      add(parent, standing);
    }
    if (standing === wantedBit) steps.push(step);
  }
  return steps.toReversed();
}

/** True where the landing at `old` is that at `head` or behind it. */
export function isBehind(repo: PlanRepo, old: number, head: number): boolean {
  const reached = new Set([head]);
  for (let seq = head; seq > old; seq--) {
    if (!reached.delete(seq)) continue;
    for (const parent of stepOf(repo, seq).parents) reached.add(parent);
  }
  return reached.has(old);
}
