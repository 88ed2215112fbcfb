import { expect, test } from 'vitest';

import { runRounds } from './rounds.ts';

test('rounds are interleaved, each starts one arm later, and a warm-up comes first', async () => {
  const order: string[] = [];
  await runRounds(['A', 'B', 'C'], 2, new AbortController().signal, async (arm, round) => {
    order.push(`${arm}${round}`);
  });
  expect(order).toEqual(['A-1', 'B-1', 'C-1', 'B0', 'C0', 'A0', 'C1', 'A1', 'B1']);
});

test('an interruption ends the rounds', async () => {
  const controller = new AbortController();
  const order: string[] = [];
  const running = runRounds(['A', 'B'], 2, controller.signal, async (arm) => {
    order.push(arm);
    controller.abort();
  });
  await expect(running).rejects.toThrow('interrupted');
  expect(order).toEqual(['A']);
});
