import { expect, test } from 'vitest';
import { rootTask, type AgentId, type RunId, type TaskId } from '../core/ids.ts';
import { emptyHandoff } from '../core/task.ts';
import { noUsage } from '../core/usage.ts';
import type { SwarmEvent } from '../events/event.ts';
import { allOn } from '../core/coordination.ts';
import { lineOf } from './event-line.ts';
import { isLive, LiveView } from './live-view.ts';
import { renderScreen } from './run-screen.ts';
import { newWatch, watched, type RunWatch } from './run-watch.ts';

const at = Date.UTC(2026, 0, 1, 12, 0, 0);
const task = (id: string): TaskId => id as TaskId;
const agent = (id: string): AgentId => id as AgentId;
const created = (id: string, parent: string, plans = false): SwarmEvent => ({
  kind: 'task.created',
  task: task(id),
  parent: task(parent),
  plans,
  title: `do ${id}`,
  scope: [],
});
const answered = (outcome: 'landed' | 'merged' | 'conflicted'): SwarmEvent => ({
  kind: 'intent.answered',
  agent: agent('worker-1'),
  outcome,
  ms: 1,
  paths: ['a'],
});
const events: SwarmEvent[] = [
  {
    kind: 'run.started',
    run: 'r1' as RunId,
    goal: 'port the\n\u001B[31mparser',
    root: 'planner',
    agentsMax: 4,
    plannersMax: 2,
    taskAttemptsMax: 2,
    mergeAttemptsMax: 2,
    coordination: allOn,
    decomposing: false,
  },
  { kind: 'agent.started', agent: agent('planner-1'), role: 'planner', task: rootTask },
  created('sub', rootTask, true),
  created('t1', 'sub'),
  created('t2', rootTask),
  created('t3', rootTask),
  { kind: 'agent.started', agent: agent('planner-2'), role: 'planner', task: task('sub') },
  { kind: 'agent.started', agent: agent('worker-1'), role: 'worker', task: task('t1') },
  { kind: 'task.claimed', task: task('t1'), agent: agent('worker-1'), generation: 1 },
  { kind: 'agent.started', agent: agent('worker-2'), role: 'worker', task: task('t2') },
  { kind: 'agent.waiting', agent: agent('worker-2'), until: at + 90_000, reason: 'too many requests' },
  { kind: 'agent.waiting', agent: agent('worker-1'), until: at + 90_000, reason: 'too many requests' },
  answered('landed'),
  answered('merged'),
  answered('conflicted'),
  { kind: 'conflict.opened', conflict: 'c1', task: task('t1'), paths: ['a'] },
];
const watch: RunWatch = {
  ...events.reduce((before, event, index) => watched(before, event, at + index), newWatch(at)),
  cost: {
    requests: 3,
    usage: { ...noUsage, inputTokens: 1200, outputTokens: 34, estimated: true },
    nanoUsd: 12_300_000,
    unknownRequests: 0,
    estimated: true,
  },
};

test('a picture shows tree, rates, cost, conflicts and until when agents wait', () => {
  expect(renderScreen(watch, at + 61_000 - 1000, { columns: 100, rows: 40 }, false)).toEqual([
    'run r1  running  01:00  port the [31mparser',
    'tasks   0 ended, 3 at work, 1 open, 4 in all',
    'agents  2 planners, 2 workers; 2 waiting',
    'landed  1 and 1 merged, 2 a minute',
    'conflicts  1 open, 1 met, 0 resolved (33 % of intents)',
    'cost    ~$0.0123; ~1,234 tokens',
    'waiting  worker-1, worker-2 until 12:01:30: too many requests',
    'goal  working, 3 open',
    '  t2  worker-2 starting  do t2',
    '  sub  working, 1 open',
    '    t1  worker-1 running  do t1',
  ]);
});

test('it keeps within the screen, says what it leaves out, and forgets rates after a minute', () => {
  const small = renderScreen(watch, at + 120_000, { columns: 20, rows: 9 }, false);
  expect(small).toHaveLength(9);
  expect(small.every((line) => line.length <= 20)).toBe(true);
  expect(small.at(-1)).toBe('… 3 more');
  expect(small[3]).toBe('landed  1 and 1 mer…');
  expect(renderScreen(watch, at + 120_000, { columns: 60, rows: 9 }, false)[3]).toMatch(/ 0 a minute$/);
});

test('colours are there where they are wanted alone, and what ends leaves the picture', () => {
  expect(renderScreen(watch, at, { columns: 80, rows: 20 }, true)[0]).toContain('\u001B[1m');
  expect(renderScreen(watch, at, { columns: 80, rows: 20 }, false).join('')).not.toContain('\u001B');
  const ended = [
    { kind: 'agent.resumed', agent: agent('worker-1') },
    { kind: 'agent.ended', agent: agent('worker-2'), role: 'worker', reason: 'finished', turns: 1, usage: noUsage },
    {
      kind: 'task.finished',
      task: task('t2'),
      report: { task: task('t2'), agent: agent('worker-2'), outcome: 'landed', handoff: emptyHandoff },
    },
  ] satisfies SwarmEvent[];
  const text = renderScreen(
    ended.reduce((before, event) => watched(before, event, at), watch),
    at,
    { columns: 80, rows: 20 },
    false,
  ).join('\n');
  expect(text).toContain('1 ended');
  expect(text).not.toContain('waiting');
  expect(text).not.toContain('t2');
});

test('on a terminal pictures are drawn in place; a dumb one, or none, gets lines', () => {
  expect(isLive({ isTTY: true, write: () => true }, {})).toBe(true);
  expect(isLive({ isTTY: true, write: () => true }, { TERM: 'dumb' })).toBe(false);
  expect(isLive({ write: () => true }, {})).toBe(false);
  const written: string[] = [];
  const view = new LiveView(
    { isTTY: true, columns: 60, rows: 20, write: (text) => written.push(text) > 0 },
    { NO_COLOR: '1' },
  );
  for (const event of events) view.see(event);
  view.close();
  view.close();
  expect(written).toHaveLength(1);
  expect(written[0]).toContain('run r1  running');
  expect(written[0]).not.toContain('\u001B[1m');
  const lines = events.map(lineOf).filter((line) => line !== undefined);
  expect(lines).toContain('conflict c1 of t1: a');
  expect(lines).toContain('worker-2 waits until 2026-01-01T12:01:30.000Z: too many requests');
});
