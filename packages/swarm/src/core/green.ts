/** What becomes of a landing that broke the check: nothing but a word, a task for its planner, or it is taken back. */
export const greenPolicies = ['report', 'task', 'revert', 'quarantine'] as const;

/** Keeps the tag `green` at the newest landing of `main` at which a command passes. */
export interface GreenSettings {
  /** For /bin/sh, on a snapshot; exit code 0: good, 125: cannot be tried, else bad. */
  readonly command: string;
  /** It is run when so many landings have not been looked at, */
  readonly everyCommits: number;
  /** or one of them waits for so long; and once more when all work has ended. */
  readonly everyMs: number;
  readonly policy: (typeof greenPolicies)[number];
  /** It has to fail so often in a row, on the same files, before a landing is blamed. */
  readonly runs: number;
  /** Of one run of the command; default: of commands. */
  readonly seconds?: number;
}

/** A landing that broke the check, and what was done about it. */
export interface GreenCulprit {
  readonly seq: number;
  /** Newest seq before it at which the check passed. */
  readonly good: number;
  readonly task?: string;
  readonly agent?: string;
  readonly role?: string;
  readonly model?: string;
  /** `kept`: taking it back is a conflict; `refused`: the store did not take it. */
  readonly action: 'told' | 'reverted' | 'quarantined' | 'kept' | 'refused';
}

/** Checks of one span of a run. */
export interface GreenSpan {
  /** Since the run began. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly checks: number;
  /** undefined where there was none. */
  readonly passRate: number | undefined;
}

/** How the build stood during a run. */
export interface GreenSummary {
  readonly command: string;
  /** Newest seq at which it is known to pass; undefined: none. */
  readonly green: number | undefined;
  readonly head: number;
  readonly passed: number;
  readonly failed: number;
  /** Failed, and passed when run again on the same files; they count as passed in the rates. */
  readonly flaky: number;
  readonly passRate: number | undefined;
  /** Equal parts of the run's time. */
  readonly overTime: readonly GreenSpan[];
  /** Oldest first. */
  readonly culprits: readonly GreenCulprit[];
}
