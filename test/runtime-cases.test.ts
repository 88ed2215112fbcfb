import { copyFileSync, readFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Repo } from '@mound/vcs';
import {
  readRun,
  readTranscript,
  runSwarm,
  ScriptedModel,
  type RunId,
  type Script,
  type SwarmOptions,
  type SwarmResult,
  type WorkerBrief,
} from '@mound/swarm';
import { expect, test } from 'vitest';
import { caseText, hasCases } from './kit/cases.ts';
import { projectDir } from './kit/process.ts';
import { landNew, setup, tempDir, tempRepo } from './kit/temp.ts';

const swarm = 'packages/swarm/src';
const ends = `${swarm}/runtime/run-swarm-ends.test.ts`;
const commands = `${swarm}/command/run-command.test.ts`;
const edits = `${swarm}/tools/edit-text.test.ts`;
const processes = 'test/swarm-processes.test.ts';
const chaos = 'test/swarm-chaos.test.ts';
const here = 'test/runtime-cases.test.ts';

/** Recorded cases of a runtime, and the tests that each is: file and what stands in its title. */
const covered: readonly (readonly [number: number, what: string, file: string, title: string])[] = [
  [1, 'a planner that always delegates', here, '1 a planner that always delegates'],
  [2, 'a budget of 0', here, '2 a budget of nothing'],
  [3, '1,000 reservations at once', `${swarm}/runtime/rivals.test.ts`, '1,000 reservations at once by four processes'],
  [4, 'a kill between done and landing', chaos, 'each edit once, and an exact ledger'],
  [5, 'a kill after one edit', processes, 'its edits are kept and its costs are counted'],
  [6, 'the trunk moves before the first read', here, '6 the seq that a worker starts from'],
  [7, 'two additions to one list', `${swarm}/runtime/run-swarm.test.ts`, 'bring a goal to its end'],
  [8, 'a whole-file write over what landed', `${swarm}/runtime/command-swarm.test.ts`, 'are merged, or settled'],
  [9, 'a command between two writes of a sibling', here, '9 a command runs on a snapshot'],
  [10, '100 claimers', `${swarm}/runtime/repo-worker.test.ts`, 'of 100 claimers of one task one wins'],
  [11, 'interrupted and started again', `${swarm}/schedule/schedule.test.ts`, 'every run ends, within its slots'],
  [11, 'closing is bounded in time', ends, 'stopping a run is prompt'],
  [12, 'a grandchild that ignores SIGTERM', commands, 'leaves running in the background goes with it'],
  [13, '200 workspaces of which 10 are live', 'test/workspace-prune.test.ts', '13 of 200 workspaces'],
  [14, 'a journal cut at every byte', here, '14 a transcript that is cut at any byte'],
  [15, 'a crash before a result', chaos, 'each edit once, and an exact ledger'],
  [16, 'a resume with another configuration', `${swarm}/cli/config.test.ts`, 'refuses another topology by name'],
  [17, 'out of scope, with a rationale', `${swarm}/runtime/breakage-swarm.test.ts`, 'finds the rationale'],
  [17, 'the same refusal three times', here, '17 the same refusal three times'],
  [18, 'a handoff of what is not there', ends, 'done is what the store says'],
  [19, 'a merger that says ok', ends, 'done is what the store says'],
  [20, 'calls in circles', `${swarm}/agent/agent.test.ts`, 'the same call three times is a nudge'],
  [20, 'quiet turns', `${swarm}/agent/loop-watch.test.ts`, 'without a change of tree or score'],
  [21, 'a search text that stands twice', edits, 'stands there twice is refused'],
  [21, 'a search text that is missing', edits, 'is refused with the nearest region'],
  [22, 'a message too large to shrink', `${swarm}/context/context-care.test.ts`, 'too large to shrink is a typed end'],
  [23, 'a result too large in mid-run', `${swarm}/context/context-care.test.ts`, 'checked before each request'],
  [24, 'endless output', commands, 'endless output is read, bounded'],
  [24, 'one that takes too much', commands, 'prints or takes too much is ended'],
  [25, 'secrets of the environment', commands, 'secrets of the environment are not inherited'],
];

