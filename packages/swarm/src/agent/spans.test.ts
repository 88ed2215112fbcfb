import { expect, test } from 'vitest';
import { z } from 'zod';
import { watchingTracer } from '../core/tracer.test.kit.ts';
import { noUsage } from '../core/usage.ts';
import { ModelError } from '../model/model-error.ts';
import type { Model, ModelTurn, ToolCall } from '../model/model.ts';
import { TracedModel } from '../model/traced-model.ts';
import { shippedRoles } from '../roles/roles.ts';
import { bindTool, defineTool, type ToolAnswer } from '../tools/tool.ts';
import { Toolset } from '../tools/toolset.ts';
import { runAgent } from './agent.ts';

const usage = { ...noUsage, inputTokens: 10, outputTokens: 2 };
const turnOf = (...calls: ToolCall[]): ModelTurn => ({ text: '', calls, usage, finish: 'stop' });
const made = (name: string, id: string): ToolCall => ({ id, name, arguments: {} });

async function traced(complete: Model['complete'], answers: Partial<Record<string, ToolAnswer>> = {}) {
  const { tracer, seen } = watchingTracer();
  const tools = (['read', 'finish'] as const).map((name) =>
    bindTool(defineTool(name, name, z.strictObject({})), () => answers[name] ?? { ok: true, says: 'the secret' }),
  );
  const role = { ...shippedRoles().worker, maxTurns: 4 };
  const model = new TracedModel({ name: 'm', complete }, tracer, false);
  const toolset = new Toolset(role, tools);
  const { signal } = new AbortController();
  await runAgent({ agent: 'worker-1', role, model, brief: 'the secret', toolset, signal, answerCharsMax: 1000 });
  expect(seen.every(({ ended }) => ended === 1)).toBe(true);
  expect(JSON.stringify(seen)).not.toContain('secret');
  return seen;
}

test('an agent is a span, with its requests and its calls of tools within', async () => {
  const turns = [turnOf(made('read', 'c1')), turnOf(made('read', 'c2'), made('finish', 'c3'))];
  const seen = await traced(() => Promise.resolve(turns.shift() ?? turnOf()), {
    finish: { ok: true, says: 'yes', ends: 'finished' },
  });
  expect(seen.map(({ name, parent }) => [name, parent])).toEqual([
    ['invoke_agent worker', undefined],
    ['chat m', 'invoke_agent worker'],
    ['execute_tool read', 'invoke_agent worker'],
    ['chat m', 'invoke_agent worker'],
    ['execute_tool read', 'invoke_agent worker'],
    ['execute_tool finish', 'invoke_agent worker'],
  ]);
  expect(seen[0]).toMatchObject({
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': 'worker-1',
      'gen_ai.agent.name': 'worker',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 4,
      'mound.agent.end': 'finished',
      'mound.agent.turns': 2,
    },
    status: undefined,
  });
  expect(seen[5]?.attributes).toMatchObject({ 'gen_ai.tool.name': 'finish', 'gen_ai.tool.call.id': 't1_1' });
});

test('a refusal of a tool and an agent that did not finish are errors, by their codes', async () => {
  const turns = [turnOf(made('read', 'c1'))];
  const failed = (): Promise<ModelTurn> => Promise.reject(new ModelError('refused', 'the secret'));
  const seen = await traced(() => (turns.length > 0 ? Promise.resolve(turns.shift() ?? turnOf()) : failed()), {
    read: { ok: false, says: 'the secret' },
  });
  expect(seen.map(({ name, attributes, status }) => [name, attributes['error.type'], status !== undefined])).toEqual([
    ['invoke_agent worker', 'model-failed', true],
    ['chat m', undefined, false],
    ['execute_tool read', 'refused', true],
    ['chat m', 'refused', true],
  ]);
});
