import type { JsonValue, MergerBrief, PlannerBrief, Script, SwarmEvent, WorkerBrief } from '@mound/swarm';
import { expect, test } from 'vitest';
import { call, compile, finish, gate, ofKind, repoWith, runScripts, write } from './kit/swarm/coordination.ts';

const names = ['one', 'two', 'three', 'four'];
const hot = (...lines: string[]): string =>
  ['export const all = [', "  'zero',", ...lines, '] as const;', 'export type Name = (typeof all)[number];', ''].join(
    '\n',
  );
const lineOf = (name: string): string => `  '${name}',`;
const use = `import type { Name } from './hot.ts';\nexport const used: Name[] = ${JSON.stringify(names)};\n`;

/** Four add a line at one place of one file, and nobody is free to merge before the last has landed. */
function crowd(): { scripts: Record<string, Script>; onEvent: (event: SwarmEvent) => void; seen: MergerBrief[] } {
  const [opened, otherDone] = [gate(), gate()];
  let conflicts = 0;
  const seen: MergerBrief[] = [];
  const planner: Script = ({ turn }) => {
    if (turn > 0) return { calls: [finish()] };
    const tasks = [...names, 'other'].map((id) => ({ id, title: id }));
    return { calls: [call('delegate', { tasks }), call('wait', {})] };
  };
  const worker: Script = async ({ brief, turn }) => {
    const { id } = (brief as WorkerBrief).task;
    if (id === 'other') {
      otherDone.open();
      return { calls: [write('other.ts', 'export {};\n'), finish()] };
    }
    if (turn === 0) return { calls: [write('hot.ts', hot(lineOf(id)))] };
    await opened.opened;
    return { calls: [finish()] };
  };
  const merger: Script = async ({ brief, turn, results }) => {
    const mine = brief as MergerBrief;
    const all = [mine, ...(mine.also ?? [])].map(({ conflict }) => conflict);
    if (turn === 0) {
      seen.push(mine);
      // A merge that takes its time: whoever wrote a side has other work to do meanwhile.
      await otherDone.opened;
      return { calls: all.map((conflict) => call('read_conflict', { conflict })) };
    }
    const merged = [{ path: 'hot.ts', content: hot(...names.map(lineOf)) }];
    if (turn > all.length) return { calls: [finish()] };
    const isFirst = turn === 1;
    const again = isFirst ? [] : [call('read_conflict', { conflict: all[turn - 1] ?? '' })];
    expect(results.every(({ value }) => value.ok)).toBe(true);
    return { calls: [...again, call('resolve', { conflict: all[turn - 1] ?? '', results: merged })] };
  };
  return {
    scripts: { planner, worker, merger },
    seen,
    onEvent: (event) => {
      if (event.kind === 'conflict.opened' && ++conflicts === 3) opened.open();
    },
  };
}

test('conflicts of one file go to one neutral merger in one go, and their authors go on to other work', async () => {
  const repo = await repoWith({ 'hot.ts': hot(), 'use.ts': use });
  const { scripts, seen, onEvent } = crowd();
  const events: SwarmEvent[] = [];
  const both = (event: SwarmEvent): void => {
    events.push(event);
    onEvent(event);
  };
  const { result } = await runScripts(repo, scripts, { onEvent: both, agentsMax: 4 });
  expect(result).toMatchObject({
    reason: 'finished',
    merges: { conflicts: 3, resolved: 3, escalated: 0, attempts: 3, queueDelayMs: { count: 3 } },
  });
  expect(result.merges.queueDelayMs.p99).toBeGreaterThan(0);
  // Nothing that a side had added is gone.
  const { current, incoming } = result.merges.survival;
  expect(incoming).toEqual({ lines: 3, survived: 3 });
  expect(current.survived).toBe(current.lines);
  expect(seen).toHaveLength(1);
  expect(seen[0]?.also).toHaveLength(2);
  const started = ofKind(events, 'agent.started');
  const mergers = started.filter(({ role }) => role === 'merger');
  expect(mergers).toHaveLength(1);
  expect(mergers[0]?.conflicts).toHaveLength(3);
  // The task that was left went to one of the authors, while their conflicts were being settled.
  const authors = names.map((name) => started.find(({ task }) => task === name)?.agent);
  expect(authors).toContain(started.find(({ task }) => task === 'other')?.agent);
  expect(repo.snapshot().readText('hot.ts')).toBe(hot(...names.map(lineOf)));
  expect(await compile(repo)).toMatchObject({ code: 0 });
});

