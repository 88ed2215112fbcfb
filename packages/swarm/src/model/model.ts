import type { TracerLike } from '../core/tracer.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type { Spend, Usage } from '../core/usage.ts';

/** A call of a tool, as the model made it. */
export interface ToolCall {
  /** Unique within an agent's history ({@link ../model/history.ts}). */
  readonly id: string;
  readonly name: string;
  /** Parsed; an empty object where `fault` is given, so that no history ever holds broken JSON. */
  readonly arguments: JsonValue;
  /** What is wrong with the call: cut off, or no JSON. A faulty call is never run. */
  readonly fault?: string;
  /** The id that the provider gave, where it is another: what stands on the wire. */
  readonly wireId?: string;
  /** What else the provider sent with the call (a thought signature): echoed to it as it was. */
  readonly extras?: JsonObject;
}

/** What a provider wants to have back with its own turn, and nobody else. */
export interface TurnOrigin {
  readonly endpoint: string;
  readonly model: string;
  /** Fields of the message beside content and calls: `reasoning_details`, signatures. */
  readonly extras?: JsonObject;
  /** Thoughts in words, under the name of their field. */
  readonly reasoning?: { readonly field: string; readonly text: string };
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  readonly calls: readonly ToolCall[];
  readonly origin?: TurnOrigin;
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly content: string;
}

export type Message = { readonly role: 'system' | 'user'; readonly content: string } | AssistantMessage | ToolMessage;

/** What a model is told about a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  /** Name of the role that asks; over the wire of `serveModel` it is the model's name. */
  readonly role: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
}

/** Something that whoever watches the run should know of a turn that succeeded. */
export interface TurnWarning {
  readonly code: 'context-cut';
  readonly says: string;
  /** Tokens that the server really took. */
  readonly contextTokens: number;
}

export interface ModelTurn {
  readonly text: string;
  /** Calls decide what happens next, whatever finish reason came with them. */
  readonly calls: readonly ToolCall[];
  /** Of the request that gave this turn. */
  readonly usage: Usage;
  readonly finish: 'stop' | 'length' | 'other';
  readonly origin?: TurnOrigin;
  /** One entry for each request that was made for this turn, failed ones included; absent: `usage`, by the model's name. */
  readonly spent?: readonly Spend[];
  readonly warnings?: readonly TurnWarning[];
}

/** What goes on while a model is asked. */
export type ModelNotice =
  /** Nothing is being asked before `until` (ms since 1970). */
  | { readonly kind: 'waiting'; readonly until: number; readonly reason: string }
  | { readonly kind: 'asking' }
  | { readonly kind: 'fallback'; readonly from: string; readonly to: string; readonly reason: string };

export interface AskOptions {
  readonly notice?: (notice: ModelNotice) => void;
  /** Longest time in all that this request may wait to be sent; then `unavailable` or the provider's own error. */
  readonly waitMsMax?: number;
}

/**
 * A mind behind an agent: the transcript in, its next step out. Behind it is an
 * endpoint, a command, a mailbox, a script or a recording; an agent cannot tell.
 */
export interface Model {
  readonly name: string;
  /** Base URL that serves it, where one does: prices go by it. */
  readonly endpoint?: string | undefined;
  /** Tokens of request and answer together; undefined: not known. */
  readonly contextTokens?: number | undefined;
  /** What one request may cost at most, in US dollars, where it bounds that itself. */
  readonly costUsdMax?: number | undefined;
  /** How long it may take to put away what it had begun, once its signal aborts; default: no time at all. */
  readonly abortMsMax?: number;
  /** Where its requests are spans; the agents that ask it and their calls of tools then are, too. */
  readonly tracer?: TracerLike;
  /** Errors: `ModelError`. */
  complete(request: ModelRequest, signal: AbortSignal, options?: AskOptions): Promise<ModelTurn>;
}

/** What a turn cost in tokens, by whoever served it. */
export const spentOf = (turn: ModelTurn, model: Model): readonly Spend[] =>
  turn.spent ?? [{ model: model.name, usage: turn.usage }];
