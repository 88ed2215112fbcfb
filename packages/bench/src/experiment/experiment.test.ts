import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { mechanisms } from '@mound/swarm';
import { openRepo } from '@mound/vcs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { parseResultFile, type ResultFile } from '../harness/result-file.ts';
import { noProgress, UnreadableError, type SuiteOutcome } from '../suites/suite.ts';
import type { CellResult } from './cell-result.ts';
import { cellsOf } from './cells.ts';
import { loadExperiment } from './experiment-file.ts';
import { experimentSuite } from './experiment.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'mound-experiment-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A planner of two tasks, and workers who write a file each. */
const script = `
const call = (name, input) => ({ name, arguments: input });
export default {
  planner: ({ turn }) => turn === 0
    ? { calls: [call('delegate', { tasks: ['a', 'b'].map((id) => ({ id, title: id, scope: [], brief: id, unchecked: 'text' })) }), call('wait', {})] }
    : { calls: [call('finish', { status: 'done' })] },
  worker: ({ brief }) => ({ calls: [
    call('write', { path: 'src/' + brief.task.id.split('/').at(-1) + '.js', content: "import 'left-pad';\\nexport const it = 1;\\n" }),
    call('finish', { status: 'done' }),
  ] }),
};`;

const base = {
  format: 1,
  name: 'tiny',
  goal: 'goal.md',
  tree: 'tree',
  dependencies: { allow: [] },
  score: { command: 'echo "{\\"passed\\": $(ls src | wc -l), \\"total\\": 2}"' },
  models: { script: { kind: 'scripted', module: 'script.mjs' } },
  mixes: { one: { planner: 'script', worker: 'script' } },
  swarm: { commands: { mode: 'off' }, bounds: { agents: 2 } },
  arms: ['all-on', 'solo'],
};

function fileOf(more: object = {}): string {
  mkdirSync(join(dir, 'tree'), { recursive: true });
  writeFileSync(join(dir, 'tree', 'README.md'), 'it begins\n');
  writeFileSync(join(dir, 'goal.md'), 'Write a and b.\n');
  writeFileSync(join(dir, 'script.mjs'), script);
  const file = join(dir, 'experiment.json');
  writeFileSync(file, JSON.stringify({ ...base, ...more }));
  return file;
}

const run = (file: string, values: object = {}): Promise<SuiteOutcome> =>
  experimentSuite.run({
    size: 'default',
    values: { file, out: join(dir, 'out'), sandbox: false, ...values },
    dir: undefined,
    signal: new AbortController().signal,
    progress: noProgress,
  });

async function resultOf(file: string, values: object = {}): Promise<ResultFile> {
  const outcome = await run(file, values);
  if (outcome.kind !== 'result') throw new Error('no result');
  expect(outcome.exitCode).toBe(0);
  expect(parseResultFile(JSON.stringify(outcome.result))).toMatchObject({ suite: 'experiment' });
  return outcome.result;
}

describe('a file that says what cannot be is refused in one line', () => {
  test.each([
    [{ gaol: 'x' }, "gaol: unknown key; the nearest is 'goal'"],
    [{ goal: 'tree' }, "'tree' is no file"],
    [{ tree: 'goal.md' }, "'goal.md' is no directory"],
    [{ references: ['goal.md'] }, "'goal.md' is no directory"],
    [{ format: 2 }, 'format: '],
    [{ goal: 'none.md' }, "'none.md' is not there"],
    [{ mixes: { one: { planner: 'script', worker: 'scrpt' } } }, "mixes.one.worker: there is no model 'scrpt'"],
    [{ matrix: ['scrpt'] }, "matrix: there is no model 'scrpt'"],
    [{ mixes: {} }, 'neither a mix nor a matrix'],
    [{ score: {} }, 'score: give command, or corpus and engine'],
    [{ score: undefined, build: 'make' }, 'build: without a score nothing is built'],
    [{ swarm: { budget: { usd: 1 } } }, 'swarm.budget: it stands at the top'],
    [
      { arms: [{ name: 'x', swarm: { bounds: { minutes: 1 } } }] },
      'arms.0.swarm.bounds.minutes: every arm has the same',
    ],
    [{ swarm: { commands: { mode: 'open' } } }, "swarm.commands.mode: 'open' has a network"],
    [
      { models: { script: { kind: 'command', command: ['x'] } } },
      'models.script: nothing keeps a command off the network',
    ],
    [{ arms: ['no-merge'] }, "there is no preset 'no-merge'"],
    [{ arms: ['solo', 'solo'] }, "two arms are called 'solo'"],
    [{ swarm: { buonds: {} } }, "buonds: unknown key; the nearest is 'bounds'"],
  ])('%j', async (more, says) => {
    const refused = run(fileOf(more), { dryRun: true });
    await expect(refused).rejects.toThrow(says);
    await expect(refused).rejects.toBeInstanceOf(UnreadableError);
    await expect(refused).rejects.not.toThrow('\n');
  });
});

