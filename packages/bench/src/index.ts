export {
  audit,
  leakCheck,
  type AuditOptions,
  type AuditResult,
  type CheckReport,
  type Finding,
  type LeakOptions,
} from './audit/index.ts';
export { main } from './cli/main.ts';
export {
  publishedThresholds,
  scoreCurve,
  type CategoryCount,
  type Culprit,
  type CurveOptions,
  type CurvePoint,
  type CurveResult,
  type PointState,
  type Reached,
  type Regression,
  type Scorer,
} from './curve/index.ts';
export { experimentSuite } from './experiment/experiment.ts';
export { runCommand, startCommand, type CommandOptions, type RunningCommand } from './harness/child-process.ts';
export { CommandHost } from './harness/command-host.ts';
export { Interrupted, throwIfInterrupted } from './harness/interrupt.ts';
export { describeMachine, gitVersion, type Machine } from './harness/machine.ts';
export { isMetric, unitOf, type Metric } from './harness/metric.ts';
export { runGroups, runInFlight, type Measurement, type RunOptions } from './harness/measurement.ts';
export {
  formatVersion,
  parseResultFile,
  sampleOf,
  type EvidenceTable,
  type ResultFile,
  type Sample,
  type WorkloadFields,
} from './harness/result-file.ts';
export { rotate, runRounds } from './harness/rounds.ts';
export { medianOf, percentileOf, summarize, type Summary } from './harness/statistics.ts';
export { diskBytesOf, withTempDir } from './harness/temp-dir.ts';
export { markdownReport } from './report/markdown.ts';
export { textReport } from './report/text.ts';
export { conformanceChecks, type ConformanceCheck } from './subjects/conformance.ts';
export { commitSubjects, slowedMoundSubject } from './subjects/index.ts';
export { measureSubject, type SubjectFinding, type SubjectRun } from './subjects/measure-subject.ts';
export type { AttachedSubject, Durability, Pace, PreparedSubject, Subject } from './subjects/subject.ts';
export { suites } from './suites/index.ts';
export {
  noProgress,
  UsageError,
  type Progress,
  type Suite,
  type SuiteContext,
  type SuiteOption,
  type SuiteOutcome,
  type SuiteSize,
} from './suites/suite.ts';
export { acknowledgedBy } from './workloads/acknowledged.ts';
export type {
  Acknowledged,
  CommitOperation,
  FileChange,
  FileMode,
  InitialFiles,
  OperationStream,
} from './workloads/operation.ts';
export { W1, type AgentsPart, type W1Parameters } from './workloads/w1.ts';
