import { expect, test } from 'vitest';
import { any, type Intent, type Outcome, type Repo } from '@mound/vcs';
import { call, finish, newRepo, planInBatches, swarm } from './swarm.test.kit.ts';

const rules = (repo: Repo): string[] =>
  repo
    .snapshot()
    .records('mound/rules/swarm/')
    .map(({ key }) => key);

test('while a worker is at a task the store keeps to its scope whoever acts as it, from wherever', async () => {
  const repo = await newRepo({ 'out.txt': '0' });
  const author = { name: 'somewhere else', kind: 'agent', role: 'worker' } as const;
  const put = (path: string, more: Partial<Intent> = {}): Promise<Outcome> => {
    const changes = [{ kind: 'put' as const, path, content: path, expect: any }];
    return repo.land({ author, task: 'r1/t1', message: 'm', changes, ...more });
  };
  const seen: unknown[] = [];
  const task = { id: 't1', title: 't1', scope: ['src', 'a[1].txt'] };
  const result = await swarm(repo, {
    planner: planInBatches([task], [{ ...task, id: 't2' }]),
    worker: async ({ brief, turn }) => {
      if (brief.role !== 'worker' || brief.task.id !== 't1' || turn > 0) return { calls: [finish('blocked')] };
      seen.push(rules(repo));
      const outcomes = [
        await put('out.txt'),
        await put('a1.txt'),
        await put('src/deep/new.txt'),
        await put('a[1].txt'),
        await put('other.txt', { task: 'r1/t2' }),
        await put('out2.txt', { author: { name: 'Ada', kind: 'human' }, task: 'r1/t1' }),
      ];
      seen.push(outcomes.map((outcome) => ('code' in outcome ? outcome.code : outcome.kind)));
      return { calls: [call('commit', { changes: [{ path: 'src/own.txt', content: 'x' }], message: 'm' })] };
    },
  });
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 1 } });
  expect(seen).toEqual([
    ['mound/rules/swarm/r1/worker-1'],
    ['rule-violated', 'rule-violated', 'landed', 'landed', 'landed', 'landed'],
  ]);
  // Gone with the end of the run.
  expect(rules(repo)).toEqual([]);
});
