export type { Brief, MergerBrief, PlannerBrief, WorkerBrief } from './core/brief.ts';
export type { AgentId, RunId, TaskId } from './core/ids.ts';
export type { JsonValue } from './core/json.ts';
export type { ModelName, Role, RoleKind, ToolName } from './core/role.ts';
export type { Handoff, HandoffStatus, Task, TaskOutcome, TaskReport } from './core/task.ts';
export type { Usage } from './core/usage.ts';
export type { AgentEndReason, RunEndReason, SwarmEvent, SwarmEventKind } from './events/event.ts';
export { ModelError, type ModelErrorCode } from './model/model-error.ts';
export type { Message, Model, ModelRequest, ModelTurn, ToolCall, ToolSpec } from './model/model.ts';
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
export { roles } from './roles/roles.ts';
export type { AcknowledgedHook, Acknowledgement, ContentSource } from './runtime/run-context.ts';
export { runSwarm, type SwarmLimits, type SwarmOptions, type SwarmResult } from './runtime/run-swarm.ts';
export type { LandingTimes, OutcomeCounts, RoleSpend } from './runtime/tally.ts';
export { schedule, type Directive } from './schedule/schedule.ts';
export { reduce } from './state/reduce.ts';
export { initialState, type AgentState, type ConflictState, type SwarmState, type TaskState } from './state/state.ts';
