import { expect, test } from 'vitest';
import type { PlannerBrief, WorkerBrief } from '../core/brief.ts';
import type { JsonValue } from '../core/json.ts';
import type { SwarmEvent } from '../events/event.ts';
import { ScriptedModel, type Script } from '../model/scripted-model.ts';
import { resumeSwarm } from './run-swarm.ts';
import { call, finish, newRepo, put, swarm } from './swarm.test.kit.ts';

const gate = (): { readonly open: () => void; readonly opened: Promise<void> } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

/** One of a planner lands, three of another meet it in conflict: that is a fight. */
function scripts(): { planner: Script; worker: Script } {
  const [ready, landed] = [gate(), gate()];
  const hand = (turn: number, tasks: JsonValue): ReturnType<Extract<Script, (...args: never[]) => unknown>> =>
    turn > 0 ? { calls: [finish()] } : { calls: [call('delegate', { tasks }), call('wait', {})] };
  const planner: Script = ({ brief, turn }) => {
    const { task } = brief as PlannerBrief;
    const named = (ids: string[], more: object = {}): JsonValue => ids.map((id) => ({ id, title: id, ...more }));
    if (task === 'root') return hand(turn, named(['left', 'right'], { role: 'planner' }));
    return hand(turn, named(task === 'left' ? ['l'] : ['r1', 'r2', 'r3']));
  };
  const worker: Script = async ({ brief, turn }) => {
    const { id } = (brief as WorkerBrief).task;
    if (id.startsWith('follow-') || turn > 0) {
      if (id === 'l') landed.open();
      return { calls: [finish(turn > 0 ? 'done' : 'nothing-to-do')] };
    }
    if (id === 'l') await ready.opened;
    else {
      ready.open();
      await landed.opened;
    }
    return { calls: [put([{ path: 'config', content: `${id}\n` }])] };
  };
  return { planner, worker };
}

/** Stopped, at once, when the reconciler is asked for the `stopAt`th time. */
async function fight(stopAt: number): Promise<{ asked: number; settled: number; text: string | undefined }> {
  const repo = await newRepo({ config: 'start\n' });
  const stop = new AbortController();
  const events: SwarmEvent[] = [];
  let asked = 0;
  const reconciler: Script = ({ turn }, signal) => {
    asked += 1;
    if (asked === stopAt) {
      stop.abort();
      signal.throwIfAborted();
    }
    if (turn > 0) return { calls: [finish()] };
    const decision = { id: 'config', title: 'Config', topics: ['config'], text: 'It is agreed.' };
    return { calls: [call('settle', { decision, results: [{ path: 'config', content: 'agreed\n' }] })] };
  };
  const model = new ScriptedModel({ ...scripts(), reconciler });
  const models = { planner: model, worker: model, reconciler: model };
  const common = { repo, models, agentsMax: 6, onEvent: (event: SwarmEvent) => void events.push(event) };
  expect((await swarm(repo, {}, { ...common, signal: stop.signal })).reason).toBe('aborted');
  expect((await resumeSwarm({ ...common, runId: 'r1' })).reason).toBe('finished');
  const settled = events.filter(({ kind }) => kind === 'contradiction.settled').length;
  return { asked, settled, text: repo.snapshot().readText('config') };
}

test('a fight that nobody had settled when the process died is settled by the next one', async () => {
  expect(await fight(1)).toEqual({ asked: 3, settled: 1, text: 'agreed\n' });
});

test('one that was settled is over, though the process died before its reconciler ended', async () => {
  expect(await fight(2)).toMatchObject({ asked: 2, text: 'agreed\n' });
});
