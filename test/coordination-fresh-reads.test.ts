import { shippedRoles, type Script, type SwarmOptions, type WorkerBrief } from '@mound/swarm';
import type { Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { call, compile, finish, gate, repoWith, runScripts, write, type Ran } from './kit/swarm/coordination.ts';

const shape = (parameters: string, sum: string): string => `export const area = (${parameters}): number => ${sum};\n`;
const before = {
  'shape.ts': shape('w: number', 'w'),
  'main.ts': "import { area } from './shape.ts';\nexport const one = area(1);\n",
};
const user = (args: string): string => `import { area } from './shape.ts';\nexport const used = area(${args});\n`;

/**
 * One changes a signature with all of its users, the other writes a new user of
 * it. They touch no common file: each landing is clean, and only a compiler
 * sees whether both hold.
 */
function pair(commitsAtOnce: boolean): { planner: Script; worker: Script } {
  const [read, changed] = [gate(), gate()];
  return {
    planner: ({ turn }) => {
      if (turn > 0) return { calls: [finish()] };
      const tasks = ['changes', 'uses'].map((id) => ({ id, title: id }));
      return { calls: [call('delegate', { tasks }), call('wait', {})] };
    },
    worker: async ({ brief, turn, request, results }) => {
      if ((brief as WorkerBrief).task.id === 'changes') {
        if (turn > 0) {
          changed.open();
          return { calls: [finish()] };
        }
        await read.opened;
        const changes = [
          { path: 'shape.ts', content: shape('w: number, h: number', 'w * h') },
          { path: 'main.ts', content: before['main.ts'].replace('area(1)', 'area(1, 1)') },
        ];
        return { calls: [call('commit', { changes, message: 'area of w and h' })] };
      }
      if (turn === 0) return { calls: [call('read', { path: 'shape.ts' })] };
      read.open();
      await changed.opened;
      // A mind writes by what stands in its context, and by nothing else.
      const knows = request.messages.some(({ content }) => content.includes('h: number'));
      if (turn === 1 && !commitsAtOnce) return { calls: [call('list', {})] };
      if (turn === 2 && commitsAtOnce && results[0]?.value.ok === true) return { calls: [finish()] };
      return { calls: [write('user.ts', user(knows ? '2, 3' : '2')), ...(turn > 1 ? [finish()] : [])] };
    },
  };
}

async function runPair(commitsAtOnce: boolean, more: Partial<SwarmOptions> = {}): Promise<Ran & { repo: Repo }> {
  const repo = await repoWith(before);
  return { ...(await runScripts(repo, pair(commitsAtOnce), more)), repo };
}
const off = { coordination: { 'fresh-reads': 'off' } } as const;
const staleReads = (repo: Repo): string[] =>
  [...repo.events()].flatMap((event) => (event.kind === 'read.stale' ? [event.path] : []));

test('an agent hears of what changed in what it has read before it writes, and the build is whole', async () => {
  const { repo, result } = await runPair(false);
  expect(result).toMatchObject({
    reason: 'finished',
    events: { 'agent.told': 1 },
    outcomes: { landed: 2, conflicted: 0 },
  });
  expect(staleReads(repo)).toEqual([]);
  expect(await compile(repo)).toMatchObject({ code: 0 });
});

test('switched off, two clean landings break the build', async () => {
  const { repo, result } = await runPair(false, { policy: off });
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 2, conflicted: 0 } });
  expect(result.events['agent.told']).toBeUndefined();
  const compiled = await compile(repo);
  expect(compiled.output).toMatch(/user\.ts.*TS2554: Expected 2 arguments, but got 1/);
});

test('a commit on reads that are stale is noted, or refused where its role is told so', async () => {
  const noted = await runPair(true);
  expect(noted.result).toMatchObject({ reason: 'finished', outcomes: { landed: 2, rejected: 0 } });
  expect(staleReads(noted.repo)).toEqual(['shape.ts']);
  expect((await compile(noted.repo)).output).toMatch(/TS2554/);

  const roles = { worker: { ...shippedRoles().worker, onStaleRead: 'reject' as const } };
  const refused = await runPair(true, { roles });
  expect(refused.result).toMatchObject({ reason: 'finished', outcomes: { landed: 2, rejected: 1 } });
  expect(staleReads(refused.repo)).toEqual([]);
  expect(await compile(refused.repo)).toMatchObject({ code: 0 });
});
