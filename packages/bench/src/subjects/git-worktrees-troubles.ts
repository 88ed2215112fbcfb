import type { TrunkTroubles } from '../workloads/contended-trunk.ts';

/** Why a git command did not do what it was asked. */
export type GitTrouble = 'lock' | 'race' | 'conflict' | 'other';

/** git tells these apart in words only. */
export function troubleOf(error: unknown): GitTrouble {
  const words = error instanceof Error ? error.message : '';
  // Also begins with "cannot lock ref", though no lock was in the way: the old value was another.
  if (/is at [0-9a-f]+ but expected [0-9a-f]+/.test(words)) return 'race';
  if (/\.lock'?: File exists|cannot lock ref|could not lock|Unable to create '.*\.lock'/i.test(words)) return 'lock';
  return /could not apply/i.test(words) ? 'conflict' : 'other';
}

/** Counts what all agents of one repository met. */
export class GitTroubles implements TrunkTroubles {
  lockFailures = 0;
  racesLost = 0;

  /** Counts a failure and says what it was; one that is no part of the load is thrown on. */
  take(error: unknown): Exclude<GitTrouble, 'other'> {
    const trouble = troubleOf(error);
    if (trouble === 'other') throw error;
    if (trouble === 'lock') this.lockFailures++;
    if (trouble === 'race') this.racesLost++;
    return trouble;
  }
}
