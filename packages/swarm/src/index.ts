export { readUse as readGuideUse } from './runtime/field-guide.ts';
export type { GuideUse, NoteUse } from './knowledge/uses.ts';
export { environmentFor } from './command/environment.ts';
export { runCommand, toolLimits, type CommandEnd, type CommandLimits } from './command/run-command.ts';
export { detectSandbox, sandboxed, shellWord, type Sandbox } from './command/sandbox.ts';
export type { CommandSettings } from './runtime/command-room.ts';
export { unlimited, type Amount, type Bound, type Cap } from './core/amount.ts';
export type { BudgetNode } from './state/budget.ts';
export type {
  Brief,
  Decision,
  DecomposerBrief,
  MergerBrief,
  MergerWork,
  PlannerBrief,
  ReconcilerBrief,
  ReviewerBrief,
  WorkerBrief,
} from './core/brief.ts';
export {
  allOff,
  allOn,
  coordinationOf,
  safeguards,
  type Safeguard,
  mechanisms,
  type Coordination,
  type Mechanism,
  type Switch,
} from './core/coordination.ts';
export type { AgentId, RunId, TaskId } from './core/ids.ts';
export type { JsonValue } from './core/json.ts';
export type { ModelName, Role, RoleKind, ToolName } from './core/role.ts';
export type { Handoff, HandoffStatus, Task, TaskOutcome, TaskReport } from './core/task.ts';
export type { Time } from './core/time.ts';
export { estimateTokens, type Spend, type Usage } from './core/usage.ts';
export { addCosts, formatCost, type CostReport, type CostSum } from './cost/cost-ledger.ts';
export type { PriceOverride } from './cost/prices.ts';
export type { AgentEndReason, RunEndReason, SwarmEvent, SwarmEventKind } from './events/event.ts';
export { CassetteWriter, RecordingModel } from './model/cassette/recording-model.ts';
export { ReplayModel } from './model/cassette/replay-model.ts';
export { CommandModel, type CommandModelOptions } from './model/command/command-model.ts';
export type { Collected, CollectedChange, CommandWorkspaces } from './model/command/workspaces.ts';
export { FallbackModel } from './model/fallback-model.ts';
export { Endpoints, type EndpointsOptions } from './model/gate/endpoints.ts';
export type { GatePolicy } from './model/gate/gate.ts';
export { MailboxModel, type MailboxOptions } from './model/mailbox-model.ts';
export { ModelError, type ModelErrorCode } from './model/model-error.ts';
export type {
  AskOptions,
  Message,
  Model,
  ModelNotice,
  ModelRequest,
  ModelTurn,
  ToolCall,
  ToolSpec,
  TurnOrigin,
  TurnWarning,
} from './model/model.ts';
export { OpenAiModel, type OpenAiModelOptions } from './model/openai-model.ts';
export type { RetryPolicy } from './model/retry.ts';
export {
  ScriptedModel,
  type Script,
  type ScriptedResult,
  type ScriptedTurn,
  type ScriptView,
} from './model/scripted-model.ts';
export { serveModel, type ModelServer } from './model/serve-model.ts';
export type { Quirks } from './model/wire/quirks.ts';
export { defineConfig, parseConfig, type EffectiveConfig, type SwarmConfig } from './config/config.ts';
export { handsOf } from './config/hand-minds.ts';
export { layered } from './config/layers.ts';
export { loadConfig } from './config/load.ts';
export { makeModels, type ReadyMinds } from './config/make-models.ts';
export { redacted } from './config/redact.ts';
export { saysOf } from './config/schema-issue.ts';
export { scoreOf } from './config/score.ts';
export { commandsOf, settingsOf } from './config/settings.ts';
export type { HandModule, HandParts } from './runtime/hands/hand-process.ts';
export type { ProcessesOptions } from './runtime/hands/hands.ts';
export { RepoDirectories } from './runtime/repo-directories.ts';
export { parsePrompt, shippedRoles } from './roles/roles.ts';
export type { AcknowledgedHook, Acknowledgement, ContentSource } from './runtime/run-context.ts';
export { sendControl, type Control } from './runtime/control.ts';
export type { GivenTask, ResumeOptions, RunPolicy, SwarmLimits, SwarmOptions } from './runtime/run-options.ts';
export { readRun, type QuestionView, type RunView } from './runtime/run-view.ts';
export { listRuns, type RunHeader } from './runtime/run-header.ts';
export { readTranscript, type ReadTranscript, type TranscriptLine } from './runtime/transcript.ts';
export type { AgentRecord } from './runtime/agent-life.ts';
export type { TaskRecord } from './runtime/task-book.ts';
export { resumeSwarm, runSwarm, type SwarmResult } from './runtime/run-swarm.ts';
export type { MergeReport } from './runtime/merge-tally.ts';
export type { Survival } from './runtime/survival.ts';
export type { LandingTimes, OutcomeCounts, RoleSpend } from './runtime/tally.ts';
export { schedule, type Directive } from './schedule/schedule.ts';
export { reduce } from './state/reduce.ts';
export { initialState, type AgentState, type ConflictState, type SwarmState, type TaskState } from './state/state.ts';
export { faultOfLenses, type Finding, type Lens, type ReviewPolicy, type Sight, type Verdict } from './core/lens.ts';
export {
  corpusOf,
  defectKinds,
  pointsAt,
  type Defect,
  type DefectKind,
  type RealDiff,
  type ReviewCase,
} from './review/corpus.ts';
export type { LensPair, LensReport, Review, ReviewCost, ReviewReport } from './review/review-ledger.ts';
export type { GreenCulprit, GreenSettings, GreenSpan, GreenSummary } from './core/green.ts';
export { realDiffs } from './review/real-diffs.ts';
export { runReviewTrial, type ReviewTrialOptions } from './runtime/review-trial.ts';
export { scoreReviews, type CorpusScore, type LensScore } from './review/score.ts';
