import { expect, test } from 'vitest';
import type { JsonValue } from '../core/json.ts';
import type { Script } from '../model/scripted-model.ts';
import { ScriptedModel } from '../model/scripted-model.ts';
import type { ThrashingPolicy } from '../state/thrashing.ts';
import { resumeSwarm, type SwarmResult } from './run-swarm.ts';
import { call, finish, newRepo, swarm, workFromInput } from './swarm.test.kit.ts';

const policy: ThrashingPolicy = { window: 4, growing: 2, conflictsPer100Lines: 20 };

/** Each batch is one window: so many tasks write the hot file from the first base, the others a file of their own. */
const plan =
  (hotCounts: readonly number[]): Script =>
  ({ turn, brief }) => {
    const hot = hotCounts[turn];
    if (hot === undefined) return { calls: [finish()] };
    const tasks: JsonValue = Array.from({ length: 4 }, (_, at): JsonValue => {
      const id = `t${turn}-${at}`;
      const path = at < hot ? 'hot.txt' : `own-${id}.txt`;
      return { id, title: id, base: brief.base, input: [{ path, content: `${id}\n` }] };
    });
    return { calls: [call('delegate', { tasks }), call('wait', {})] };
  };

const run = async (hotCounts: readonly number[], thrashing: ThrashingPolicy | false): Promise<SwarmResult> =>
  swarm(
    await newRepo({ 'hot.txt': 'start\n' }),
    { planner: plan(hotCounts), worker: workFromInput },
    { policy: { thrashing } },
  );

test('conflicts that outgrow the lines that land stop the run, which says so and can be resumed', async () => {
  const repo = await newRepo({ 'hot.txt': 'start\n' });
  const scripts = { planner: plan([1, 1, 3, 2, 0]), worker: workFromInput };
  const stopped = await swarm(repo, scripts, { policy: { thrashing: policy } });
  expect(stopped).toMatchObject({ reason: 'thrashing', outcomes: { conflicted: 4 } });
  expect(stopped.detail).toMatch(/keep growing: 0\.0, 33\.3, 300\.0, in windows of 4 intents$/);
  const model = new ScriptedModel(scripts);
  const resumed = await resumeSwarm({
    repo,
    runId: 'r1',
    models: { planner: model, worker: model },
    agentsMax: 8,
    policy: { thrashing: policy },
  });
  expect(resumed.reason).toBe('finished');
});

test('a rate that is high and does not grow goes on, and so does any where nobody asks', async () => {
  expect(await run([3, 3, 3, 3], policy)).toMatchObject({ reason: 'finished' });
  expect(await run([1, 1, 3, 3], false)).toMatchObject({ reason: 'finished' });
});
