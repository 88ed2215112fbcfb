import { createHash } from 'node:crypto';
import type OpenAI from 'openai';
import type { JsonObject } from '../../core/json.ts';
import type { AssistantMessage, Message, ModelRequest, ToolCall, ToolSpec } from '../model.ts';
import type { Quirks } from './quirks.ts';

type WireMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type WireTool = OpenAI.Chat.Completions.ChatCompletionTool;

/** To whom a history is written. */
export interface Addressee {
  readonly endpoint: string;
  readonly model: string;
  readonly quirks: Quirks;
}

/**
 * A history as chat completions want it: faulty calls go back with `{}`; ids are
 * those that the provider gave, made different where two of one turn are alike;
 * what a provider sent beside its calls goes back to it, and to nobody else.
 */
export function toWireMessages(messages: readonly Message[], to: Addressee): WireMessage[] {
  const ids = new Map<string, string>();
  return messages.map((message): WireMessage => {
    if (message.role === 'tool') {
      return { role: 'tool', tool_call_id: ids.get(message.callId) ?? message.callId, content: message.content };
    }
    if (message.role !== 'assistant') return { role: message.role, content: message.content };
    const used = new Set<string>();
    for (const call of message.calls) {
      const id = freeId(idFor(call, to.quirks), used, to.quirks);
      used.add(id);
      ids.set(call.id, id);
    }
    return toWireTurn(message, ids, to);
  });
}

function toWireTurn(message: AssistantMessage, ids: ReadonlyMap<string, string>, to: Addressee): WireMessage {
  const { content, calls, origin } = message;
  const isOwn = origin !== undefined && origin.endpoint === to.endpoint && origin.model === to.model;
  const { reasoning: policy, echoedFields, emptyContent } = to.quirks;
  const thought = isOwn ? origin.reasoning : undefined;
  const isEchoed = policy === 'echo' || (policy === 'echo-with-calls' && calls.length > 0);
  const beside: JsonObject = {
    ...(isOwn && pick(origin.extras ?? {}, echoedFields)),
    ...(thought !== undefined && isEchoed && { [thought.field]: thought.text }),
  };
  const text = content === '' && calls.length > 0 && emptyContent === 'null' ? null : content;
  return {
    ...beside,
    role: 'assistant',
    content: text,
    ...(calls.length > 0 && { tool_calls: calls.map((call) => toWireCall(call, ids.get(call.id) ?? call.id, isOwn)) }),
  };
}

const pick = (from: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(fields.filter((field) => from[field] !== undefined).map((field) => [field, from[field]]));

function toWireCall(call: ToolCall, id: string, isOwn: boolean): OpenAI.Chat.Completions.ChatCompletionMessageToolCall {
  const { function: within, ...beside } = isOwn ? (call.extras ?? {}) : {};
  return {
    ...beside,
    id,
    type: 'function',
    function: { ...(within as object | undefined), name: call.name, arguments: JSON.stringify(call.arguments) },
  };
}

const nine = /^[A-Za-z0-9]{9}$/;

function idFor(call: ToolCall, quirks: Quirks): string {
  const id = call.wireId ?? call.id;
  return quirks.callIds === 'any' || nine.test(id) ? id : nineOf(id);
}

const nineOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 9);

function freeId(id: string, used: ReadonlySet<string>, quirks: Quirks): string {
  if (!used.has(id)) return id;
  for (let number = 1; ; number++) {
    const next = quirks.callIds === 'any' ? `${id}_${number}` : nineOf(`${id}_${number}`);
    if (!used.has(next)) return next;
  }
}

export const toWireTool = (tool: ToolSpec): WireTool => ({
  type: 'function',
  function: { name: tool.name, description: tool.description, parameters: { ...tool.parameters } },
});

/** Bytes of what a model has to read, for estimates. */
export function requestBytes({ messages, tools }: ModelRequest): number {
  let bytes = tools.length > 0 ? Buffer.byteLength(JSON.stringify(tools)) : 0;
  for (const message of messages) {
    bytes += Buffer.byteLength(message.content) + 8;
    if (message.role !== 'assistant') continue;
    for (const call of message.calls) bytes += call.name.length + Buffer.byteLength(JSON.stringify(call.arguments));
  }
  return bytes;
}
