import type { Measurement } from '../../harness/measurement.ts';
import type { Metric } from '../../harness/metric.ts';
import type { WorkloadFields } from '../../harness/result-file.ts';
import { percentileOf } from '../../harness/statistics.ts';
import type { Subject } from '../../subjects/subject.ts';
import { describeLoad, type Load } from './load.ts';

/** One value a round, in the order of the rounds. */
export type ArmFigures = Partial<Record<Metric, number[]>>;

export interface ArmPlan {
  readonly subject: Subject;
  readonly load: Load;
  readonly fields: WorkloadFields;
}

export const nameOfPlan = ({ subject, load }: ArmPlan): string => `${subject.name} at ${describeLoad(load)}`;

export const dirOfPlan = ({ subject, load }: ArmPlan): string =>
  `${subject.name}-${describeLoad(load).replaceAll(/\W+/g, '-')}`;

export interface RoundLimits {
  readonly budgetMs: number;
  readonly commitsMax: number;
  /** Called with what is measured alone, without the making up of commits before it. */
  readonly around?: (run: () => Promise<void>) => Promise<void>;
}

/** One subject under one load, with a store of its own that all its rounds use. */
export interface CommitArm {
  readonly plan: ArmPlan;
  readonly figures: ArmFigures;
  readonly notes: readonly string[];
  readonly acknowledgedCount: number;
  /** Makes commits for as long as the limits allow; the warm-up's figures are not kept. */
  runRound(limits: RoundLimits, isWarmUp: boolean, signal: AbortSignal): Promise<void>;
  /** Reads back what all rounds and the warm-up acknowledged; each line names one thing that is not there. */
  verify(): Promise<readonly string[]>;
  cleanup(): Promise<void>;
}

/** Runs what is measured as the limits want it. */
export async function measureWithin<Value>({ around }: RoundLimits, run: () => Promise<Value>): Promise<Value> {
  if (around === undefined) return run();
  const found: Value[] = [];
  await around(async () => {
    found.push(await run());
  });
  const [value] = found;
  if (value === undefined) throw new Error('what was to be measured did not run');
  return value;
}

/** What was measured in one round; `landed` where not all that was acknowledged landed. */
export interface RoundMeasurement extends Measurement {
  readonly landed?: number;
  readonly bytes?: number;
}

export function addFigure(figures: ArmFigures, metric: Metric, value: number): void {
  (figures[metric] ??= []).push(value);
}

export function addRound(figures: ArmFigures, load: Load, measured: RoundMeasurement): void {
  const { acknowledged, landed = acknowledged, seconds, latenciesMs, perAgent, bytes } = measured;
  addFigure(figures, 'commitsPerSecond', landed / seconds);
  if (load.filesPerCommit > 1) addFigure(figures, 'filesPerSecond', (landed / seconds) * load.filesPerCommit);
  if (latenciesMs !== undefined) {
    addFigure(figures, 'latencyMsP50', percentileOf(latenciesMs, 0.5));
    addFigure(figures, 'latencyMsP99', percentileOf(latenciesMs, 0.99));
    // Of fewer it would be the slowest by another name.
    if (latenciesMs.length >= 1000) addFigure(figures, 'latencyMsP999', percentileOf(latenciesMs, 0.999));
  }
  if (perAgent !== undefined) {
    addFigure(figures, 'commitsPerAgentMin', perAgent.least);
    addFigure(figures, 'commitsPerAgentMax', perAgent.most);
  }
  if (bytes !== undefined) addFigure(figures, 'bytesPerCommit', bytes / acknowledged);
  addFigure(figures, 'commitsPerRound', acknowledged);
}

/** More than a subject will manage in its time, judged by its rate so far; the rest need not be made up in advance. */
const headroom = 1.6;
const groupsFirst = 2;
const commitsFirst = 64;

/** Commits to make up for a round: whole groups, so that each agent has the same share. */
export function commitsToOffer({ budgetMs, commitsMax }: RoundLimits, inFlight: number, rateSeen: number): number {
  const likely =
    rateSeen === 0 ? Math.max(commitsFirst, groupsFirst * inFlight) : (rateSeen * budgetMs * headroom) / 1000;
  return Math.ceil(Math.min(likely, commitsMax) / inFlight) * inFlight;
}
