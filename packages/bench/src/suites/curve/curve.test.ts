import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { detectSandbox } from '@mound/swarm';
import { expect, test } from 'vitest';

import { commit, newRepo, tempDir, writeFiles } from '../../curve/commits.test.kit.ts';
import { smallCorpus } from '../../curve/small-corpus.test.kit.ts';
import { engineSteps } from '../../curve/small-engine.test.kit.ts';
import { runSmallSwarm } from '../../curve/small-run.test.kit.ts';
import { parseResultFile, type ResultFile, type Sample } from '../../harness/result-file.ts';
import { hasBrowser, show } from '../../report/browser.test.kit.ts';

const launcher = fileURLToPath(new URL('../../../bin/mound-bench.js', import.meta.url));
const sandboxFlag = detectSandbox('/tmp', ['bubblewrap', 'unshare']) === 'none' ? ['--no-sandbox'] : [];

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[]): { kill: () => void; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [launcher, ...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { kill: () => process.kill(-(child.pid ?? 0), 'SIGKILL'), ended };
}

const bench = (...args: readonly string[]): Promise<Ended> => start(args).ended;

function resultOf({ code, stdout, stderr }: Ended): ResultFile {
  expect([code, stderr]).toEqual([0, '']);
  const result = parseResultFile(stdout);
  if (typeof result === 'string') throw new Error(result);
  return result;
}

const named = ({ samples }: ResultFile, workload: string, metric: string): Sample[] =>
  samples.filter((sample) => sample.workload['workload'] === workload && sample.metric === metric);

test('a swarm builds an SQL engine: the curve shows it, and who made it worse or broke the build', async () => {
  const dir = await tempDir();
  const [repo, corpus, work] = ['repo', 'corpus', 'work'].map((name) => join(dir, name)) as [string, string, string];
  await writeFiles(corpus, smallCorpus);
  await writeFiles(work, {});
  await runSmallSwarm(repo);
  const args = ['curve', '--repo', repo, '--build', 'node build.mjs', '--engine', 'node dist/main.mjs'];
  const more = ['--corpus', corpus, '--workers', '2', '--every', '3', '--thresholds', '50,90,100'];
  const ended = await bench(...args, ...more, ...sandboxFlag, '--json');
  const result = resultOf(ended);
  const points = named(result, 'curve', 'score').map(({ workload, median }) => [
    workload['commits'],
    workload['state'],
    Math.round(median * 127),
  ]);
  expect(points).toEqual([
    [0, 'empty', 0],
    [3, 'scored', expect.any(Number)],
    [6, 'scored', expect.any(Number)],
    [7, 'scored', expect.any(Number)],
    [8, 'scored', expect.any(Number)],
    [9, 'build-failed', 0],
    [engineSteps.length, 'scored', expect.any(Number)],
  ]);
  expect(named(result, 'curve', 'score').at(-1)?.median).toBe(1);
  const culprits = named(result, 'regression', 'scoreLost').map(({ workload }) => workload);
  expect(culprits).toMatchObject([
    { kind: 'score', role: 'quick-worker', model: 'quick', task: 'small/order', commits: 7, recovered: 'seq 36' },
    { kind: 'build', role: 'quick-worker', model: 'quick', task: 'small/delete', commits: 9, to: 'no build' },
  ]);
  expect(
    named(result, 'threshold', 'commitsToShare').map(({ workload, median }) => [workload['reached'], median]),
  ).toEqual([
    ['50 %', 3],
    ['90 %', 6],
    ['100 %', 12],
  ]);
  expect(named(result, 'category', 'score').map(({ workload, median }) => [workload['category'], median])).toEqual([
    ['aggregate', 1],
    ['change', 1],
    ['create', 1],
    ['select', 1],
  ]);
  const [json, html] = [join(dir, 'curve.json'), join(dir, 'curve.html')];
  await writeFile(json, ended.stdout);
  expect(await bench('report', json, '--out', html)).toEqual({ code: 0, stdout: '', stderr: '' });
  const page = readFileSync(html, 'utf8');
  expect(page).toContain('Sort by ORDER BY, compare in one place');
  if (hasBrowser) expect(await show(page)).toEqual({ pictures: 4, faults: [], requests: 1, said: [] });
}, 120_000);

test('after kill -9 the same command goes on with what is done', async () => {
  const repo = await newRepo();
  for (let at = 1; at <= 6; at++) await commit(repo, { passed: `${at}\n` });
  const dir = await tempDir();
  const journal = join(dir, 'points.jsonl');
  const score = `sleep 0.3; echo "{\\"passed\\": $(cat passed), \\"total\\": 10}"`;
  const args = [
    'curve',
    '--repo',
    repo.dir,
    '--score',
    score,
    '--resume',
    journal,
    '--dir',
    dir,
    '--json',
    ...sandboxFlag,
  ];
  const rows = (): string[] => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').slice(1, -1) : []);
  const { kill, ended } = start(args);
  while (rows().length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  kill();
  expect((await ended).code).toBe(null);
  const kept = rows();
  expect(kept.length).toBeLessThan(7);
  const result = resultOf(await bench(...args));
  expect(named(result, 'curve', 'testsPassed').map(({ median }) => median)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(rows().slice(0, kept.length)).toEqual(kept);
  // With the control's.
  expect(rows()).toHaveLength(8);
  // Of the one that was killed a directory may be there; of the other nothing is.
  expect((await readdir(dir)).filter((name) => name !== 'points.jsonl').length).toBeLessThanOrEqual(1);
});

test('a score that does not look at the tree fails the run: nothing that it says can be trusted', async () => {
  const repo = await newRepo();
  for (let at = 1; at <= 2; at++) await commit(repo, { passed: `${at}\n` });
  const blind = `echo '{"passed": 3, "total": 4}'`;
  const ended = await bench('curve', '--repo', repo.dir, '--score', blind, '--json', ...sandboxFlag);
  expect([ended.code, ended.stderr]).toEqual([1, '']);
  const { notes } = JSON.parse(ended.stdout) as ResultFile;
  expect(notes).toContain(
    'FAULT: control: a tree in which nothing was built has 75 %, as much as the best point: trust no score here',
  );
  const sees = `test -f passed || exit 1; ${blind}`;
  const result = resultOf(await bench('curve', '--repo', repo.dir, '--score', sees, '--json', ...sandboxFlag));
  expect(result.notes).toContain('control: a tree in which nothing was built has 0 % (crashed)');
});
