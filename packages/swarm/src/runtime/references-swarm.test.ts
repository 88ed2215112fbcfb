import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateSymbols, type Repo } from '@mound/vcs';
import { expect, onTestFinished, test } from 'vitest';
import type { WorkerBrief } from '../core/brief.ts';
import type { Script } from '../model/scripted-model.ts';
import { call, finish, newRepo, put, swarm, treeOf } from './swarm.test.kit.ts';

/** A planner changes its mind: what relied on the old decision stops compiling, and nothing new may cite it. */

const tsc = fileURLToPath(new URL('../../../../node_modules/@typescript/native/bin/tsc', import.meta.url));
const flags = ['--noEmit', '--strict', '--types', '', '--lib', 'es5', '--module', 'nodenext', '--allowImportingTsExtensions', '--pretty', 'false']; // prettier-ignore

async function build(repo: Repo): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'mound-references-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const files = Object.entries(treeOf(repo)).filter(([path]) => path.endsWith('.ts'));
  for (const [path, text] of files) writeFileSync(join(dir, path), text ?? '');
  const args = [tsc, ...flags, ...files.map(([path]) => path)];
  return spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' }).stdout;
}

const user = (symbol: string): string =>
  `import { ${symbol} } from './decisions.ts';\nexport const why: string = ${symbol};\n`;
const decide = (id: string, supersedes: string[]): ReturnType<typeof call> =>
  call('decide', { id, topics: ['ids'], text: `ids are ${id}`, ...(supersedes.length > 0 && { supersedes }) });

function scripts(
  repo: Repo,
  builds: string[] | undefined,
  answers: string[],
): { readonly planner: Script; readonly worker: Script } {
  const worker: Script = ({ brief, turn, results }) => {
    const { id } = (brief as WorkerBrief).task;
    if (turn === 1 && results[0] !== undefined) answers.push(results[0].value.says);
    if (id === 'first' || turn === 1) {
      const content = user(id === 'first' ? 'DECISION_NUMBERS' : 'DECISION_TEXTS');
      return { calls: [put([{ path: 'user.ts', content, ...(id === 'first' && { expect: 'absent' }) }]), finish()] };
    }
    // From memory: the old one.
    return { calls: [put([{ path: 'other.ts', content: '// @decision numbers\n', expect: 'absent' }])] };
  };
  const planner: Script = async ({ turn }) => {
    const delegate = (id: string): ReturnType<typeof call> =>
      call('delegate', { tasks: [{ id, title: id, scope: [] }] });
    builds?.push(await build(repo));
    if (turn === 0) return { calls: [decide('numbers', []), delegate('first'), call('wait', {})] };
    if (turn === 1) return { calls: [decide('texts', ['numbers'])] };
    if (turn === 2) return { calls: [delegate('second'), call('wait', {})] };
    return { calls: [finish()] };
  };
  return { planner, worker };
}

const start = { 'decisions.ts': generateSymbols('decisions.ts', []) };

test('what relied on a superseded decision stops compiling with its landing, and nothing new may cite it', async () => {
  const repo = await newRepo(start);
  const [builds, answers]: [string[], string[]] = [[], []];
  expect(await swarm(repo, scripts(repo, builds, answers))).toMatchObject({ reason: 'finished' });
  expect(builds[1]).toBe('');
  expect(builds[2]).toContain("has no exported member 'DECISION_NUMBERS'");
  expect(answers).toEqual([expect.stringContaining("other.ts:1: 'numbers' is superseded by texts; cite that")]);
  expect(builds[3]).toBe('');
  expect(repo.checkDecisions()).toMatchObject({ missing: [], superseded: [], stale: [], faults: [] });
  expect(repo.references({ decision: 'texts' }).map(({ path }) => path)).toEqual(['user.ts', 'user.ts']);
  expect(repo.rules()).toEqual([{ name: 'references', rule: { kind: 'references', paths: ['*'] } }]);
}); // prettier-ignore

test('switched off, both land', async () => {
  const repo = await newRepo(start);
  const answers: string[] = [];
  const policy = { coordination: { references: 'off' } } as const;
  await swarm(repo, scripts(repo, undefined, answers), { policy });
  expect(repo.rules()).toEqual([]);
  expect(answers).toEqual([expect.stringContaining('landed')]);
  expect(repo.snapshot().readText('decisions.ts')).toBe(start['decisions.ts']);
});