test('arms are every mechanism, mixes every pair, and a seed goes to the models', async () => {
  const models = { a: { kind: 'scripted', module: 's-{cell}.mjs' }, b: { kind: 'scripted', module: 'b-{seed}.mjs' } };
  const file = fileOf({ models, mixes: {}, matrix: ['a', 'b'], seeds: 2, arms: ['all-on', { name: 'mine', mixes: ['a+b'], swarm: { bounds: { agents: 5 } } }, 'mechanisms', 'old-style'] }); // prettier-ignore
  const cells = cellsOf(await loadExperiment(file, {}));
  expect(cells).toHaveLength(2 * (4 + 1 + mechanisms.length * 4 + 4));
  expect(cells[0]).toMatchObject({ name: 'all-on.a+a.1', seed: 1, minds: 'scripted', config: { roles: { planner: 'a', worker: 'a', merger: 'a' } } }); // prettier-ignore
  expect(cells[0]?.config.models['a']).toMatchObject({ module: join(dir, 's-all-on.a+a.1.mjs') });
  expect(cells.at(-1)?.config).toMatchObject({
    topology: { kind: 'peers', count: 2 },
    coordination: { merger: 'off' },
  });
  expect(cells.find(({ arm }) => arm === 'mine')?.config.bounds.agents).toBe(5);
  expect(cells.find(({ arm }) => arm === 'no-merger')?.config.coordination).toMatchObject({ merger: 'off', lenses: 'on' }); // prettier-ignore
});

test('--dry-run says what would run, what is missing and what it would cost at most, and makes nothing', async () => {
  const far = { kind: 'endpoint', endpoint: 'far', model: '${A_MODEL}' };
  const file = fileOf({
    endpoints: { far: { baseURL: '${A_URL}', apiKeyEnv: 'NO_SUCH_KEY' } },
    models: { far },
    mixes: { one: { planner: 'far', worker: 'far' } },
    budget: { usd: 2.5, minutes: 30 },
    seeds: 3,
    tools: ['no-such-tool'],
  });
  const outcome = await run(file, { dryRun: true });
  if (outcome.kind !== 'own') throw new Error('not a dry run');
  expect(outcome.json).toMatchObject({ usdAtMost: 15, hoursAtMost: 3, arms: ['all-on', 'solo'], seeds: 3 });
  for (const line of [
    '6 runs: 2 arms, 1 mixes, 3 seeds',
    'cost at most: $15.00',
    'missing: variable: A_URL is not set',
    'missing: key: NO_SUCH_KEY',
    'missing: tool: no-such-tool',
  ])
    // prettier-ignore
    expect(outcome.text).toContain(line);
  expect(existsSync(join(dir, 'out'))).toBe(false);
  await expect(run(file)).rejects.toThrow('key: NO_SUCH_KEY is not set');
});

