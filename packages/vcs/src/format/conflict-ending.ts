import type { ConflictEnding } from './entry.ts';

/** In the order of their numbers on disk. */
export const conflictEndings: readonly ConflictEnding[] = ['resolution', 'remerge', 'replacement'];

/** Errors: `RangeError` where the number is unknown. */
export function conflictEndingOf(number: number): ConflictEnding {
  const ending = conflictEndings[number];
  if (ending === undefined) throw new RangeError(`a conflict's ending ${number} is unknown`);
  return ending;
}
