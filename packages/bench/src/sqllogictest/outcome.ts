/**
 * What became of one record.
 * - `right`, `wrong`: run, with the expected result or another one.
 * - `error`: the engine refused what it should run, or the record itself cannot be read.
 * - `crashed`, `timedOut`: the engine ended, or took longer than a record may.
 * - `skipped`: its conditions leave it out. `control`: it steers the runner and counts nowhere.
 */
export const outcomes = ['pending', 'right', 'wrong', 'error', 'crashed', 'timedOut', 'skipped', 'control'] as const;
export type RecordOutcome = (typeof outcomes)[number];

export const numberOf = (outcome: RecordOutcome): number => outcomes.indexOf(outcome);
export const outcomeOf = (value: number): RecordOutcome => outcomes[value] ?? 'pending';

/** A record that did not come out right. */
export interface Failure {
  readonly line: number;
  readonly outcome: RecordOutcome;
  readonly reason: string;
}

/** Counts of one file. `attempted` is the sum of the five behind it, and depends on the file and the dialect alone. */
export interface Counts {
  readonly attempted: number;
  readonly right: number;
  readonly wrong: number;
  readonly errors: number;
  readonly crashed: number;
  readonly timedOut: number;
  readonly skipped: number;
}

export const noCounts: Counts = { attempted: 0, right: 0, wrong: 0, errors: 0, crashed: 0, timedOut: 0, skipped: 0 };

export function countsOf(numbers: Uint8Array): Counts {
  const of = new Map<RecordOutcome, number>();
  for (const value of numbers) of.set(outcomeOf(value), (of.get(outcomeOf(value)) ?? 0) + 1);
  const [right, wrong, errors, crashed, timedOut] = (['right', 'wrong', 'error', 'crashed', 'timedOut'] as const).map(
    (outcome) => of.get(outcome) ?? 0,
  ) as [number, number, number, number, number];
  const attempted = right + wrong + errors + crashed + timedOut;
  return { attempted, right, wrong, errors, crashed, timedOut, skipped: of.get('skipped') ?? 0 };
}

export function sum(all: readonly Counts[]): Counts {
  const total: Record<keyof Counts, number> = { ...noCounts };
  for (const counts of all) for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  return total;
}