test('switched off, conflicts stay open, and the compiler misses what they hold', async () => {
  const repo = await repoWith({ 'hot.ts': hot(), 'use.ts': use });
  const { scripts, seen, onEvent } = crowd();
  // Nobody hears of conflicts where there is no merger: what lands tells that all have tried.
  let landings = 0;
  const hear = (): void => {
    for (let at = 0; at < 3; at++) onEvent({ kind: 'conflict.opened', conflict: '', task: '' as never, paths: [] });
  };
  const { result } = await runScripts(repo, scripts, {
    policy: { coordination: { merger: 'off' } },
    onAcknowledged: () => void (++landings === 4 && hear()),
  });
  expect(result).toMatchObject({ reason: 'finished', merges: { attempts: 0, resolved: 0 } });
  expect(seen).toEqual([]);
  expect(repo.conflicts()).toHaveLength(3);
  const compiled = await compile(repo);
  expect(compiled.code).not.toBe(0);
  expect(
    compiled.output.match(
      /TS2322: Type '"[a-z]+"' is not assignable to type 'Name|TS2322: Type '"[a-z]+"' is not assignable/g,
    ),
  ).toHaveLength(3);
});

test('a conflict that mergers leave goes to the lowest planner above both sides', async () => {
  const repo = await repoWith({ 'hot.ts': hot() });
  const told: Record<string, JsonValue[]> = {};
  const bothStarted = [gate(), gate()];
  const { result, events } = await runScripts(
    repo,
    {
      planner: ({ brief, turn, results }) => {
        const { task } = brief as PlannerBrief;
        for (const { name, value } of results) {
          if (name === 'wait' || name === 'finish')
            (told[task] ??= []).push(...((value['reports'] ?? []) as JsonValue[]));
        }
        if (turn > 0) return { calls: [finish()] };
        const tasks =
          task === 'root'
            ? ['left', 'right'].map((id) => ({ id, title: id, role: 'planner' }))
            : [{ id: `${task}-work`, title: task }];
        return { calls: [call('delegate', { tasks }), call('wait', {})] };
      },
      worker: async ({ brief, turn }) => {
        const { id } = (brief as WorkerBrief).task;
        if (turn === 0) {
          bothStarted[id === 'left-work' ? 0 : 1]?.open();
          await Promise.all(bothStarted.map(({ opened }) => opened));
          return { calls: [call('read', { path: 'hot.ts' })] };
        }
        return { calls: [write('hot.ts', hot(lineOf(id))), finish()] };
      },
      merger: () => ({ calls: [finish('blocked')] }),
    },
    { limits: { mergeAttemptsMax: 2 } },
  );
  expect(result).toMatchObject({
    reason: 'finished',
    merges: { conflicts: 1, resolved: 0, escalated: 1, attempts: 2 },
  });
  expect(ofKind(events, 'conflict.escalated')).toMatchObject([{ planner: 'root' }]);
  const loser = repo.conflicts()[0]?.task?.replace('r1/', '');
  expect(told['root']).toContainEqual(expect.objectContaining({ task: loser, outcome: 'conflicted', escalated: true }));
  const [own] = told[loser?.replace('-work', '') ?? ''] ?? [];
  expect(own).toMatchObject({ task: loser, outcome: 'conflicted' });
  expect(own).not.toHaveProperty('escalated');
});
