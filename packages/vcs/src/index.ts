export type { CompactReport } from './core/compact-report.ts';
export {
  exitCodeOfError,
  exitCodes,
  isMoundError,
  MoundError,
  type ErrorCode,
  type ErrorFields,
} from './core/errors.ts';
export {
  formatCursor,
  parseCursor,
  startCursor,
  type Cursor,
  type EventKind,
  type FlagSignal,
  type RepoEvent,
  type SideAuthor,
} from './core/event.ts';
export type { BlobId, CommitId, ConflictId, FileVersion, ParkedId, RepoPath, Seq } from './core/ids.ts';
export {
  absent,
  any,
  version,
  type Author,
  type AuthorKind,
  type Change,
  type DiscardCause,
  type HunkAccount,
  type HunkFate,
  type Intent,
  type Precondition,
  type Read,
  type RecordWrite,
} from './core/intent.ts';
export {
  breakageOf,
  type Breakage,
  type Diagnostic,
  type DiagnosticTool,
  type Evidence,
  type SourceLine,
  type SourcePlace,
} from './breakage/index.ts';
export {
  firstBad,
  keepGreen,
  readGreen,
  verdictOfCode,
  writeSnapshot,
  type CheckEnd,
  type CheckOptions,
  type CheckRunner,
  type CheckVerdict,
  type CheckView,
  type CulpritAction,
  type CulpritView,
  type GreenOptions,
  type GreenPolicy,
  type GreenReport,
  type GreenView,
  type HeadVerdict,
} from './check/index.ts';
export {
  decisionPath,
  generateSymbols,
  hashOfDecision,
  isDecisionId,
  isDocumentFault,
  parseDecision,
  parseFrontMatter,
  renderDecision,
  renderFrontMatter,
  type Decision,
  type DecisionReport,
  type DecisionStatus,
  type DocumentFault,
  type Field,
  type FrontMatter,
  type Reference,
  type ReferenceStanding,
  type StandingDecision,
} from './decisions/index.ts';
export type { WaitReport } from './core/wait-report.ts';
export { limits } from './core/limits.ts';
export { type Mode } from './core/mode.ts';
export type {
  Conflicted,
  DriverNote,
  Landed,
  LinesVerdict,
  Merged,
  MergedPath,
  Outcome,
  OutcomeKind,
  Parked,
  Rejected,
  RejectionCode,
  StaleDetail,
  StructureVerdict,
  Unchanged,
} from './core/outcome.ts';
export { seededRandom, steppingClock, systemClock, systemRandom, type Clock, type Random } from './core/ports.ts';
export {
  conflictKindOf,
  detectRenames,
  Drivers,
  joinLines,
  mergeFile,
  mergeLines,
  MergePool,
  splitLines,
  type ConflictKind,
  type CleanMerge,
  type CleanVerdict,
  type ConflictHunk,
  type ConflictReason,
  type ConflictVerdict,
  type ConflictedMerge,
  type DriverInput,
  type DriverVerdict,
  type FileState,
  type HunkSide,
  type LineRange,
  type MergeDriver,
  type MergeInput,
  type MergeResult,
  type Region,
  type Rename,
  type RenameFile,
  type RenameOptions,
} from './merge/index.ts';
export type { LineEndSettings } from './attributes/index.ts';
export type * from './repo/api.ts';
export type * from './repo/decision-api.ts';
export { withBreakageComment } from './repo/breakage-comment.ts';
export type * from './repo/workspace-api.ts';
export type * from './views/types.ts';
export { defaultSignals, signalsRecord, type SignalPolicy } from './rules/signals.ts';
export type { NamedRule, Rule, RuleSubjects } from './rules/rule.ts';
export { ruleRecord } from './rules/rule-record.ts';
export { unifiedDiff, type DiffSide } from './views/unified.ts';
export { fsckRepo, repairRepo } from './repo/care.ts';
export { initRepo, openRepo, type Ports } from './repo/open.ts';
export {
  addWorkspace,
  findWorkspaceDir,
  materialise,
  openWorkspace,
  pruneWorkspaces,
  removeWorkspace,
  type WorkspaceDirectory,
  type AddedWorkspace,
  type AddOptions,
  type WorkspaceOpenOptions,
  type WorkspaceRemoveOptions,
  type DirectoryChange,
  type DirectoryStatus,
  type DirectorySync,
  type PrunedWorkspace,
  type PruneOptions,
  type PruneReason,
  type PruneReport,
  type CachePruning,
  type SkippedPath,
  type WrittenTree,
} from './workspace/index.ts';
