import type { ScoreControl } from './bare-tree.ts';

/** How one point came out; `docs/guides/bench.md` says what each counts as. */
export const pointStates = ['scored', 'empty', 'build-failed', 'build-timed-out', 'crashed', 'timed-out'] as const;
export type PointState = (typeof pointStates)[number];

/** What was passed of one kind of test. */
export interface CategoryCount {
  readonly category: string;
  readonly passed: number;
  readonly total: number;
}

/** One snapshot, built and asked. */
export interface Scored {
  readonly state: PointState;
  readonly passed: number;
  /** 0 where it is not known: nothing was asked. */
  readonly total: number;
  readonly categories: readonly CategoryCount[];
  /** Of the wall clock, each. */
  readonly buildSeconds: number;
  readonly scoreSeconds: number;
  /** Why it was not scored, in the command's own last words; else empty. */
  readonly reason: string;
}

/** A commit of the run; the first is what stood before it. */
export interface CommitPlace {
  readonly seq: number;
  /** Commits of the run up to here. */
  readonly commits: number;
  /** Milliseconds since the run's start. */
  readonly ms: number;
}

export interface CurvePoint extends CommitPlace, Scored {
  /** passed / total, from 0 to 1. */
  readonly score: number;
}

/** Who made a commit, as its log entry says. */
export interface Culprit {
  readonly seq: number;
  readonly commits: number;
  readonly ms: number;
  readonly agent: string;
  /** Empty where the entry does not tell; so are the next two. */
  readonly role: string;
  readonly model: string;
  readonly task: string;
  /** Its first line. */
  readonly message: string;
}

/** A commit after which the score was lower, or that does not build. */
export interface Regression {
  readonly kind: 'score' | 'build';
  /** Of the commits that it may be; one: it was found. */
  readonly candidates: readonly number[];
  /** Where it was found. */
  readonly culprit: Culprit | undefined;
  /** Last score before the candidates, first one behind them. */
  readonly before: number;
  readonly after: number;
  /** A second try of the culprit came out otherwise: it may be nobody's fault. */
  readonly varies: boolean;
  /** Seq of the first point behind it that is no lower than `before` (builds again); undefined: none is. */
  readonly recoveredAt: number | undefined;
}

/** When a share of the tests was first passed. */
export interface Reached {
  readonly share: number;
  /** undefined: never. With steps above one commit it may have been earlier. */
  readonly at: CommitPlace | undefined;
}

export interface CurveResult {
  /** Of the swarm's run; undefined where none made these commits. */
  readonly run: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly commits: number;
  /** Commits between two points. */
  readonly every: number;
  readonly sandbox: 'bubblewrap' | 'unshare' | 'none';
  /** In the order of the commits; those that were made to find regressions among them. */
  readonly points: readonly CurvePoint[];
  readonly regressions: readonly Regression[];
  readonly reached: readonly Reached[];
  /** Not there in results of before there was one. */
  readonly control?: ScoreControl;
}

/** The source experiment's published figures: after an hour, two after four hours, one mix's last, the end. */
export const publishedThresholds: readonly number[] = [2 / 3, 0.73, 0.85, 0.97, 1];
