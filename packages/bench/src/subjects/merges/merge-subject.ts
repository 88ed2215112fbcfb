import type { MergeTriple } from '../../workloads/merge-triples.ts';

/**
 * What a subject made of one triple. `refused`: it takes no such input (not text).
 */
export type MergeVerdict =
  | { readonly kind: 'clean'; readonly content: Uint8Array }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'refused' };

/** Triples that lie where the subject takes them from. */
export interface StagedMerges {
  /** Merges one of them, each once and in order; this is what is timed. */
  merge(index: number): Promise<void> | undefined;
  /** Merges all of them as one stream; timed as a whole. Absent where a subject has no such form. */
  mergeAll?(): Promise<void>;
  /** What came of each; after all have been merged. */
  verdicts(): Promise<readonly MergeVerdict[]>;
}

export interface OpenMergeSubject {
  /** Puts the triples where the subject takes them from; not timed. What was staged before is done with. */
  stage(triples: readonly MergeTriple[]): Promise<StagedMerges>;
  close(): Promise<void>;
}

/** One way to merge a file three ways. `conformance.ts` holds the checks that each must pass. */
export interface MergeSubject {
  readonly name: string;
  available(): Promise<true | { readonly missing: string }>;
  /** `dir` exists, is empty and belongs to the subject alone. */
  open(dir: string, signal: AbortSignal): Promise<OpenMergeSubject>;
}
