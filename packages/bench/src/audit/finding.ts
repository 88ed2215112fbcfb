/** `note`: told, and no reason for suspicion by itself. */
export type Weight = 'finding' | 'note';

/** Something that a person should look at. */
export interface Finding {
  readonly weight: Weight;
  /** What it is, in few words: `test deleted`. */
  readonly what: string;
  /** Where: a path with its line, a record's key, a transcript. */
  readonly place: string;
  /** The words that were found; cut. */
  readonly evidence: string;
  /** undefined: it is no commit's. */
  readonly seq?: number | undefined;
  /** Agent, role, model and task, as far as they are known. */
  readonly who?: string | undefined;
  /** Whether it stands in the newest snapshot, where that can be said. */
  readonly isThere?: boolean | undefined;
}

export interface CheckReport {
  readonly check: string;
  /** What counts as a finding, and what is not seen. */
  readonly rule: string;
  /** How much was looked at, in words; empty where nothing was, and `skipped` says why. */
  readonly looked: string;
  readonly skipped?: string | undefined;
  readonly findings: readonly Finding[];
}

const evidenceCharsMax = 160;

/** On one line, and not too long. */
export function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= evidenceCharsMax ? line : `${line.slice(0, evidenceCharsMax - 1)}…`;
}
