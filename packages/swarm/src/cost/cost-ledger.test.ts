import { expect, test } from 'vitest';
import { ManualTime } from '../core/manual-time.test.kit.ts';
import type { Spend, Usage } from '../core/usage.ts';
import { CostLedger, formatCost } from './cost-ledger.ts';
import { PriceBook, type PriceOverride } from './prices.ts';

const usage = (more: Partial<Usage> = {}): Usage => ({
  inputTokens: 1_000_000,
  outputTokens: 0,
  cachedTokens: 0,
  estimated: false,
  ...more,
});
const spend = (more: Partial<Spend> = {}): Spend => ({
  model: 'm',
  endpoint: 'http://127.0.0.1:1/v1',
  usage: usage(),
  ...more,
});
const at = async (day: string): Promise<ManualTime> => {
  const time = new ManualTime();
  await time.advance(Date.parse(day) - time.now());
  return time;
};
const book = (prices: PriceOverride[], time = new ManualTime()): PriceBook => new PriceBook(prices, time);

test('prices have dates: the newest that holds counts', async () => {
  const prices = [
    { model: 'm', input: 3, output: 1, from: '2026-06-01' },
    { model: 'm', input: 1, output: 1 },
    { model: 'm', input: 2, output: 1, from: '2026-01-01' },
  ];
  for (const [day, usd] of [
    ['2025-12-31', 1],
    ['2026-01-01', 2],
    ['2026-05-31', 2],
    ['2026-06-01', 3],
  ] as const) {
    expect(book(prices, await at(day)).cost(spend())).toMatchObject({
      kind: 'known',
      nanoUsd: usd * 1e9,
      source: 'operator',
    });
  }
});

test('an operator prices the cache, one endpoint, or a family of models', () => {
  const prices = [
    { model: 'm', endpoint: 'http://127.0.0.1:1/v1', input: 10, output: 0, cached: 1, cacheWrite: 20 },
    { model: 'qwen*', input: 5, output: 0 },
  ];
  const cached = usage({ cachedTokens: 500_000, cacheWriteTokens: 100_000 });
  expect(book(prices).cost(spend({ usage: cached }))).toMatchObject({ nanoUsd: (4 + 0.5 + 2) * 1e9 });
  expect(book(prices).cost(spend({ endpoint: 'http://127.0.0.1:2/v1' }))).toEqual({ kind: 'unknown' });
  expect(book(prices).cost(spend({ model: 'qwen3-32b' }))).toMatchObject({ nanoUsd: 5e9 });
});

test('the table knows models at their providers; elsewhere a price is unknown', async () => {
  const time = await at('2026-01-01');
  const table = book([], time);
  expect(table.cost(spend({ model: 'gpt-4o-mini', endpoint: 'https://api.openai.com/v1' }))).toMatchObject({
    kind: 'known',
    source: 'table',
    nanoUsd: 150_000_000,
  });
  expect(table.cost(spend({ model: 'gpt-4o-mini' }))).toEqual({ kind: 'unknown' });
  expect(table.cost(spend({ model: 'no-such', endpoint: 'https://api.openai.com/v1' }))).toEqual({ kind: 'unknown' });
  expect(table.cost({ model: 'a-command' })).toEqual({ kind: 'unknown' });
  expect(table.cost({ model: 'a-command', costUsd: 0.25 })).toMatchObject({ nanoUsd: 250_000_000, source: 'reported' });
});

test.each([
  [{ model: 'm', input: -1, output: 1 }, 'not an amount'],
  [{ model: 'm', input: 1, output: Number.NaN }, 'not an amount'],
  [{ model: 'm', input: 1, output: 1, from: 'June' }, 'not a day'],
  [{ model: 'm', input: 1, output: 1, from: '2026-13-01' }, 'not a day'],
])('a price such as %j is refused', (price, says) => {
  expect(() => book([price])).toThrow(says);
});

test('sums by role, task, agent and model; unknown is unknown and never 0, an estimate is marked', () => {
  const ledger = new CostLedger(book([{ model: 'm', input: 1, output: 1 }]));
  expect(formatCost(ledger.report().total)).toBe('nothing');
  ledger.record({ role: 'planner', agent: 'planner-1' }, [spend({ model: 'other' })]);
  expect(formatCost(ledger.report().total)).toBe('unknown');
  ledger.record({ role: 'worker', agent: 'worker-1', task: 't1' }, [spend(), spend()]);
  ledger.record({ role: 'worker', agent: 'worker-2', task: 't1' }, [spend({ usage: usage({ estimated: true }) })]);
  const { total, byRole, byTask, byAgent, byModel } = ledger.report();
  expect(formatCost(total)).toBe('~$3.0000 and 1 requests of unknown cost');
  expect(total.usage.inputTokens).toBe(4_000_000);
  const shown = (sums: typeof byRole): object =>
    Object.fromEntries(Object.entries(sums).map(([key, sum]) => [key, formatCost(sum)]));
  expect(shown(byRole)).toEqual({ planner: 'unknown', worker: '~$3.0000' });
  expect(shown(byTask)).toEqual({ '(none)': 'unknown', t1: '~$3.0000' });
  expect(shown(byAgent)).toEqual({ 'planner-1': 'unknown', 'worker-1': '$2.0000', 'worker-2': '~$1.0000' });
  expect(shown(byModel)).toEqual({
    'm at http://127.0.0.1:1/v1': '~$3.0000',
    'other at http://127.0.0.1:1/v1': 'unknown',
  });
});
