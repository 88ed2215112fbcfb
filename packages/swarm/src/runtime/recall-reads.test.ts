import { expect, test } from 'vitest';
import { any } from '@mound/vcs';
import { ScriptedModel, type Script } from '../model/scripted-model.ts';
import { recollectionsIn } from './recall-reads.ts';
import { resumeSwarm } from './run-swarm.ts';
import { call, finish, human, newRepo, planInBatches, put, swarm, task } from './swarm.test.kit.ts';

test('an agent that goes on in another process is told what changed in what it had read before; not what it landed', async () => {
  const repo = await newRepo({ 'shape.ts': 'one\n', 'own.ts': 'x\n', 'other.ts': 'y\n' });
  const stop = new AbortController();
  const told: string[] = [];
  const worker: Script = ({ turn, request }) => {
    if (turn === 0) return { calls: [call('read', { path: 'shape.ts' }), call('read', { path: 'own.ts' })] };
    if (turn === 1) {
      stop.abort();
      return { calls: [put([{ path: 'own.ts', content: 'mine\n' }], { more: true })] };
    }
    told.push(request.messages.slice(1).flatMap(({ role, content }) => (role === 'user' ? [content] : [])).join('\n')); // prettier-ignore
    return { calls: [finish()] };
  };
  const scripts = { planner: planInBatches([task('t', [])]), worker };
  const stopped = await swarm(repo, scripts, { stopSignal: stop.signal });
  expect([stopped.reason, told]).toEqual(['aborted', []]);
  for (const path of ['shape.ts', 'other.ts']) {
    const changes = [{ kind: 'put', path, content: 'two\n', expect: any }] as const;
    await repo.land({ author: human, message: `change ${path}`, changes });
  }
  const model = new ScriptedModel(scripts);
  const models = { planner: model, worker: model };
  const resumed = await resumeSwarm({ repo, runId: 'r1', models, agentsMax: 8 });
  expect(resumed.reason).toBe('finished');
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/shape\.ts is at version \d+ now, by Ada: change shape\.ts/);
  expect(told[0]).toContain('-one\n+two\n');
  expect(told[0]).not.toContain('own.ts');
  expect(told[0]).not.toContain('other.ts');
});

test('what a transcript does not say is not made up', () => {
  const answer = (name: string, value: object | string): Parameters<typeof recollectionsIn>[0][number] => ({
    role: 'tool',
    callId: 'c',
    name,
    content: typeof value === 'string' ? value : JSON.stringify(value),
  });
  const messages = [
    answer('read', { ok: true, path: 'a', version: 3 }),
    answer('read', { ok: true, path: 'draft', version: 3, edited: true }),
    answer('read', { ok: false, path: 'b', version: 3 }),
    answer('read', '{"ok":true,"path":"cut", … 9 characters left out'),
    answer('commit', { ok: true, outcome: { kind: 'landed', seq: 7 } }),
    answer('commit', { ok: true, outcome: { kind: 'merged', seq: 8 } }),
    answer('search', { ok: true, hits: [{ path: 'c' }] }),
  ];
  expect(recollectionsIn(messages)).toEqual([
    { kind: 'read', path: 'a', version: 3 },
    { kind: 'landed', seq: 7 },
  ]);
});