test.each(covered)('case %i, %s, is a test', (_number, _what, file, title) => {
  expect(readFileSync(join(projectDir, file), 'utf8')).toContain(title);
});

test.skipIf(!hasCases)('no recorded case of a runtime, and no row of what servers send, is without a test', () => {
  const numbers = [...caseText('runtime.md').matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
  const known = new Set(covered.map(([number]) => number));
  expect(numbers.length).toBeGreaterThan(20);
  expect(numbers.filter((number) => !known.has(number))).toEqual([]);
  const rows = [...caseText('provider-wire.md').matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  const told = new Set(rowsIn(join(projectDir, swarm)));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !told.has(row))).toEqual([]);
});

/** Numbers of rows that titles of tests name: `row 8`, `rows 16 and 17`. */
function rowsIn(dir: string): number[] {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((name) =>
    [...readFileSync(join(dir, name), 'utf8').matchAll(/\brows? (\d+(?:(?:, | and )\d+)*)/g)].flatMap(([, list]) =>
      (list ?? '').split(/, | and /).map(Number),
    ),
  );
}

const call = (name: string, input: object): { name: string; arguments: never } => ({ name, arguments: input as never });
const finish = (status = 'done'): { name: string; arguments: never } => call('finish', { status });

function runOf(
  repo: Repo,
  scripts: Readonly<Record<string, Script>>,
  more: Partial<SwarmOptions> = {},
): Promise<SwarmResult> {
  const model = new ScriptedModel(scripts);
  return runSwarm({ repo, goal: 'g', runId: 'r1', models: { planner: model, worker: model }, agentsMax: 8, ...more });
}

test('1 a planner that always delegates is stopped by depth, by fan-out and by what its tree may cost', async () => {
  const repo = await tempRepo();
  const refused: string[] = [];
  const result = await runOf(
    repo,
    {
      planner: ({ brief, turn, results }) => {
        for (const { value } of results) if (!value.ok) refused.push(value.says);
        if (brief.role !== 'planner' || turn > 1) return { calls: [finish()] };
        const ids = Array.from({ length: 2 + turn * 9 }, (_, at) => `${brief.task}-${turn}-${at}`);
        const tasks = ids.map((id) => ({ id, title: id, role: 'planner' }));
        return { calls: [call('delegate', { tasks }), call('wait', {})] };
      },
      worker: () => ({ calls: [finish('nothing-to-do')] }),
    },
    { budget: { tokens: 2_000_000 }, limits: { depthMax: 2, fanOutMax: 10, outputTokensMax: 1000 } },
  );
  expect(result.reason).toBe('finished');
  // Two below the goal, two below each of them.
  expect(result.tasks.created).toBe(6);
  expect(refused).toContainEqual(expect.stringContaining('planners may stand 2 below'));
  expect(refused).toContainEqual(expect.stringContaining('would be over 10'));
  // Each had its part before it began, and gave back what was left.
  const root = readRun(repo, 'r1' as RunId)?.budgets.get('root' as never);
  expect(root).toMatchObject({ reserved: { tokens: 0 } });
  const { inputTokens, outputTokens } = result.cost.total.usage;
  expect(root?.spent.tokens).toBe(inputTokens + outputTokens);
});

test('2 a budget of nothing asks nothing, and no bound is said by name', async () => {
  const asked: string[] = [];
  const planner: Script = ({ brief }) => {
    asked.push(brief.run);
    return { calls: [finish()] };
  };
  const repo = await tempRepo();
  expect(await runOf(repo, { planner }, { budget: { tokens: 0 } })).toMatchObject({ reason: 'budget' });
  expect(asked).toEqual([]);
  const free = await runOf(repo, { planner }, { runId: 'r2', budget: { tokens: 'unlimited' } });
  expect([free.reason, asked]).toEqual(['finished', ['r2']]);
  await expect(runOf(repo, { planner }, { runId: 'r3', budget: { tokens: -1 } })).rejects.toThrow("nor 'unlimited'");
});

