import { expect, test } from 'vitest';
import { loadTracer } from '../core/tracer.ts';
import { watchingTracer } from '../core/tracer.test.kit.ts';
import { ModelError } from './model-error.ts';
import type { Model, ModelRequest } from './model.ts';
import { TracedModel } from './traced-model.ts';

const request: ModelRequest = { role: 'worker', messages: [{ role: 'user', content: 'the secret plan' }], tools: [] };
const usage = { inputTokens: 10, outputTokens: 3, cachedTokens: 4, estimated: false };
const model: Model = {
  name: 'large',
  endpoint: 'https://api.example.com/v1',
  complete: () => Promise.resolve({ text: 'the secret answer', calls: [], usage, finish: 'stop' }),
};
const { signal } = new AbortController();

test('a request is a span by the conventions, and what is said stays out of it', async () => {
  const { tracer, seen } = watchingTracer();
  await new TracedModel(model, tracer, false).complete(request, signal);
  expect(seen).toEqual([
    {
      name: 'chat large',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'api.example.com',
        'gen_ai.request.model': 'large',
        'gen_ai.response.model': 'large',
        'gen_ai.agent.name': 'worker',
        'server.address': 'api.example.com',
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 3,
        'gen_ai.usage.cache_read.input_tokens': 4,
        'gen_ai.response.finish_reasons': ['stop'],
      },
      parent: undefined,
      status: undefined,
      ended: 1,
    },
  ]);
  expect(JSON.stringify(seen)).not.toContain('secret');
});

test('content is captured where that is asked for', async () => {
  const { tracer, seen } = watchingTracer();
  await new TracedModel(model, tracer, true).complete(request, signal);
  expect(JSON.stringify(seen)).toContain('the secret plan');
  expect(JSON.stringify(seen)).toContain('the secret answer');
});

test('a failure is the span’s, without its words, and the caller’s; estimates are not told as usage', async () => {
  const { tracer, seen } = watchingTracer();
  const failing: Model = { ...model, complete: () => Promise.reject(new ModelError('refused', 'the secret plan')) };
  await expect(new TracedModel(failing, tracer, false).complete(request, signal)).rejects.toThrow('the secret plan');
  expect(seen[0]).toMatchObject({ attributes: { 'error.type': 'refused' }, status: { code: 2 }, ended: 1 });
  expect(JSON.stringify(seen)).not.toContain('secret');
  const guessing: Model = {
    ...model,
    complete: () => Promise.resolve({ text: '', calls: [], usage: { ...usage, estimated: true }, finish: 'stop' }),
  };
  await new TracedModel(guessing, tracer, false).complete(request, signal);
  expect(seen[1]?.attributes).not.toHaveProperty('gen_ai.usage.input_tokens');
});

test('the tracer of the API does nothing where no provider is registered', async () => {
  const tracer = await loadTracer();
  expect(tracer).toBeDefined();
  if (tracer !== undefined)
    expect((await new TracedModel(model, tracer, false).complete(request, signal)).text).toBe('the secret answer');
});