test('each arm in a repository of its own; what depends on judgement is not told of scripts; a second call keeps all', async () => {
  const file = fileOf();
  const first = await resultOf(file);
  const told = first.samples.filter(({ workload }) => workload['workload'] === 'experiment');
  const figures = Object.fromEntries(told.map(({ subject, metric, median }) => [`${subject} ${metric}`, median]));
  expect(figures).toMatchObject({ 'all-on commitsPerRound': 2, 'all-on tasksTotal': 2, 'solo tasksTotal': 1, 'solo commitsPerRound': 1 }); // prettier-ignore
  for (const metric of ['score', 'costUsd', 'linesTotal', 'contextTokensP50']) expect(figures).not.toHaveProperty(`all-on ${metric}`); // prettier-ignore
  expect(first.notes.join('\n')).toMatch(/not measured where minds are scripts: score/);
  expect(first.notes.join('\n')).toContain('all-on.one.1: FAULT: src/a.js depends on left-pad, which is not allowed');
  const repo = await openRepo(join(dir, 'out', 'cells', 'all-on.one.1', 'repo'));
  expect(repo.snapshot().list().map(({ path }) => path)).toEqual(['README.md', 'src/a.js', 'src/b.js']); // prettier-ignore
  await repo.close();
  const stamp = readFileSync(join(dir, 'out', 'cells', 'all-on.one.1', 'cell.json'), 'utf8');
  const second = await resultOf(file);
  expect(second.notes).toContain('all-on.one.1: finished before, kept');
  expect(readFileSync(join(dir, 'out', 'cells', 'all-on.one.1', 'cell.json'), 'utf8')).toBe(stamp);
  expect(second.samples).toEqual(first.samples);
  // Died between its directory and the first record of its run.
  for (const name of ['cell.json', 'repo']) rmSync(join(dir, 'out', 'cells', 'solo.one.1', name), { recursive: true });
  const third = await resultOf(file);
  expect(third.notes).toContain('solo.one.1: died before its run began; begun anew');
  expect(third.notes).toContain('all-on.one.1: finished before, kept');
  await expect(run(fileOf({ budget: { tokens: 5 } }))).rejects.toThrow('holds runs of');
  expect(readdirSync(join(dir, 'out', 'cells'))).toEqual(['all-on.one.1', 'solo.one.1']);
});

test('documentation is got once and stands in every arm; a script that fails is named', async () => {
  writeFileSync(join(dir, 'docs.sh'), '#!/bin/sh\necho once >> calls\nmkdir "$1/lang" && echo text > "$1/lang/select.html"\n', { mode: 0o755 }); // prettier-ignore
  const documentation = { script: 'docs.sh', into: 'manual' };
  await resultOf(fileOf({ documentation }));
  expect(readFileSync(join(dir, 'calls'), 'utf8')).toBe('once\n');
  for (const cell of ['all-on.one.1', 'solo.one.1']) {
    const repo = await openRepo(join(dir, 'out', 'cells', cell, 'repo'));
    expect(repo.snapshot().readText('manual/lang/select.html')).toBe('text\n');
    await repo.close();
  }
  writeFileSync(join(dir, 'docs.sh'), '#!/bin/sh\necho "no package here" >&2\nexit 1\n', { mode: 0o755 });
  await expect(run(fileOf({ documentation }), { out: join(dir, 'other') })).rejects.toThrow('no package here');
});

test('time that is over ends a run whose mind does not answer; what it began with is its score', async () => {
  const file = fileOf({ budget: { minutes: 0.02 }, arms: ['solo'], score: { command: 'echo "{\\"passed\\": $(ls -I NOTHING.txt | wc -l), \\"total\\": 4}"' } }); // prettier-ignore
  writeFileSync(
    join(dir, 'script.mjs'),
    'export default { planner: () => ({}), worker: () => new Promise(() => {}) };',
  );
  const { notes } = await resultOf(file);
  expect(notes.join('\n')).toMatch(/solo\.one\.1: ended time-limit/);
  const cell = JSON.parse(readFileSync(join(dir, 'out', 'cells', 'solo.one.1', 'cell.json'), 'utf8')) as CellResult;
  expect(cell).toMatchObject({ reason: 'time-limit', commits: 0, score: 0.25 });
});
