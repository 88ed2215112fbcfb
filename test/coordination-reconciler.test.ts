import type { PlannerBrief, ReconcilerBrief, Script, ScriptView, WorkerBrief } from '@mound/swarm';
import { renderDecision } from '@mound/vcs';
import { expect, test } from 'vitest';
import { call, compile, finish, gate, ofKind, repoWith, runScripts, write } from './kit/swarm/coordination.ts';

const rounds = 6;
const wanted: Readonly<Record<string, string>> = { left: '3', right: '5' };
const config = (value: string): string => `export const retries = ${value} as const;\n`;
const settledText = '{ read: 3, write: 5 }';

/** A worker does what its input says, and cites the decisions that it is shown. */
const obedient: Script = ({ brief }) => {
  const { input, decisions = [] } = brief as WorkerBrief;
  const { path, content } = input as { path: string; content: string };
  // What holds stands above what an older task says.
  if (path === 'config.ts' && decisions.length > 0) return { calls: [finish('nothing-to-do')] };
  const cites = decisions.map(({ cite }) => `// ${cite}\n`).join('');
  return { calls: [write(path, `${cites}${content}`), finish()] };
};

const heard = ({ request }: ScriptView): boolean =>
  request.messages.some(({ role, content }) => role === 'user' && content.includes('A neutral agent has settled'));

/** Two planners that take turns in setting one value, each its own, for as many rounds as they have. */
function war(): Record<string, Script> {
  const done = Array.from({ length: 2 * rounds }, () => gate());
  const planner: Script = async (view) => {
    const { turn } = view;
    const { task } = view.brief as PlannerBrief;
    if (task === 'root') {
      if (turn > 0) return { calls: [finish()] };
      const tasks = ['left', 'right'].map((id) => ({ id, title: id, role: 'planner', brief: `retries for ${id}` }));
      return { calls: [call('delegate', { tasks }), call('wait', {})] };
    }
    const side = task === 'left' ? 0 : 1;
    if (turn > 0) done[2 * (turn - 1) + side]?.open();
    if (heard(view)) {
      // What is settled is lived by: its own file follows, and it fights no more.
      for (const one of done) one.open();
      const isDone = view.request.messages.some(({ content }) => content.includes(`${task}-follows`));
      if (isDone) return { calls: [finish()] };
      const member = task === 'left' ? 'read' : 'write';
      const content = `import { retries } from './config.ts';\nexport const mine: ${wanted[task]} = retries.${member};\n`;
      const tasks = [{ id: `${task}-follows`, title: task, input: { path: `${task}.ts`, content } }];
      return { calls: [call('delegate', { tasks }), call('wait', {})] };
    }
    if (turn >= rounds) return { calls: [finish()] };
    await done[2 * turn + side - 1]?.opened;
    const input = { path: 'config.ts', content: config(wanted[task] ?? '') };
    const tasks = [{ id: `${task}-${turn}`, title: `retries of ${task}`, scope: ['config.ts'], input }];
    return { calls: [call('delegate', { tasks }), call('wait', {})] };
  };
  return { planner, worker: obedient };
}

const sides = Object.fromEntries(
  Object.entries(wanted).map(([side, value]) => [
    `${side}.ts`,
    `import { retries } from './config.ts';\nexport const mine: ${value} = retries;\n`,
  ]),
);

test('an edit war between planners ends with a decision of a neutral agent that both sides cite', async () => {
  const repo = await repoWith({ 'config.ts': config('1'), ...sides });
  const briefs: ReconcilerBrief[] = [];
  const { result, events } = await runScripts(repo, {
    ...war(),
    reconciler: ({ brief, turn }) => {
      briefs.push(brief as ReconcilerBrief);
      if (turn > 0) return { calls: [finish()] };
      const decision = {
        id: 'retries',
        topics: ['number of retries'],
        text: `Reads are tried 3 times, writes 5 times: ${settledText}.`,
      };
      const results = [{ path: 'config.ts', content: `// @decision retries\n${config(settledText)}` }];
      return { calls: [call('settle', { decision, results }), finish()] };
    },
  });
  expect(result).toMatchObject({ reason: 'finished', events: { 'contradiction.settled': 1 } });
  // The neutral agent saw who fights, for what, and over what.
  expect(briefs[0]).toMatchObject({
    cause: 'oscillation',
    paths: ['config.ts'],
    planners: expect.arrayContaining([
      { task: 'left', goal: 'retries for left' },
      { task: 'right', goal: 'retries for right' },
    ]),
  });
  expect(briefs[0]?.landings.slice(0, 2)).toMatchObject([{ planner: 'right' }, { planner: 'left' }]);
  // It ended far before its bound, and both sides and the file cite what holds.
  const fought = [...repo.log({ path: 'config.ts' })].filter(({ author }) => author.role === 'worker');
  expect(fought.length).toBeLessThan(2 * rounds - 2);
  const references = repo.references({ decision: 'retries' });
  expect(references.map(({ path, standing }) => `${path} ${standing}`)).toEqual([
    'config.ts right',
    'left.ts right',
    'right.ts right',
  ]);
  expect(ofKind(events, 'path.contested').length).toBeGreaterThanOrEqual(2);
  expect(await compile(repo)).toMatchObject({ code: 0 });
});

test('switched off, the war goes on to its bound, and one side is always broken', async () => {
  const repo = await repoWith({ 'config.ts': config('1'), ...sides });
  const policy = { coordination: { reconciler: 'off' as const } };
  const { result } = await runScripts(repo, { ...war(), reconciler: [] }, { policy });
  expect(result).toMatchObject({ reason: 'finished', roles: { reconciler: { agents: 0 } } });
  expect(result.events['path.contested']).toBeUndefined();
  const fought = [...repo.log({ path: 'config.ts' })].filter(({ author }) => author.role === 'worker');
  expect(fought).toHaveLength(2 * rounds);
  const compiled = await compile(repo);
  expect(compiled.output).toMatch(/left\.ts.*TS2322: Type '5' is not assignable to type '3'/);
});

