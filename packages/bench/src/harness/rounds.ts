import { throwIfInterrupted } from './interrupt.ts';

/**
 * The arms in the order of one round. Each round starts one arm later, so that
 * no arm always runs first, or always after the same neighbour's disk writes.
 */
export function rotate<Arm>(arms: readonly Arm[], round: number): Arm[] {
  const start = arms.length === 0 ? 0 : round % arms.length;
  return [...arms.slice(start), ...arms.slice(0, start)];
}

/**
 * Runs A B C, B C A, C A B …: slow drift of the machine then hits all arms
 * alike, and a ratio taken within one round compares neighbours in time.
 * Round -1 is the warm-up; its figures are for the caller to discard.
 */
export async function runRounds<Arm>(
  arms: readonly Arm[],
  rounds: number,
  signal: AbortSignal,
  runOne: (arm: Arm, round: number) => Promise<void>,
): Promise<void> {
  for (let round = -1; round < rounds; round++) {
    for (const arm of rotate(arms, round + 1)) {
      throwIfInterrupted(signal);
      await runOne(arm, round);
    }
  }
}
