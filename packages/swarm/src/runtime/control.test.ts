import { expect, test, vi } from 'vitest';
import type { RunId } from '../core/ids.ts';
import type { SwarmEvent } from '../events/event.ts';
import { sendControl, type Control } from './control.ts';
import { readRun, type RunView } from './run-view.ts';
import { call, finish, human, newRepo, planInBatches, swarm, task } from './swarm.test.kit.ts';

test('a pause stands in the record of the run until it goes on, a changed goal for good, a question until its answer was told', async () => {
  const repo = await newRepo();
  const [run, said]: [RunId, string[]] = ['r1' as RunId, []];
  const view = (): RunView | undefined => readRun(repo, run);
  let go = (): void => undefined;
  const all = new Promise<void>((resolve) => (go = resolve));
  const running = swarm(repo, {
    planner: async ({ turn, request }) => {
      if (turn === 0) return { calls: [call('ask', { question: 'red or blue?' })] };
      if (turn === 1) {
        await all;
        return { calls: [call('inspect', {})] };
      }
      said.push(...request.messages.filter(({ role }) => role === 'user').map(({ content }) => content));
      return { calls: [finish()] };
    },
  });
  const question = await vi.waitFor(() => {
    const [asked] = view()?.questions ?? [];
    if (asked === undefined) throw new Error('nothing was asked');
    return asked.id;
  });
  const send = (control: Control): Promise<number> => sendControl(repo, run, control, human);
  await send({ kind: 'pause', reason: 'lunch' });
  await vi.waitFor(() => expect(view()?.header.paused).toMatchObject({ reason: 'lunch' }));
  await send({ kind: 'unpause' });
  await vi.waitFor(() => expect(view()?.header.paused).toBeUndefined());
  await send({ kind: 'goal', text: 'another goal' });
  await send({ kind: 'answer', question, text: 'blue' });
  await vi.waitFor(() => expect(view()?.header.goal).toBe('another goal'));
  // Nobody was told yet.
  expect(view()?.questions).toHaveLength(1);
  await vi.waitFor(() => expect(repo.snapshot().records('swarm/r1/control/')).toHaveLength(2));
  go();
  expect(await running).toMatchObject({ reason: 'finished', status: 'done' });
  expect(said.join('\n')).toMatch(/It is now: another goal[^]*Answer to your question root-1-\S+: blue/);
  expect(view()).toMatchObject({ questions: [], status: 'done', header: { state: 'ended', goal: 'another goal' } });
  expect(repo.snapshot().records('swarm/r1/control/')).toEqual([]);
});

test('a task that is given up has ended in the records, and is told once', async () => {
  const repo = await newRepo();
  const events: SwarmEvent[] = [];
  const result = await swarm(
    repo,
    { planner: planInBatches([task('t1', null)]), worker: [] },
    { limits: { taskAttemptsMax: 2 }, onEvent: (event) => events.push(event) },
  );
  // What became of it is its planner's business, which says that all is done.
  expect(result).toMatchObject({ status: 'done', tasks: { ended: 1, reopened: 2, givenUp: ['t1'] } });
  expect(events.filter(({ kind }) => kind === 'task.given-up')).toMatchObject([{ task: 't1', attempts: 2 }]);
  const own = readRun(repo, 'r1' as RunId)?.tasks.find((one) => one.task.id === 't1');
  expect(own?.record).toMatchObject({ state: 'ended', status: 'failed', attempts: 2 });
});

test('where a person is to approve, what the planner hands out waits for a yes; another answer is told to it', async () => {
  const repo = await newRepo();
  const said: string[] = [];
  const view = (): RunView | undefined => readRun(repo, 'r1' as RunId);
  const running = swarm(
    repo,
    {
      planner: ({ turn, results }) => {
        said.push(...results.map(({ value }) => value.says));
        if (turn < 2) return { calls: [call('delegate', { tasks: [task(`t${turn}`, null)] })] };
        return turn === 2 ? { calls: [call('wait', {})] } : { calls: [finish()] };
      },
      worker: () => ({ calls: [finish('nothing-to-do')] }),
    },
    { policy: { approve: 'delegations' } },
  );
  for (const [id, text] of [
    ['t0', 'no, smaller pieces'],
    ['t1', 'approved'],
  ] as const) {
    const [asked] = await vi.waitFor(() => {
      const questions = view()?.questions ?? [];
      expect(questions).toMatchObject([{ question: expect.stringContaining(id), approval: true }]);
      return questions;
    });
    expect(view()?.tasks.filter((one) => one.task.id === id)).toEqual([]);
    await sendControl(repo, 'r1' as RunId, { kind: 'answer', question: asked?.id ?? '', text }, human);
  }
  expect(await running).toMatchObject({ reason: 'finished', tasks: { created: 1, ended: 1 } });
  expect(said).toEqual([
    'nothing was delegated: those who started the run say: no, smaller pieces',
    expect.stringContaining('1 tasks delegated'),
    expect.stringContaining('all tasks ended'),
  ]);
  expect(view()?.questions).toEqual([]);
});

test('a stop does not wait for an approval', async () => {
  const repo = await newRepo();
  const stop = new AbortController();
  const result = await swarm(
    repo,
    { planner: () => ({ calls: [call('delegate', { tasks: [task('t', null)] })] }) },
    {
      policy: { approve: 'delegations' },
      stopSignal: stop.signal,
      onEvent: ({ kind }) => kind === 'question.asked' && stop.abort(),
    },
  );
  expect(result).toMatchObject({ reason: 'aborted', tasks: { created: 0 } });
});
