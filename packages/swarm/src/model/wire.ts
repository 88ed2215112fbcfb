import type OpenAI from 'openai';
import type { Message, ToolSpec } from './model.ts';

type WireMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type WireTool = OpenAI.Chat.Completions.ChatCompletionTool;

/** A message as chat completions want it. Faulty calls go back with `{}`, so that the history is always valid. */
export function toWireMessage(message: Message): WireMessage {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  if (message.calls.length === 0) return { role: 'assistant', content: message.content };
  return {
    role: 'assistant',
    content: message.content === '' ? null : message.content,
    tool_calls: message.calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    })),
  };
}

export const toWireTool = (tool: ToolSpec): WireTool => ({
  type: 'function',
  function: { name: tool.name, description: tool.description, parameters: { ...tool.parameters } },
});
