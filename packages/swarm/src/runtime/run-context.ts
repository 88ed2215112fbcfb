import type { Author, Change, Outcome, Repo } from '@mound/vcs';
import type { AgentId, RunId, TaskId } from '../core/ids.ts';
import type { Role, RoleKind } from '../core/role.ts';
import type { Time } from '../core/time.ts';
import type { CostLedger } from '../cost/cost-ledger.ts';
import type { Task } from '../core/task.ts';
import type { Model } from '../model/model.ts';
import { refused, type ContentChange, type Refusal } from '../tools/operations.ts';
import type { Ledger } from './ledger.ts';
import type { Tally } from './tally.ts';

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

/** What all of a run's agents share. */
export class RunContext {
  readonly repo: Repo;
  readonly run: RunId;
  readonly time: Time;
  readonly costs: CostLedger;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly leaseMs: number;
  readonly answerCharsMax: number;
  /** Whole definitions of the tasks that have not been reported to the planner. */
  readonly tasks: Map<TaskId, Task> = new Map();
  readonly #roles: Readonly<Record<RoleKind, Role>>;
  readonly #models: Readonly<Record<string, Model>>;
  readonly #content: ContentSource | undefined;
  readonly #onAcknowledged: AcknowledgedHook | undefined;

  constructor(parts: {
    readonly repo: Repo;
    readonly run: RunId;
    readonly time: Time;
    readonly costs: CostLedger;
    readonly ledger: Ledger;
    readonly tally: Tally;
    readonly leaseMs: number;
    readonly answerCharsMax: number;
    readonly roles: Readonly<Record<RoleKind, Role>>;
    readonly models: Readonly<Record<string, Model>>;
    readonly content: ContentSource | undefined;
    readonly onAcknowledged: AcknowledgedHook | undefined;
  }) {
    this.repo = parts.repo;
    this.run = parts.run;
    this.time = parts.time;
    this.costs = parts.costs;
    this.ledger = parts.ledger;
    this.tally = parts.tally;
    this.leaseMs = parts.leaseMs;
    this.answerCharsMax = parts.answerCharsMax;
    this.#roles = parts.roles;
    this.#models = parts.models;
    this.#content = parts.content;
    this.#onAcknowledged = parts.onAcknowledged;
  }

  role(kind: RoleKind): Role {
    return this.#roles[kind];
  }

  model(kind: RoleKind): Model {
    const { name, model } = this.#roles[kind];
    const found = this.#models[model];
    if (found === undefined) throw new Error(`no model '${model}' for the role '${name}'`);
    return found;
  }

  /** The name is unique in a run; `agent` is unique in the repository. */
  author(kind: RoleKind, agent: AgentId): Author {
    const { name, model } = this.#roles[kind];
    const serving = this.#models[model]?.name ?? model;
    return { name: agent, kind: 'agent', agent: this.agentName(agent), role: name, model: serving };
  }

  agentName(agent: AgentId): string {
    return `${this.run}/${agent}`;
  }

  async bytes(change: ContentChange): Promise<Refusal | NewBytes> {
    const { path, content, encoding, contentRef } = change;
    if (contentRef === undefined) {
      const isText = encoding === undefined || content === undefined || content === null;
      return { kind: 'bytes', bytes: isText ? content : Buffer.from(content, 'base64') };
    }
    if (content !== undefined) return refused(`${path}: give content or contentRef, not both.`);
    if (this.#content === undefined) return refused(`${path}: this run holds no content by reference; give content.`);
    return { kind: 'bytes', bytes: await this.#content(contentRef) };
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
    this.tally.landing(isResolution && landed ? 'resolved' : outcome.kind, performance.now() - startedMs);
    if (this.#onAcknowledged === undefined || outcome.kind === 'rejected') return;
    await this.#onAcknowledged(agent, { operationId, outcome, paths: this.#blobs(outcome, paths) });
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
