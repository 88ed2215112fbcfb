import { invariant } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';

export interface ExportStep {
  readonly seq: number;
  /** Seqs of the parents, in order. */
  readonly parents: readonly number[];
}

/** Bits of a landing's standing in the walk. */
const wantedBit = 1;
const knownBit = 2;

type PlanRepo = Pick<Repo, 'commit'>;

const parentsOf = (repo: PlanRepo, seq: number): number[] =>
  repo.commit(seq).parents.map((parent) => repo.commit(parent).seq);

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
    const parents = parentsOf(repo, seq);
    for (const parent of parents) {
      invariant(parent < seq, 'a parent lands before its child');
      add(parent, standing);
    }
    if (standing === wantedBit) steps.push({ seq, parents });
  }
  return steps.toReversed();
}

/** True where the landing at `old` is that at `head` or behind it. */
export function isBehind(repo: PlanRepo, old: number, head: number): boolean {
  const reached = new Set([head]);
  for (let seq = head; seq > old; seq--) {
    if (!reached.delete(seq)) continue;
    for (const parent of parentsOf(repo, seq)) reached.add(parent);
  }
  return reached.has(old);
}
