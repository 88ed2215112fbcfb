import type { Author, Change, Outcome, Repo } from '@mound/vcs';
import type { Coordination, Mechanism, Safeguard, Switch } from '../core/coordination.ts';
import type { GreenSettings } from '../core/green.ts';
import { rootTask, type AgentId, type RunId, type TaskId } from '../core/ids.ts';
import type { Role, Roles, ToolName } from '../core/role.ts';
import type { Task } from '../core/task.ts';
import type { Time } from '../core/time.ts';
import type { CostLedger } from '../cost/cost-ledger.ts';
import type { PriceBook } from '../cost/prices.ts';
import type { SwarmEvent } from '../events/event.ts';
import type { Model } from '../model/model.ts';
import { refused, type ContentChange, type Refusal } from '../tools/operations.ts';
import type { BudgetBook, Draws, OwnNode } from './budget-book.ts';
import type { CommandRoom } from './command-room.ts';
import { FieldGuide } from './field-guide.ts';
import type { RunKeys } from './run-keys.ts';
import type { RunPolicy, SwarmLimits } from './run-options.ts';
import type { Tally } from './tally.ts';
import type { TaskBook } from './task-book.ts';

/** One intent that the store took: landed, merged, unchanged, or kept as a conflict or parked. */
export interface Acknowledgement {
  readonly operationId: string;
  readonly outcome: Outcome;
  /** The blob that stands for the path where it landed, or the agent's own where it is in conflict; none where deleted or parked. */
  readonly paths: readonly { readonly path: string; readonly blob?: string }[];
}

export type AcknowledgedHook = (agent: AgentId, acknowledgement: Acknowledgement) => void | Promise<void>;

/** Resolves a `contentRef`: artefacts by reference, so that bytes need not pass through a model. */
export type ContentSource = (ref: string) => Uint8Array | Promise<Uint8Array>;

/** null deletes, undefined leaves the bytes as they are. */
export interface NewBytes {
  readonly kind: 'bytes';
  readonly bytes: Uint8Array | string | null | undefined;
}

export interface RunParts {
  readonly repo: Repo;
  readonly keys: RunKeys;
  readonly time: Time;
  readonly book: TaskBook;
  readonly budgets: BudgetBook;
  /** On which agents' requests draw. */
  readonly draws: Draws;
  readonly commands: CommandRoom;
  readonly tally: Tally;
  readonly limits: SwarmLimits;
  readonly policy: RunPolicy;
  readonly prices: PriceBook;
  /** Where what was spent is counted. */
  readonly costs: Pick<CostLedger, 'record'>;
  readonly roles: Roles;
  readonly models: Readonly<Record<string, Model>>;
  readonly content: ContentSource | undefined;
  readonly onAcknowledged: AcknowledgedHook | undefined;
}

/** What all of a run's agents share. */
export class RunContext {
  readonly parts: RunParts;
  readonly repo: Repo;
  readonly run: RunId;
  readonly keys: RunKeys;
  readonly book: TaskBook;
  /** Where events of the run go. */
  announce: (event: SwarmEvent) => void = () => undefined;
  /** What is on and can be had. */
  readonly coordination: Coordination;
  /** undefined where it is off. */
  readonly guide: FieldGuide | undefined;
  /** Whole definitions of the tasks that have not been reported to their planner. */
  readonly tasks: Map<TaskId, Task> = new Map();

  constructor(parts: RunParts) {
    this.parts = parts;
    this.repo = parts.repo;
    this.run = parts.keys.run;
    this.keys = parts.keys;
    this.book = parts.book;
    const { policy, roles, models } = parts;
    const had = (name: 'merger' | 'reconciler'): Switch =>
      models[roles[name].model] === undefined ? 'off' : policy.coordination[name];
    this.guide =
      policy.coordination['field-guide'] === 'on' ? new FieldGuide(parts.repo, parts.time, policy.guide) : undefined;
    this.coordination = { ...policy.coordination, merger: had('merger'), reconciler: had('reconciler') };
  }

