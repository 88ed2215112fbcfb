import type { LinesVerdict, StructureVerdict } from '../core/outcome.ts';
import type { LineRange, Region } from './combine.ts';

/** What a driver merges: the contents of one path. */
export interface DriverInput {
  readonly path: string;
  /** undefined: both sides added the path. */
  readonly base: Uint8Array | undefined;
  readonly current: Uint8Array;
  readonly incoming: Uint8Array;
}

interface Opinions {
  readonly lines?: LinesVerdict;
  readonly structure?: StructureVerdict;
}

export interface CleanVerdict extends Opinions {
  readonly kind: 'clean';
  readonly content: Uint8Array;
}

/**
 * Without `regions` the conflict is shown line by line: as the hunks in which the
 * lines conflict; where these merge clean, as one stretch from the first changed
 * line to the last, or over those that touch `refused`, lines of the base.
 */
export interface ConflictVerdict extends Opinions {
  readonly kind: 'conflict';
  readonly refused?: LineRange;
  /** All of the three contents by lines, as `mergeLines` gives them, with a conflict among them. */
  readonly regions?: readonly Region[];
}

export type DriverVerdict = CleanVerdict | ConflictVerdict;

/**
 * Merges two contents that differ from their base and from each other. Pure: the
 * same contents give the same verdict, everywhere and always, so that it does not
 * matter which process merges, and when. A change of what it answers is a new
 * `version`. It never throws for what a content holds. `driverChecks` of
 * `@mound/vcs/conformance` says whether it keeps to this.
 */
export interface MergeDriver {
  /** Its name in `.gitattributes` (`merge=ID`) and in the log. */
  readonly id: string;
  readonly version: string;
  /** It also merges contents that are no text (with a NUL, or not UTF-8); else these conflict before it is asked. */
  readonly takesBinary?: boolean;
  /** It also merges what both sides added, each with its own content; else this conflicts before it is asked. */
  readonly takesAdded?: boolean;
  merge(input: DriverInput): DriverVerdict;
}
