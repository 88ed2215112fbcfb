import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Repo } from '@mound/vcs';
import type { WorkerBrief } from '../core/brief.ts';
import type { JsonValue } from '../core/json.ts';
import type { Script, ScriptedTurn } from '../model/scripted-model.ts';
import { call, commandSettings, finish, newRepo, planInBatches, swarm, treeOf } from './swarm.test.kit.ts';

/** The core's signature changes on purpose; what depends on it fails under the real compiler, and is mended. */

const tsc = fileURLToPath(new URL('../../../../node_modules/@typescript/native/bin/tsc', import.meta.url));
const flags = '--noEmit --strict --types "" --lib es5 --module nodenext --allowImportingTsExtensions --pretty false';
const build = (files: string): string => `${process.execPath} ${tsc} ${flags} ${files}`;

const core = 'export function parseCount(text: string): number {\n  return Number(text);\n}\n';
const newCore = core
  .replace('text: string', 'text: string, radix: number')
  .replace('Number(text)', 'parseInt(text, radix)');
const user = (name: string): string =>
  `import { parseCount } from './core.ts';\nexport const ${name}: number = parseCount('11');\n`;
const rationale = 'counts come in several bases now; callers of decimal ones pass 10';
const names = ['a', 'b', 'c'];
const start = { 'core.ts': core, ...Object.fromEntries(names.map((name) => [`${name}.ts`, user(name)])) };

const task = (id: string, scope: string[], more: object = {}): JsonValue => ({ id, title: id, scope, ...more });
const tasks: JsonValue[][] = [
  [task('bases', ['bases.ts'])],
  names.map((name) => task(name, [`${name}.ts`], { check: build(`${name}.ts`) })),
];

async function directory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'mound-breakage-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function buildAll(repo: Repo): Promise<{ readonly status: number | null; readonly stdout: string }> {
  const dir = await directory();
  for (const [path, text] of Object.entries(treeOf(repo))) writeFileSync(join(dir, path), text ?? '');
  return spawnSync('/bin/sh', ['-c', build('*.ts')], { cwd: dir, encoding: 'utf8' });
}

/** Breaks the core for a task of its own. */
const breaker = (turn: number): ScriptedTurn => {
  const changes = [
    { path: 'core.ts', content: newCore },
    { path: 'bases.ts', content: 'export const bases: readonly number[] = [2, 10];\n' },
  ];
  return turn === 0
    ? { calls: [call('commit', { changes, message: 'several bases', breakage: rationale })] }
    : { calls: [finish()] };
};

interface Found {
  readonly rationale: string;
  readonly by: string;
  readonly symbols: readonly string[];
  readonly paths: readonly string[];
}

test('three dependents fail, each finds the rationale in what run answers, and the build is green in the end', async () => {
  const repo = await newRepo(start);
  expect((await buildAll(repo)).status).toBe(0);
  const found = new Map<string, Found>();
  const worker: Script = ({ brief, turn, results }) => {
    const { id } = (brief as WorkerBrief).task;
    if (id === 'bases') return breaker(turn);
    if (turn === 0) return { calls: [call('run', { command: build(`${id}.ts`) }), call('read', { path: `${id}.ts` })] };
    if (turn === 1) {
      const [ran, read] = results;
      const [why] = (ran?.value['breakages'] ?? []) as unknown as Found[];
      expect(ran?.value.ok).toBe(false);
      expect(ran?.value.says).toContain(`who changed core.ts, bases.ts (parseCount) and says why: ${rationale}`);
      if (why === undefined) throw new Error('nothing explains it');
      found.set(id, why);
      // It adapts to what the rationale says, nothing else.
      const [, base = ''] = /pass (\d+)/.exec(why.rationale) ?? [];
      const [symbol = ''] = why.symbols;
      const edits = [{ search: `${symbol}('11')`, replace: `${symbol}('11', ${base})` }];
      const version = read?.value['version'] ?? 0;
      // Done is accepted only where the task's check, the same build, passes.
      return { calls: [call('edit', { path: `${id}.ts`, version, edits }), finish()] };
    }
    throw new Error(`not accepted: ${results[1]?.value.says}`);
  };
  const work = await directory();
  const commands = { ...commandSettings(work), directory: work };
  const result = await swarm(repo, { planner: planInBatches(...tasks), worker }, { commands });
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 4 } });
  expect([...found.keys()].toSorted()).toEqual(names);
  const [breakage] = repo.breakages();
  expect(found.get('a')).toMatchObject({ rationale, by: 'r1/worker-1', paths: ['core.ts', 'bases.ts'], symbols: ['parseCount'] });
  expect(treeOf(repo)).toEqual({
    'core.ts': `// @breakage ${breakage?.id} by r1/worker-1, task r1/bases: ${rationale}\n${newCore}`,
    'bases.ts': 'export const bases: readonly number[] = [2, 10];\n',
    ...Object.fromEntries(names.map((name) => [`${name}.ts`, user(name).replace("('11')", "('11', 10)")])),
  });
  expect(await buildAll(repo)).toMatchObject({ status: 0, stdout: '' });
}); // prettier-ignore

test('who works on what is broken is told before its next request', async () => {
  const repo = await newRepo(start);
  let broke = (): void => undefined;
  const isBroken = new Promise<void>((resolve) => (broke = resolve));
  const told: string[] = [];
  const worker: Script = async ({ brief, turn, request }) => {
    const { id } = (brief as WorkerBrief).task;
    if (id === 'bases') return breaker(turn);
    // The owner of the core, at work since before.
    if (turn === 0) {
      await isBroken;
      return { calls: [call('list', {})] };
    }
    told.push(JSON.stringify(request.messages));
    return { calls: [finish('nothing-to-do')] };
  };
  const planner = planInBatches([task('core', ['core.ts']), task('bases', ['bases.ts'])], [task('a', ['a.ts'])]);
  const result = await swarm(
    repo,
    { planner, worker },
    { onEvent: (event) => event.kind === 'task.finished' && event.report.task === 'bases' && broke() },
  );
  expect(result.reason).toBe('finished');
  expect(told[0]).toContain(`r1/worker-2 changed core.ts, bases.ts, which is in your scope, and meant to (breakage`);
  expect(told[0]).toContain(rationale);
});

test('switched off, the change is refused', async () => {
  const repo = await newRepo(start);
  const worker: Script = ({ turn, results }) => {
    if (turn === 0) return breaker(0);
    expect(results[0]?.value).toMatchObject({ ok: false });
    return { calls: [finish('blocked')] };
  };
  await swarm(repo, { planner: planInBatches(tasks[0] ?? []), worker }, { policy: { coordination: { breakages: 'off' } } });
  expect(treeOf(repo)).toEqual(start);
  expect(repo.breakages()).toEqual([]);
}); // prettier-ignore
