import { describe, expect, test } from 'vitest';

import { runGroups, runInFlight } from './measurement.ts';

const signal = new AbortController().signal;
const numbers = Array.from({ length: 60 }, (_, index) => index);

describe('runInFlight', () => {
  test('keeps exactly so many in flight and gives each agent its own', async () => {
    const busy = new Set<number>();
    let most = 0;
    const measured = await runInFlight(numbers, { inFlight: 7, budgetMs: 10_000, signal }, async (number) => {
      expect(busy.has(number % 7)).toBe(false);
      busy.add(number % 7);
      most = Math.max(most, busy.size);
      await new Promise((resolve) => setTimeout(resolve, number % 3));
      busy.delete(number % 7);
    });
    expect(most).toBe(7);
    expect(measured.acknowledged).toBe(60);
    expect(measured.latenciesMs).toHaveLength(60);
  });

  test('acknowledges a prefix of whole groups when the time is up', async () => {
    const done = new Set<number>();
    const measured = await runInFlight(numbers, { inFlight: 4, budgetMs: 6, signal }, async (number) => {
      // The last agent runs far ahead of the others.
      await new Promise((resolve) => setTimeout(resolve, number % 4 === 3 ? 1 : 9));
      done.add(number);
    });
    expect(measured.acknowledged).toBeLessThan(60);
    expect(measured.acknowledged % 4).toBe(0);
    expect([...done].toSorted((left, right) => left - right)).toEqual(numbers.slice(0, measured.acknowledged));
  });

  test('an agent that starves is seen, though it makes its share in the end', async () => {
    const even = await runInFlight(numbers, { inFlight: 4, budgetMs: 10_000, signal }, () => Promise.resolve());
    expect(even.perAgent?.most).toBe(15);
    expect(even.perAgent?.least).toBeGreaterThanOrEqual(14);
    let release = (): void => undefined;
    const others = new Promise<void>((resolve) => (release = resolve));
    const starving = await runInFlight(numbers, { inFlight: 4, budgetMs: 10_000, signal }, async (number) => {
      if (number === 7) await others;
      if (number === 58) release();
    });
    expect(starving).toMatchObject({ acknowledged: 60, perAgent: { least: 1, most: 15 } });
  });

  test('one failure ends all agents and comes out', async () => {
    let begun = 0;
    const failing = runInFlight(numbers, { inFlight: 3, budgetMs: 10_000, signal }, async (number) => {
      begun++;
      await Promise.resolve();
      if (number === 4) throw new Error('no room');
    });
    await expect(failing).rejects.toThrow('no room');
    expect(begun).toBeLessThan(12);
  });
});

describe('runGroups', () => {
  test('gives whole groups and one latency for each commit', async () => {
    const groups: number[] = [];
    const measured = await runGroups(numbers, { inFlight: 25, budgetMs: 10_000, signal }, (group) => {
      groups.push(group.length);
    });
    expect(groups).toEqual([25, 25, 10]);
    expect(measured.latenciesMs).toHaveLength(60);
  });

  test('hears an interruption between two groups', async () => {
    const controller = new AbortController();
    const running = runGroups(numbers, { inFlight: 1, budgetMs: 10_000, signal: controller.signal }, () => {
      const until = performance.now() + 60;
      while (performance.now() < until);
    });
    controller.abort();
    await expect(running).rejects.toThrow('interrupted');
  });
});