test('6 the seq that a worker starts from stands in its brief and in its transcript, however far the trunk has moved', async () => {
  const repo = await tempRepo();
  await landNew(repo, { 'a.txt': 'old\n' });
  const base = repo.snapshot().seq;
  await repo.put('a.txt', 'new\n', { author: setup, expect: { kind: 'version', seq: base } as never });
  let told: number | undefined;
  let text: unknown;
  await runOf(
    repo,
    {
      worker: ({ brief, turn, results }) => {
        told = brief.base;
        text = results[0]?.value['text'];
        return { calls: [turn === 0 ? call('read', { path: 'a.txt' }) : finish('nothing-to-do')] };
      },
    },
    { tasks: [{ id: 't1' as never, title: 't', scope: [], brief: '', base }] },
  );
  expect([told, text]).toEqual([base, 'old\n']);
  const [file = ''] = readdirSync(join(repo.dir, '.mound/swarm/r1')).filter((name) => name.startsWith('task-t1'));
  expect(readTranscript(join(repo.dir, '.mound/swarm/r1', file)).lines[0]).toMatchObject({ kind: 'start', base });
});

test('9 a command runs on a snapshot and its agent’s own edits, whatever a sibling has landed in between', async () => {
  const repo = await tempRepo();
  await landNew(repo, { 'a.txt': 'a0\n', 'b.txt': 'b0\n' });
  let half = (): void => undefined;
  const isHalf = new Promise<void>((resolve) => (half = resolve));
  let ran = (): void => undefined;
  const hasRun = new Promise<void>((resolve) => (ran = resolve));
  let printed: unknown;
  const put = (path: string, content: string, more: boolean): ReturnType<typeof call> =>
    call('commit', { changes: [{ path, content }], message: 'm', more });
  await runOf(
    repo,
    {
      worker: async ({ brief, turn, results }) => {
        if ((brief as WorkerBrief).task.id === 'writer') {
          if (turn === 0) return { calls: [put('a.txt', 'a1\n', true)] };
          half();
          await hasRun;
          return { calls: [put('b.txt', 'b1\n', false), finish()] };
        }
        if (turn === 0) {
          await isHalf;
          return { calls: [call('run', { command: 'cat a.txt b.txt' })] };
        }
        printed = results[0]?.value['output'];
        ran();
        return { calls: [finish('nothing-to-do')] };
      },
    },
    {
      tasks: ['writer', 'reader'].map((id) => ({ id: id as never, title: id, scope: [], brief: '' })),
      commands: { directory: join(tempDir(), 'work'), environment: { PATH: process.env['PATH'] ?? '' } },
    },
  );
  expect(printed).toBe('a0\nb0\n');
});

test('14 a transcript that is cut at any byte is read up to its last whole line, and says what was lost', async () => {
  const repo = await tempRepo();
  await runOf(
    repo,
    { worker: () => ({ calls: [finish('nothing-to-do')] }) },
    { tasks: [{ id: 't1' as never, title: 'ä', scope: [], brief: '' }] },
  );
  const dir = join(repo.dir, '.mound/swarm/r1');
  const file = join(dir, readdirSync(dir).find((name) => name.startsWith('task-t1')) ?? '');
  const whole = readTranscript(file).lines.length;
  const copy = join(tempDir(), 'cut.jsonl');
  copyFileSync(file, copy);
  const all = readFileSync(file);
  for (let bytes = statSync(file).size; bytes >= 0; bytes--) {
    truncateSync(copy, bytes);
    const { lines, bytes: readable, lostBytes } = readTranscript(copy);
    expect(readable + lostBytes).toBe(bytes);
    expect(lines.length).toBe(all.subarray(0, bytes).filter((byte) => byte === 0x0a).length);
    expect(lines.length).toBeLessThanOrEqual(whole);
  }
});

test('17 the same refusal three times goes to the planner', async () => {
  const repo = await tempRepo();
  const outside = call('commit', { changes: [{ path: 'out.txt', content: 'x' }], message: 'm' });
  const result = await runOf(
    repo,
    { worker: () => ({ calls: [outside] }) },
    { tasks: [{ id: 't1' as never, title: 't', scope: ['in.txt'], brief: '' }] },
  );
  expect(result).toMatchObject({ outcomes: { landed: 0 }, roles: { worker: { turns: 3 } } });
  expect(readRun(repo, 'r1' as RunId)?.agents[0]?.report?.handoff).toMatchObject({
    status: 'blocked',
    concerns: [expect.stringContaining('refused 3 times')],
  });
});
