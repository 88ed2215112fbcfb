import type { Script, SwarmOptions, WorkerBrief } from '@mound/swarm';
import { expect, test } from 'vitest';
import { call, finish, gate, ofKind, repoWith, runScripts, write, type Ran } from './kit/swarm/coordination.ts';
import type { Repo } from '@mound/vcs';

/** What a run may do without in an experiment only, and what then goes wrong. */

const planner: Script = ({ turn }) =>
  turn > 0
    ? { calls: [finish()] }
    : { calls: [call('delegate', { tasks: [{ id: 't', title: 't' }] }), call('wait', {})] };

/** The first owner is slower than its lease; it goes on while the second is at work. */
async function overtaken(unsafeWithout: readonly 'fences'[]): Promise<{ repo: Repo; ran: Ran }> {
  const repo = await repoWith({ start: 'x\n' });
  const [taken, landed] = [gate(), gate()];
  const worker: Script = async ({ brief, turn, results }) => {
    if (turn > 0) return { calls: [finish(results[0]?.value.ok === true ? 'done' : 'blocked')] };
    const isFirst = (brief as WorkerBrief).generation === 1;
    if (isFirst) await taken.opened;
    else {
      taken.open();
      if (unsafeWithout.length > 0) await landed.opened;
    }
    return { calls: [write(isFirst ? 'first' : 'second', 'mine\n')] };
  };
  const options: Partial<SwarmOptions> = {
    limits: { leaseMs: 60 },
    policy: { unsafeWithout },
    onEvent: (event) => event.kind === 'intent.answered' && landed.open(),
  };
  const events: Ran['events'][number][] = [];
  const onEvent = options.onEvent;
  const ran = await runScripts(repo, { planner, worker }, { ...options, onEvent: (event) => (events.push(event), onEvent?.(event)) }); // prettier-ignore
  return { repo, ran: { ...ran, events } };
}

test('with fences only the later of two owners lands; an experiment without them has both land', async () => {
  const fenced = await overtaken([]);
  expect(fenced.ran.result).toMatchObject({ reason: 'finished', outcomes: { landed: 1 } });
  expect(fenced.repo.snapshot().head('first')).toBeUndefined();
  expect(ofKind(fenced.ran.events, 'run.started')[0]).not.toHaveProperty('unsafeWithout');
  const open = await overtaken(['fences']);
  expect(open.ran.result).toMatchObject({ reason: 'finished', outcomes: { landed: 2 } });
  expect(open.repo.snapshot().head('first')).toBeDefined();
  expect(open.repo.snapshot().head('second')).toBeDefined();
  expect(ofKind(open.ran.events, 'run.started')[0]).toMatchObject({ unsafeWithout: ['fences'] });
});

test('an experiment without budgets is bounded by none; an unknown safeguard is refused', async () => {
  const worker: Script = ({ turn }) => ({ calls: turn === 0 ? [write('a', 'a\n')] : [finish()] });
  const options = { budget: { tokens: 100 } };
  const bounded = await runScripts(await repoWith({ start: 'x\n' }), { planner, worker }, options);
  expect(bounded.result.reason).toBe('budget');
  const policy = { unsafeWithout: ['budgets' as const] };
  const free = await runScripts(await repoWith({ start: 'x\n' }), { planner, worker }, { ...options, policy });
  expect(free.result.reason).toBe('finished');
  const wrong = { policy: { unsafeWithout: ['fence' as never] } };
  await expect(runScripts(await repoWith({}), { planner, worker }, wrong)).rejects.toThrow(
    "policy.unsafeWithout: there is no safeguard 'fence'",
  );
});
