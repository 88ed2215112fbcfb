import { expect, test, vi } from 'vitest';
import type { RunId } from '../core/ids.ts';
import { agentsAtWork } from './agents-at-work.ts';
import { readRun, type RunView } from './run-view.ts';
import { call, finish, newRepo, planInBatches, swarm, task } from './swarm.test.kit.ts';

test('what agents at work have spent is seen before they end, at the run’s own prices, and once only', async () => {
  const repo = await newRepo();
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const running = swarm(
    repo,
    {
      planner: planInBatches([task('t1', null)]),
      worker: async ({ turn }) => {
        if (turn > 0) await gate;
        const usage = { inputTokens: 1000, outputTokens: 100, cachedTokens: 0, estimated: false };
        return turn === 0 ? { calls: [call('list', {})], usage } : { calls: [finish('nothing-to-do')], usage };
      },
    },
    { prices: [{ model: 'scripted', input: 1, output: 10 }] },
  );
  const view = (): RunView => {
    const read = readRun(repo, 'r1' as RunId);
    if (read === undefined) throw new Error('no run');
    return read;
  };
  await vi.waitFor(() => {
    const worker = agentsAtWork(repo, view()).find(({ role }) => role === 'worker');
    expect(worker).toMatchObject({ task: 't1', turns: 1, cost: { requests: 1, nanoUsd: 2_000_000 } });
  });
  go();
  await running;
  expect(agentsAtWork(repo, view())).toEqual([]);
  expect(view().agents.find(({ role }) => role === 'worker')?.cost).toMatchObject({ requests: 2, nanoUsd: 4_000_000 });
});
