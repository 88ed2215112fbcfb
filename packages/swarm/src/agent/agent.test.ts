import { expect, test } from 'vitest';
import { z } from 'zod';
import { noUsage } from '../core/usage.ts';
import { ModelError } from '../model/model-error.ts';
import type { Model, ModelRequest, ModelTurn, ToolCall } from '../model/model.ts';
import { shippedRoles } from '../roles/roles.ts';
import { bindTool, defineTool, type ToolAnswer } from '../tools/tool.ts';
import { Toolset } from '../tools/toolset.ts';
import { runAgent, type AgentEnd } from './agent.ts';

const live = new AbortController().signal;
const usage = { ...noUsage, inputTokens: 10 };
const made = (name: string, more: Partial<ToolCall> = {}): ToolCall => ({ id: 'c', name, arguments: {}, ...more });
const turnOf = (calls: readonly ToolCall[], text = ''): ModelTurn => ({ text, calls, usage, finish: 'stop' });

/** An agent whose tools note that they ran, and whose model says its turns, the last one for ever. */
async function agent(
  turns: readonly (ModelTurn | ModelError)[],
  answers: Partial<Record<string, ToolAnswer>> = {},
  answerCharsMax = 1000,
): Promise<{ end: AgentEnd; ran: string[]; asked: ModelRequest[] }> {
  const ran: string[] = [];
  const asked: ModelRequest[] = [];
  const model: Model = {
    name: 'm',
    complete: (request) => {
      const turn = turns[Math.min(asked.length, turns.length - 1)];
      asked.push(request);
      return turn === undefined || turn instanceof ModelError
        ? Promise.reject(turn ?? new Error())
        : Promise.resolve(turn);
    },
  };
  const tools = (['read', 'commit', 'finish'] as const).map((name) =>
    bindTool(defineTool(name, name, z.strictObject({})), () => {
      ran.push(name);
      return (
        answers[name] ?? (name === 'finish' ? { ok: true, says: 'yes', ends: 'finished' } : { ok: true, says: 'yes' })
      );
    }),
  );
  const role = { ...shippedRoles().worker, maxTurns: 8 };
  const toolset = new Toolset(role, tools);
  const end = await runAgent({ role, model, brief: 'b', toolset, signal: live, answerCharsMax });
  return { end, ran, asked };
}

test('calls run in their order, and a finish ends the agent', async () => {
  const { end, ran, asked } = await agent([
    turnOf([made('read'), made('commit')]),
    turnOf([made('finish'), made('read')]),
  ]);
  expect(end).toEqual({ reason: 'finished', turns: 2, usage: { ...usage, inputTokens: 20 } });
  expect(ran).toEqual(['read', 'commit', 'finish']);
  expect(asked[0]?.messages).toHaveLength(2);
  expect(asked[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool']);
});

test('a finish that is not accepted is answered, and the work goes on', async () => {
  const { end, asked } = await agent([turnOf([made('finish')])], { finish: { ok: false, says: 'commit first' } });
  // The same refusal over and over is a circle.
  expect(end).toMatchObject({ reason: 'looping', turns: 6 });
  expect(asked[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: '{"ok":false,"says":"commit first"}' });
});

test('calls that are no JSON are never run: three turns of them, and the agent is given up', async () => {
  const { end, ran } = await agent([turnOf([made('commit', { fault: 'cut off' })])]);
  expect(end).toMatchObject({ reason: 'malformed-calls', turns: 3 });
  expect(ran).toEqual([]);
  const mended = await agent([
    turnOf([made('commit', { fault: 'cut off' })]),
    turnOf([made('commit', { fault: 'cut off' })]),
    turnOf([made('read')]),
    turnOf([made('commit', { fault: 'cut off' })]),
    turnOf([made('finish')]),
  ]);
  expect(mended.end.reason).toBe('finished');
});

test('text without calls is nudged, then given up', async () => {
  const { end, asked } = await agent([turnOf([], 'well')]);
  expect(end).toMatchObject({ reason: 'no-calls', turns: 3 });
  expect(asked[1]?.messages.at(-1)).toMatchObject({ role: 'user', content: expect.stringContaining('finish') });
});

test('a long answer is cut, with a note', async () => {
  const long = { ok: true, says: 'all', more: { text: 'x'.repeat(5000) } };
  const { asked } = await agent([turnOf([made('read')]), turnOf([made('finish')])], { read: long }, 200);
  const content = asked[1]?.messages.at(-1)?.content ?? '';
  expect(content.length).toBeLessThan(500);
  expect(JSON.parse(content)).toMatchObject({ ok: true, says: expect.stringContaining('was cut') });
});

test('a model that fails ends the agent, and its tokens count', async () => {
  const { end } = await agent([new ModelError('provider', 'down', { spent: [{ model: 'm', usage }] })]);
  expect(end).toMatchObject({ reason: 'model-failed', turns: 0, usage, detail: 'provider: down' });
  expect(end.handoff).toMatchObject({ status: 'failed', concerns: [expect.stringContaining('provider: down')] });
});

test('the same call three times is a nudge, three more end the agent with a handoff', async () => {
  const { end, asked } = await agent([turnOf([made('read')], 'reading')]);
  expect(end).toMatchObject({ reason: 'looping', turns: 6, detail: expect.stringContaining('the same call') });
  expect(end.handoff).toMatchObject({ status: 'failed', findings: ['its last words: reading'] });
  expect(asked[3]?.messages.at(-1)).toMatchObject({ role: 'user', content: expect.stringContaining('in circles') });
  expect(asked[3]?.messages.filter(({ role }) => role === 'user')).toHaveLength(2);
});

test('an answer that was cut off is asked for in smaller steps', async () => {
  const { asked } = await agent([{ ...turnOf([], 'so'), finish: 'length' }, turnOf([made('finish')])]);
  expect(asked[1]?.messages.at(-1)).toMatchObject({ content: expect.stringContaining('length limit') });
});

test('a history that the provider finds too long is made shorter and sent again', async () => {
  const long = { ok: true, says: 'all', more: { text: 'word '.repeat(4000) } };
  const overflow = new ModelError('context-overflow', 'too long', { contextTokens: 4000 });
  const { end, asked } = await agent(
    [turnOf([made('read')]), overflow, turnOf([made('finish')])],
    { read: long },
    100_000,
  );
  expect(end.reason).toBe('finished');
  const [, before, after] = asked.map(({ messages }) => JSON.stringify(messages).length);
  expect(after).toBeLessThan(4000 * 4);
  expect(before).toBeGreaterThan(20_000);
});

test('one that finds it too long however short it is ends with a handoff', async () => {
  const { end, asked } = await agent([new ModelError('context-overflow', 'too long')]);
  expect(end).toMatchObject({ reason: 'context-exhausted', turns: 0, handoff: { status: 'failed' } });
  expect(asked.length).toBeLessThan(8);
});
