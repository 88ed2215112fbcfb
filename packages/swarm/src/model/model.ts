import type { JsonValue } from '../core/json.ts';
import type { Usage } from '../core/usage.ts';

/** A call of a tool, as the model made it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** Parsed; an empty object where `fault` is given, so that no history ever holds broken JSON. */
  readonly arguments: JsonValue;
  /** What is wrong with the call: cut off, or no JSON. A faulty call is never run. */
  readonly fault?: string;
}

export type Message =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly content: string };

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

export interface ModelTurn {
  readonly text: string;
  /** Calls decide what happens next, whatever finish reason came with them. */
  readonly calls: readonly ToolCall[];
  readonly usage: Usage;
  readonly finish: 'stop' | 'length' | 'other';
}

/** A mind behind an agent. */
export interface Model {
  readonly name: string;
  /** Errors: `ModelError`. */
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelTurn>;
}
