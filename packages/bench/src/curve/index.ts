export {
  publishedThresholds,
  type CategoryCount,
  type Culprit,
  type CurvePoint,
  type CurveResult,
  type PointState,
  type Reached,
  type Regression,
} from './curve.ts';
export { runCommits } from './run-commits.ts';
export { scoreCurve, type CurveOptions } from './score-curve.ts';
export type { Scorer } from './scorer.ts';
