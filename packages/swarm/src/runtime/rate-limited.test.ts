import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRepo, type Repo } from '@mound/vcs';
import type { JsonValue } from '../core/json.ts';
import type { SwarmEvent } from '../events/event.ts';
import { ModelError } from '../model/model-error.ts';
import { OpenAiModel } from '../model/openai-model.ts';
import { ScriptedModel, type ScriptView } from '../model/scripted-model.ts';
import { serveModel, type ModelServer } from '../model/serve-model.ts';
import { runSwarm } from './run-swarm.ts';
import { planInBatches, task, workFromInput } from './swarm.test.kit.ts';

let dir: string;
let repo: Repo;
let server: ModelServer | undefined;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-limited-'));
  repo = await openRepo(dir, { create: true });
});
afterEach(async () => {
  await server?.close();
  await repo.close();
  await rm(dir, { recursive: true, force: true });
});

test('row 25: of eight workers one is refused as one too many: the others are kept, it is queued again', async () => {
  let refusals = 0;
  const scripts = {
    planner: planInBatches(
      Array.from({ length: 8 }, (_, at): JsonValue => task(`t${at}`, [{ path: `f${at}`, content: `${at}\n` }])),
    ),
    worker: (view: ScriptView, signal: AbortSignal) => {
      const { brief } = view;
      if (brief.role === 'worker' && brief.task.id === 't3' && refusals++ === 0) {
        throw new ModelError('rate-limited', 'too many', { status: 429 });
      }
      return typeof workFromInput === 'function' ? workFromInput(view, signal) : {};
    },
  };
  server = await serveModel(new ScriptedModel(scripts));
  const model = (role: string): OpenAiModel =>
    new OpenAiModel({ baseURL: server?.url ?? '', model: role, retry: { attemptsMax: 1, delayMs: 1, delayMsMax: 5 } });
  const events: SwarmEvent[] = [];
  const result = await runSwarm({
    repo,
    goal: 'g',
    agentsMax: 8,
    models: { planner: model('planner'), worker: model('worker') },
    prices: [{ model: '*', input: 1, output: 1 }],
    onEvent: (event) => events.push(event),
  });
  expect(result).toMatchObject({
    reason: 'finished',
    tasks: { created: 8, ended: 8, reopened: 1 },
    outcomes: { landed: 8 },
  });
  expect(repo.snapshot().list()).toHaveLength(8);
  expect(
    events.filter(({ kind }) => kind === 'agent.ended').map((event) => 'reason' in event && event.reason),
  ).toContain('model-failed');
  expect(result.cost.total.requests).toBe(10);
  expect(result.cost.total).toMatchObject({ unknownRequests: 0, estimated: true });
  expect(Object.keys(result.cost.byTask)).toHaveLength(9);
});
