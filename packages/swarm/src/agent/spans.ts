import { failSpan, inSpan, spanKind } from '../core/tracer.ts';
import type { Model, ToolCall } from '../model/model.ts';
import type { ToolAnswer } from '../tools/tool.ts';
import type { AgentEnd } from './agent.ts';

interface Traced {
  /** Default: not told. */
  readonly agent?: string;
  readonly role: { readonly name: string };
  readonly model: Pick<Model, 'name' | 'tracer'>;
}

const agentAttributes = ({ agent, role }: Traced): Record<string, string> => ({
  'gen_ai.agent.name': role.name,
  ...(agent !== undefined && { 'gen_ai.agent.id': agent }),
});

/** The whole of an agent's life in one process, as a span by the conventions for generative AI. */
export function agentSpan(traced: Traced, run: () => Promise<AgentEnd>): Promise<AgentEnd> {
  const { role, model } = traced;
  if (model.tracer === undefined) return run();
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.request.model': model.name,
    ...agentAttributes(traced),
  };
  return inSpan(model.tracer, `invoke_agent ${role.name}`, { kind: spanKind.internal, attributes }, async (span) => {
    const end = await run();
    const { reason, turns, usage } = end;
    span.setAttributes({
      'mound.agent.end': reason,
      'mound.agent.turns': turns,
      ...(!usage.estimated && {
        'gen_ai.usage.input_tokens': usage.inputTokens,
        'gen_ai.usage.output_tokens': usage.outputTokens,
      }),
    });
    if (end.handoff !== undefined) failSpan(span, reason);
    return end;
  });
}

/** One call of a tool. A refusal is an error of type `refused`. */
export function callSpan(traced: Traced, call: ToolCall, run: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
  const { tracer } = traced.model;
  if (tracer === undefined) return run();
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.call.id': call.id,
    'gen_ai.tool.type': 'function',
    ...agentAttributes(traced),
  };
  return inSpan(tracer, `execute_tool ${call.name}`, { kind: spanKind.internal, attributes }, async (span) => {
    const answer = await run();
    if (!answer.ok) failSpan(span, 'refused');
    return answer;
  });
}
