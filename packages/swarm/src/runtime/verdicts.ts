import type { Snapshot } from '@mound/vcs';
import type { TaskId } from '../core/ids.ts';
import type { Finding } from '../core/lens.ts';
import type { ReviewCost } from '../review/review-ledger.ts';
import type { AgentRecord } from './agent-life.ts';
import type { RunKeys } from './run-keys.ts';

/** What a lens made of a landing, as it stands in the repository. */
export interface VerdictRecord {
  readonly format: 1;
  readonly seq: number;
  readonly lens: string;
  readonly findings: readonly Finding[];
  /** That are to mend it. */
  readonly tasks: readonly TaskId[];
  /** For each of them, which of the findings it is about. */
  readonly about?: readonly number[];
}

export interface KeptVerdict extends VerdictRecord {
  /** Of the reviewer, where a record says it. */
  readonly cost: ReviewCost;
}

/** The verdicts of a run, oldest first. */
export function verdictsIn(snapshot: Snapshot, keys: RunKeys): KeptVerdict[] {
  return snapshot
    .records(keys.review(''))
    .toSorted((left, right) => left.version - right.version)
    .map(({ value }) => {
      const verdict = JSON.parse(value.toString('utf8')) as VerdictRecord;
      const cost = costOf(snapshot, `${keys.merges}review-${verdict.seq}-${verdict.lens}/`);
      return { ...verdict, cost };
    });
}

/** What the agents cost whose records these are. */
export function costOf(snapshot: Snapshot, prefix: string): ReviewCost {
  const costs = snapshot.records(prefix).map(({ value }) => (JSON.parse(value.toString('utf8')) as AgentRecord).cost);
  return costs.reduce<ReviewCost>(
    (sum, { nanoUsd, usage }) => ({
      nanoUsd: sum.nanoUsd + nanoUsd,
      tokens: sum.tokens + usage.inputTokens + usage.outputTokens,
    }),
    { nanoUsd: 0, tokens: 0 },
  );
}
