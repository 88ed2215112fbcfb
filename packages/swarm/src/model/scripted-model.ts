import { parseBrief, type Brief } from '../core/brief.ts';
import type { JsonValue } from '../core/json.ts';
import { estimateTokens, type Usage } from '../core/usage.ts';
import { ModelError } from './model-error.ts';
import type { Model, ModelRequest, ModelTurn } from './model.ts';

/** One answer of a script. */
export interface ScriptedTurn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: JsonValue }[];
  /** Estimated, and marked so, where it is not given. */
  readonly usage?: Usage;
}

export interface ScriptedResult {
  readonly name: string;
  /** The tool's answer: `ok`, `says`, and what the tool adds. */
  readonly value: { readonly ok: boolean; readonly says: string; readonly [key: string]: JsonValue | undefined };
}

/** What a script sees: the request, and the parts that it would read out of it. */
export interface ScriptView {
  readonly request: ModelRequest;
  /** Answers that this agent has had before. */
  readonly turn: number;
  readonly brief: Brief;
  /** Results of the calls of the turn before. */
  readonly results: readonly ScriptedResult[];
}

/** A function from what the agent sees to its next turn, or a table of turns by number. */
export type Script =
  ((view: ScriptView, signal: AbortSignal) => ScriptedTurn | Promise<ScriptedTurn>) | readonly ScriptedTurn[];

/**
 * A model that is a program: for tests, replays and swarms without a provider.
 * It keeps no state of its own, so the same request always has the same turn
 * (as far as its scripts do).
 */
export class ScriptedModel implements Model {
  readonly name: string;
  readonly #scripts: Readonly<Record<string, Script>>;

  /** `scripts`: by name of the role; a peer without one has the worker's. */
  constructor(scripts: Readonly<Record<string, Script>>, name = 'scripted') {
    this.name = name;
    this.#scripts = scripts;
  }

  async complete(request: ModelRequest, signal: AbortSignal): Promise<ModelTurn> {
    const script = this.#scripts[request.role] ?? (request.role === 'peer' ? this.#scripts['worker'] : undefined);
    if (script === undefined) throw new ModelError('script-missing', `no script for the role '${request.role}'`);
    const view = viewOf(request);
    const scripted = typeof script === 'function' ? await script(view, signal) : script[view.turn];
    if (scripted === undefined) {
      throw new ModelError('script-missing', `the script of '${request.role}' has no turn ${view.turn}`);
    }
    const { text = '', calls = [] } = scripted;
    const usage = scripted.usage ?? estimateUsage(request, text);
    return {
      text,
      calls: calls.map((call, at) => ({ id: `call_${view.turn}_${at}`, name: call.name, arguments: call.arguments })),
      usage,
      finish: 'stop',
      // A program takes no money; an operator may price it all the same.
      spent: [{ model: this.name, usage, costUsd: 0 }],
    };
  }
}

function viewOf(request: ModelRequest): ScriptView {
  const { messages } = request;
  const turn = messages.reduce((count, message) => count + (message.role === 'assistant' ? 1 : 0), 0);
  const first = messages.find((message) => message.role === 'user');
  const brief = first === undefined ? undefined : parseBrief(first.content);
  if (brief === undefined) throw new ModelError('script-missing', 'the request holds no brief');
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const results = messages
    .slice(last + 1)
    .flatMap((message) =>
      message.role === 'tool'
        ? [{ name: message.name, value: JSON.parse(message.content) as ScriptedResult['value'] }]
        : [],
    );
  return { request, turn, brief, results };
}

function estimateUsage(request: ModelRequest, text: string): Usage {
  const characters = request.messages.reduce((sum, message) => sum + message.content.length, 0);
  return {
    inputTokens: estimateTokens(characters),
    outputTokens: estimateTokens(text.length),
    cachedTokens: 0,
    estimated: true,
  };
}
