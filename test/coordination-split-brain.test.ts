import type { PlannerBrief, Script, WorkerBrief } from '@mound/swarm';
import { expect, test } from 'vitest';
import { call, compile, finish, gate, ofKind, repoWith, runScripts, write } from './kit/swarm/coordination.ts';

/**
 * Two planners below the goal's settle the same thing in other words. The one
 * that comes second builds on what it decided, or on what it is told when that
 * is refused.
 */
function twoBrains(): { planner: Script; worker: Script } {
  const decided = gate();
  const planner: Script = async ({ brief, turn, results }) => {
    const { task } = brief as PlannerBrief;
    if (task === 'root') {
      if (turn > 0) return { calls: [finish()] };
      const tasks = ['lexer', 'tool'].map((id) => ({ id, title: id, role: 'planner' }));
      return { calls: [call('delegate', { tasks }), call('wait', {})] };
    }
    if (task === 'lexer') {
      if (turn === 0) {
        const text = 'codes are texts such as E1';
        return { calls: [call('decide', { id: 'error-codes', topics: ['error codes'], text })] };
      }
      if (turn > 1) return { calls: [finish()] };
      decided.open();
      const content = "export type Code = 'E1' | 'E2';\nexport const fail = (code: Code): string => code;\n";
      const tasks = [{ id: 'lexer-file', title: 'lexer', input: { path: 'lexer.ts', content } }];
      return { calls: [call('delegate', { tasks }), call('wait', {})] };
    }
    if (turn === 0) {
      await decided.opened;
      const text = 'codes are numbers';
      return { calls: [call('decide', { id: 'codes', topics: ['the codes of an error'], text })] };
    }
    if (turn > 1) return { calls: [finish()] };
    // What the refusal says is taken over, as a mind would.
    const isText = results[0]?.value.says.includes('texts such as E1') === true;
    const content = `import { fail } from './lexer.ts';\nconsole.log(fail(${isText ? "'E1'" : '1'}));\n`;
    const tasks = [{ id: 'tool-file', title: 'tool', input: { path: 'tool.ts', content } }];
    return { calls: [call('delegate', { tasks }), call('wait', {})] };
  };
  const worker: Script = ({ brief }) => {
    const { path, content } = (brief as WorkerBrief).input as { path: string; content: string };
    return { calls: [write(path, content), finish()] };
  };
  return { planner, worker };
}
const printing = { 'console.ts': 'declare global { const console: { log(text: string): void } }\nexport {};\n' };

test('who decides second what is decided already is refused with the owner named, and the build is whole', async () => {
  const repo = await repoWith(printing);
  const { result, events } = await runScripts(repo, twoBrains());
  expect(result).toMatchObject({ reason: 'finished', events: { 'topic.refused': 1 } });
  expect(ofKind(events, 'topic.refused')).toEqual([
    {
      kind: 'topic.refused',
      planner: 'tool',
      topic: 'the codes of an error',
      other: 'error codes',
      by: 'decision',
      id: 'error-codes',
      owner: 'lexer',
    },
  ]);
  expect(repo.decisions().decisions).toMatchObject([{ id: 'error-codes', owner: 'r1/lexer', status: 'active' }]);
  expect(await compile(repo)).toMatchObject({ code: 0 });
});

test('switched off, both decide, and the compiler finds the two halves apart', async () => {
  const repo = await repoWith(printing);
  const policy = { coordination: { 'split-brain': 'off' as const } };
  const { result } = await runScripts(repo, twoBrains(), { policy });
  expect(result.events['topic.refused']).toBeUndefined();
  expect(repo.decisions().decisions.map(({ id }) => id)).toEqual(['codes', 'error-codes']);
  const compiled = await compile(repo);
  expect(compiled.code).not.toBe(0);
  expect(compiled.output).toMatch(/tool\.ts.*TS2345: Argument of type '1' is not assignable/);
});

test('a delegation of what a live subtree, a sibling or a decision settles is refused; what was given may be handed on', async () => {
  const repo = await repoWith({});
  const said: string[] = [];
  const ask = (id: string, topics: string[]): ReturnType<typeof call> =>
    call('delegate', { tasks: [{ id, title: id, topics }] });
  const inner = gate();
  const outer = gate();
  const { result, events } = await runScripts(repo, {
    planner: async ({ brief, turn, results }) => {
      if ((brief as PlannerBrief).task === 'inner') {
        if (turn > 0) return { calls: [finish()] };
        inner.open();
        await outer.opened;
        return { calls: [ask('handed-on', ['layout of pages']), call('wait', {})] };
      }
      said.push(...results.map(({ name, value }) => `${name} ${value.ok ? 'ok' : value.says}`));
      if (turn === 0) {
        const tasks = [{ id: 'inner', title: 'inner', role: 'planner', topics: ['page layouts'] }];
        return { calls: [call('delegate', { tasks })] };
      }
      await inner.opened;
      const twins = ['x', 'y'].map((id) => ({ id, title: id, topics: [`${id === 'x' ? 'retry' : 'retrying'} rules`] }));
      const calls = [
        ask('again', ['laying out of pages', 'page layout']),
        call('delegate', { tasks: twins }),
        call('decide', { id: 'cache', topics: ['cache size'], text: '1 MiB' }),
        ask('cached', ['sizes of caches']),
        ask('free', ['page checksums']),
      ];
      if (turn === 1) return { calls };
      outer.open();
      return { calls: [turn === 2 ? call('wait', {}) : finish()] };
    },
    worker: () => ({ calls: [finish('nothing-to-do')] }),
  });
  expect(result.reason).toBe('finished');
  expect(said.slice(0, 6)).toEqual([
    'delegate ok',
    expect.stringMatching(/delegate nothing was delegated: .*to be decided in inner, .* planner of root/),
    expect.stringMatching(/y and x would both decide 'retrying rules' \('retry rules'\)/),
    'decide ok',
    expect.stringMatching(/'sizes of caches' \(which overlaps 'cache size'\) is settled by the decision cache/),
    'delegate ok',
  ]);
  expect(ofKind(events, 'topic.refused').map(({ by, id }) => `${by} ${id}`)).toEqual(['task inner', 'decision cache']);
  // Those that were handed out and have ended hold nothing any more.
  expect(ofKind(events, 'task.created').map(({ task }) => task)).toEqual(['inner', 'free', 'handed-on']);
});

test('an unknown mechanism or position is an error, and the positions stand in the record of the run', async () => {
  const repo = await repoWith({});
  const scripts = { planner: (() => ({ calls: [finish()] })) as Script, worker: [] };
  const wrong = { coordination: { 'split-brains': 'off' } } as object;
  await expect(runScripts(repo, scripts, { policy: wrong })).rejects.toThrow(
    /coordination\.split-brains: there is no such mechanism; there are split-brain, /,
  );
  const half = { coordination: { megafiles: 'maybe' } } as object;
  await expect(runScripts(repo, scripts, { policy: half })).rejects.toThrow(/coordination\.megafiles is "maybe"/);
  const { events } = await runScripts(repo, scripts, { policy: { coordination: { megafiles: 'off' } } });
  const header = JSON.parse(repo.snapshot().record('swarm/r1/run')?.value.toString() ?? '') as { settings: object };
  expect(header.settings).toMatchObject({ policy: { coordination: { megafiles: 'off', 'split-brain': 'on' } } });
  // Without a mind for it a mechanism is off, whatever was asked for.
  expect(ofKind(events, 'run.started')[0]?.coordination).toMatchObject({ megafiles: 'off', merger: 'off' });
});