  #isOff(mechanism: Mechanism | undefined): boolean {
    return mechanism !== undefined && !this.isOn(mechanism);
  }

  /** Always true, but in an experiment that does without. */
  has(safeguard: Safeguard): boolean {
    return this.parts.policy.unsafeWithout?.includes(safeguard) !== true;
  }

  /** What keeps green; undefined where nobody does. */
  get green(): GreenSettings | undefined {
    return this.isOn('green') ? this.parts.policy.green : undefined;
  }

  /** Marked files are split. */
  get isDecomposing(): boolean {
    const { models, roles } = this.parts;
    return this.isOn('megafiles') && models[roles.decomposer.model] !== undefined;
  }

  isOn(mechanism: Mechanism): boolean {
    return this.coordination[mechanism] === 'on';
  }

  /** The role of a task, without the tools of what is off. */
  role(name: string): Role {
    const role = this.parts.roles[name];
    if (role === undefined) throw new Error(`there is no role '${name}'`);
    const off = role.tools.filter((tool) => this.#isOff(mechanismOfTool[tool]));
    return off.length === 0 ? role : { ...role, tools: role.tools.filter((tool) => !off.includes(tool)) };
  }

  model(role: Role): Model {
    const found = this.parts.models[role.model];
    if (found === undefined) throw new Error(`no model '${role.model}' for the role '${role.name}'`);
    return found;
  }

  /** The name is unique in a run; `agent` is unique in the repository. */
  author(role: Role, agent: AgentId): Author {
    const serving = this.parts.models[role.model]?.name ?? role.model;
    return { name: agent, kind: 'agent', agent: this.agentName(agent), role: role.name, model: serving };
  }

  agentName(agent: AgentId): string {
    return `${this.run}/${agent}`;
  }

  /** The task's definition, from memory or from its record. */
  mustTask(id: TaskId): Task {
    const task = this.tasks.get(id) ?? this.book.task(id);
    if (task === undefined) throw new Error(`task ${id} has no definition`);
    this.tasks.set(id, task);
    return task;
  }

  /** Nodes of the budget tree from the task's own, or the nearest above it, up to the goal's. */
  drawChain(id: TaskId): [TaskId, ...TaskId[]] {
    const chain: TaskId[] = [];
    for (let at = id; at !== rootTask; at = this.mustTask(at).parent) {
      if (this.mustTask(at).budget !== undefined) chain.push(at);
    }
    const [first, ...rest] = chain;
    return first === undefined ? [rootTask] : [first, ...rest, rootTask];
  }

  /** The node that was made for the task itself; undefined where it draws on its planner's. */
  ownNode(id: TaskId): OwnNode | undefined {
    const [own, above] = this.drawChain(id);
    return own === id && above !== undefined ? { id, above } : undefined;
  }

  async bytes(change: ContentChange): Promise<Refusal | NewBytes> {
    const { path, content, encoding, contentRef } = change;
    if (contentRef === undefined) {
      const isText = encoding === undefined || content === undefined || content === null;
      return { kind: 'bytes', bytes: isText ? content : Buffer.from(content, 'base64') };
    }
    if (content !== undefined) return refused(`${path}: give content or contentRef, not both.`);
    const source = this.parts.content;
    if (source === undefined) return refused(`${path}: this run holds no content by reference; give content.`);
    return { kind: 'bytes', bytes: await source(contentRef) };
  }

  /** Counts an answered intent and tells the hook of it, where the store took it. */
  async acknowledge(
    agent: AgentId,
    operationId: string,
    outcome: Outcome,
    paths: readonly string[],
    startedMs: number,
    isResolution = false,
  ): Promise<void> {
    const landed = outcome.kind === 'landed' || outcome.kind === 'merged';
    const kind = isResolution && landed ? 'resolved' : outcome.kind;
    const ms = performance.now() - startedMs;
    this.announce({ kind: 'intent.answered', agent, outcome: kind, ms, paths, ...(landed && { seq: outcome.seq }) });
    const hook = this.parts.onAcknowledged;
    if (hook === undefined || outcome.kind === 'rejected') return;
    await hook(agent, { operationId, outcome, paths: this.#blobs(outcome, paths) });
  }

  #blobs(outcome: Outcome, paths: readonly string[]): Acknowledgement['paths'] {
    if (outcome.kind === 'rejected' || outcome.kind === 'parked') return paths.map((path) => ({ path }));
    const incoming =
      outcome.kind === 'conflicted'
        ? new Map(this.repo.conflict(outcome.conflict).paths.map((side) => [side.path as string, side.incoming.blob]))
        : undefined;
    const snapshot = incoming === undefined ? this.repo.snapshot(outcome.seq) : undefined;
    return paths.map((path) => {
      const blob = incoming === undefined ? snapshot?.head(path)?.blob : incoming.get(path);
      return blob === undefined ? { path } : { path, blob };
    });
  }
}

/** A put, a delete or a change of mode, as the model asked for it. */
export function changeOf(change: ContentChange, bytes: NewBytes['bytes'], expect: Change['expect']): Change | Refusal {
  const { path, mode } = change;
  if (bytes === null) return { kind: 'delete', path, expect };
  if (bytes !== undefined) return { kind: 'put', path, content: bytes, expect, ...(mode && { mode }) };
  if (mode !== undefined) return { kind: 'chmod', path, mode, expect };
  return refused(`${path}: nothing to change; give content (null deletes it) or a mode.`);
}

/** Tools that are of no use without their mechanism. */
const mechanismOfTool: Partial<Record<ToolName, Mechanism>> = { flag: 'megafiles', note: 'field-guide' };