test('decisions of two owners on one topic are superseded by one, and the files that cite them follow as tasks', async () => {
  const repo = await repoWith({});
  const planner: Script = ({ brief, turn }) => {
    const { task } = brief as PlannerBrief;
    if (task === 'root') {
      if (turn > 0) return { calls: [finish()] };
      const tasks = ['lexer', 'tool'].map((id) => ({ id, title: id, role: 'planner' }));
      return { calls: [call('delegate', { tasks }), call('wait', {})] };
    }
    if (turn > 0) return { calls: [finish()] };
    const isLexer = task === 'lexer';
    const content = isLexer
      ? "export const fail = (code: 'E1' | 'E2'): string => code;\n"
      : "import { fail } from './lexer.ts';\nexport const said = fail(1);\n";
    const decision = isLexer
      ? { id: 'error-codes', topics: ['error codes'], text: 'texts such as E1' }
      : { id: 'codes', topics: ['codes of errors'], text: 'numbers' };
    const input = { path: `${task}.ts`, content: `// @decision ${decision.id}\n${content}` };
    const tasks = [{ id: `${task}-file`, title: task, input }];
    return { calls: [call('decide', decision), call('delegate', { tasks }), call('wait', {})] };
  };
  const worker: Script = ({ brief }) => {
    const { input, task, decisions = [] } = brief as WorkerBrief;
    if (input !== undefined) {
      const { path, content } = input as { path: string; content: string };
      return { calls: [write(path, content), finish()] };
    }
    // A task that follows from a decision: the one file of its scope.
    const [path = ''] = task.scope;
    const cite = decisions.find(({ id }) => id === 'one-code')?.cite ?? '';
    const content =
      path === 'lexer.ts'
        ? 'export const fail = (code: number): string => `E${code}`;\n'
        : "import { fail } from './lexer.ts';\nexport const said = fail(1);\n";
    return { calls: [write(path, `// ${cite}\n${content}`), finish()] };
  };
  const { result, events } = await runScripts(
    repo,
    {
      planner,
      worker,
      reconciler: async ({ brief, turn, results }) => {
        const { clash } = brief as ReconcilerBrief;
        if (turn === 0) {
          // The two files are there before it is settled what holds.
          while (repo.snapshot().head('tool.ts') === undefined || repo.snapshot().head('lexer.ts') === undefined)
            await new Promise((resolve) => setTimeout(resolve, 5));
          const decision = {
            id: 'one-code',
            topics: ['error codes'],
            text: 'Codes are numbers.',
            supersedes: ['codes'],
          };
          return { calls: [call('settle', { decision })] };
        }
        if (turn > 1) return { calls: [finish()] };
        expect(results[0]?.value.says).toMatch(/error-codes would still stand beside it/);
        const decision = { id: 'one-code', topics: ['error codes'], text: 'Codes are numbers.', supersedes: clash };
        return { calls: [call('settle', { decision })] };
      },
    },
    { policy: { coordination: { 'split-brain': 'off' } } },
  );
  expect(result).toMatchObject({ reason: 'finished', events: { 'contradiction.settled': 1 } });
  expect(ofKind(events, 'contradiction.settled')[0]).toMatchObject({ decision: 'one-code', tasks: { length: 2 } });
  expect(repo.checkDecisions()).toMatchObject({ superseded: [], missing: [], faults: [] });
  expect(repo.references({ decision: 'one-code' }).map(({ path }) => path)).toEqual(['lexer.ts', 'tool.ts']);
  expect(await compile(repo)).toMatchObject({ code: 0 });
});

test('two edits of one design document that would not merge are one decision in the end', async () => {
  const document = (text: string): string =>
    renderDecision({
      id: 'limits',
      title: 'Limits',
      topics: ['limits'],
      owner: 'Ada',
      status: 'active',
      supersedes: [],
      text: `${text}\n`,
    });
  const repo = await repoWith({ 'design/limits.md': document('One MiB.') });
  const worker: Script = ({ brief }) => {
    const { id } = (brief as WorkerBrief).task;
    return { calls: [write('design/limits.md', document(`${id} MiB.`)), finish()] };
  };
  let merged = 0;
  const { result } = await runScripts(repo, {
    planner: ({ turn }) => {
      if (turn > 0) return { calls: [finish()] };
      const tasks = ['Two', 'Four'].map((id) => ({ id, title: id }));
      return { calls: [call('delegate', { tasks }), call('wait', {})] };
    },
    worker,
    merger: () => ({ calls: [finish((merged++, 'blocked'))] }),
    reconciler: ({ brief, turn }) => {
      const { conflict = '' } = brief as ReconcilerBrief;
      if (turn === 0) return { calls: [call('read_conflict', { conflict })] };
      const decision = {
        id: 'limits',
        title: 'Limits',
        topics: ['limits'],
        text: 'Two MiB a blob, four MiB a commit.',
      };
      return { calls: [call('settle', { decision }), finish()] };
    },
  });
  expect(result).toMatchObject({ reason: 'finished', merges: { conflicts: 1, resolved: 1, attempts: 0 } });
  expect(merged).toBe(0);
  expect(repo.conflicts()).toEqual([]);
  expect(repo.decisions()).toMatchObject({ decisions: [{ text: 'Two MiB a blob, four MiB a commit.' }], faults: [] });
});
