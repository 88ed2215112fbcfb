import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { detectSandbox } from '@mound/swarm';
import type { Repo } from '@mound/vcs';
import { expect, test } from 'vitest';

import { Interrupted } from '../harness/interrupt.ts';
import { agent, commit, newRepo, tempDir, writeFiles } from './commits.test.kit.ts';
import type { CurvePoint, CurveResult } from './curve.ts';
import { scoreCurve, type CurveOptions } from './score-curve.ts';
import type { Scorer } from './scorer.ts';

const hasSandbox = detectSandbox('/tmp', ['bubblewrap', 'unshare']) !== 'none';
/** Where there is no sandbox the rest is tested all the same. */
const sandbox = hasSandbox ? 'required' : 'none';

/** The commits say by a file what is passed of 10, and by another one whether they build. */
const build = 'test ! -e broken || { echo no such type >&2; exit 3; }';
const counting: Scorer = {
  kind: 'command',
  command: `echo noise; echo "{\\"passed\\": $(cat passed), \\"total\\": 10, \\"score\\": 0.1}"`,
};

interface Step {
  readonly passed?: number;
  readonly broken?: boolean;
}

async function repoOf(all: readonly Step[]): Promise<{ repo: Repo; seqs: number[] }> {
  const repo = await newRepo();
  const seqs: number[] = [];
  for (const [at, { passed, broken }] of all.entries()) {
    const files = {
      log: `${at}`,
      ...(passed !== undefined && { passed: `${passed}\n` }),
      ...(broken !== undefined && { broken: broken ? 'x' : null }),
    };
    const author = agent(`worker-${at + 1}`, at % 2 === 0 ? 'fast' : 'careful');
    seqs.push(await commit(repo, files, { author, task: `t${at + 1}`, message: `step ${at + 1}\n\nmore` }));
  }
  return { repo, seqs };
}

const curveOf = (repo: Repo, more: Partial<CurveOptions> = {}): Promise<CurveResult> =>
  scoreCurve({ repo: repo.dir, build, scorer: counting, sandbox, ...more });
const scores = ({ points }: CurveResult): unknown[] =>
  points.map(({ commits, passed, state }) => (state === 'scored' ? [commits, passed] : [commits, state]));

const rise: Step[] = [{ passed: 1 }, { passed: 3 }, {}, { passed: 7 }, { passed: 4 }, {}, {}, { passed: 9 }];

test('every commit, or every nth and then those around a fall: the same commit is found', async () => {
  const { repo, seqs } = await repoOf(rise);
  const every = await curveOf(repo);
  expect(scores(every)).toEqual([
    [0, 'empty'],
    [1, 1],
    [2, 3],
    [3, 3],
    [4, 7],
    [5, 4],
    [6, 4],
    [7, 4],
    [8, 9],
  ]);
  const coarse = await curveOf(repo, { every: 4, to: seqs[6] ?? 0 });
  expect(coarse.points.map(({ commits }) => commits)).toEqual([0, 4, 5, 7]);
  for (const { regressions } of [every, coarse]) {
    expect(regressions).toHaveLength(1);
    expect(regressions[0]).toMatchObject({
      kind: 'score',
      candidates: [seqs[4]],
      before: 0.7,
      after: 0.4,
      varies: false,
      culprit: { agent: 'worker-5', role: 'worker', model: 'fast', task: 't5', message: 'step 5', commits: 5 },
    });
  }
  expect([every, coarse].map(({ regressions }) => regressions[0]?.recoveredAt)).toEqual([seqs[7], undefined]);
  const reached = every.reached.map(({ share, at }) => [share.toFixed(2), at?.commits]);
  expect(reached).toEqual([
    ['0.67', 4],
    ['0.73', 8],
    ['0.85', 8],
    ['0.97', undefined],
    ['1.00', undefined],
  ]);
  expect(every.points.every(({ ms }, at) => at === 0 || ms >= (every.points[at - 1]?.ms ?? 0))).toBe(true);
});

test('a build that fails is a point, its commit is found, and what it hides is named as far as it can be', async () => {
  const { repo, seqs } = await repoOf([
    { passed: 5 },
    { passed: 6 },
    { broken: true },
    { passed: 2 },
    {},
    { broken: false },
  ]);
  const result = await curveOf(repo, { every: 5 });
  const broken = result.points.find(({ commits }) => commits === 5);
  expect(broken).toMatchObject({
    state: 'build-failed',
    score: 0,
    total: 10,
    reason: expect.stringContaining('no such type'),
  });
  expect(result.points.at(-1)).toMatchObject({ commits: 6, passed: 2, state: 'scored' });
  const { regressions } = await curveOf(repo, { every: 5, from: seqs[1] ?? 0 });
  expect(regressions).toMatchObject([
    {
      kind: 'build',
      candidates: [seqs[2]],
      culprit: { agent: 'worker-3' },
      before: 0.6,
      after: 0,
      recoveredAt: seqs[5],
    },
    { kind: 'score', candidates: seqs.slice(2), culprit: undefined },
  ]);
});

test('a commit that comes out otherwise when it is tried again is not blamed without a word', async () => {
  const { repo, seqs } = await repoOf([{ passed: 7 }, { passed: 4 }, { passed: 8 }]);
  const flag = join(await tempDir(), 'tried');
  const command = `p=$(cat passed); if [ $p = 4 ] && [ -e ${flag} ]; then p=7; fi; test $p = 4 && touch ${flag}; echo "{\\"passed\\": $p, \\"total\\": 10}"`;
  const { regressions } = await curveOf(repo, { scorer: { kind: 'command', command }, sandbox: 'none' });
  expect(regressions).toMatchObject([{ candidates: [seqs[1]], before: 0.7, after: 0.4, varies: true }]);
});

test('a journal keeps the points; a torn line is made anew, one of something else is refused', async () => {
  const { repo } = await repoOf(rise);
  const journal = join(await tempDir(), 'points.jsonl');
  const whole = await curveOf(repo, { journal });
  const lines = readFileSync(journal, 'utf8').split('\n');
  writeFileSync(journal, `${lines.slice(0, 4).join('\n')}\n`);
  appendFileSync(journal, lines[4]?.slice(0, 20) ?? '');
  const told: CurvePoint[] = [];
  const again = await curveOf(repo, { journal, onPoint: (point) => told.push(point) });
  const withoutTimes = ({ points, ...rest }: CurveResult): unknown => ({
    ...rest,
    points: points.map((point) => ({ ...point, buildSeconds: 0, scoreSeconds: 0 })),
  });
  expect(withoutTimes(again)).toEqual(withoutTimes(whole));
  // The three that were kept have their times of then.
  expect(again.points.slice(0, 3)).toEqual(whole.points.slice(0, 3));
  expect(told).toHaveLength(9);
  expect(readFileSync(journal, 'utf8').split('\n')).toHaveLength(lines.length);
  await expect(curveOf(repo, { journal, build: 'true' })).rejects.toThrow(/is of a run with build/);
});

test('what crashes, says nothing or takes too long is a point apart', async () => {
  const { repo } = await repoOf([{ passed: 1 }]);
  const last = async (command: string, more: Partial<CurveOptions> = {}): Promise<unknown> => {
    const { points } = await curveOf(repo, { scorer: { kind: 'command', command }, ...more });
    const point = points.at(-1);
    return [point?.state, point?.score, point?.reason];
  };
  expect(await last('echo boom >&2; exit 4')).toEqual(['crashed', 0, expect.stringContaining('boom')]);
  expect(await last('echo 3 of 4')).toEqual(['crashed', 0, expect.stringContaining('3 of 4')]);
  expect(await last(`echo '{"passed": 5, "total": 4}'`)).toEqual(['crashed', 0, expect.anything()]);
  expect(await last('sleep 30', { scoreSeconds: 1 })).toEqual(['timed-out', 0, expect.stringContaining('1 seconds')]);
  expect(await last('true', { build: 'sleep 30', buildSeconds: 1 })).toEqual(['build-timed-out', 0, expect.anything()]);
});

test('an engine that crashes or hangs is a point apart, and what was right before its time was over counts', async () => {
  const corpus = await tempDir();
  const slow = 'statement ok\nSLOW\n';
  await writeFiles(corpus, { 'one/a.test': 'statement ok\nFAST\n', 'two/b.test': `${slow}\n`.repeat(3) });
  const { repo } = await repoOf([{ passed: 1 }]);
  const last = async (engine: string, more: Partial<CurveOptions> = {}): Promise<CurvePoint | undefined> => {
    const scorer: Scorer = { kind: 'engine', corpus, engine, recordSeconds: 30, workers: 2 };
    return (await curveOf(repo, { scorer, ...more })).points.at(-1);
  };
  const crashed = await last('{ echo out of paper >&2; exit 3; }');
  expect(crashed).toMatchObject({
    state: 'crashed',
    passed: 0,
    total: 4,
    reason: expect.stringContaining('out of paper'),
  });
  const engine = 'while read line; do case "$line" in *SLOW) sleep 60;; esac; echo ok; done';
  const late = await last(engine, { scoreSeconds: 5 });
  expect(late).toMatchObject({ state: 'timed-out', passed: 1, total: 4, score: 0.25, reason: 'longer than 5 s' });
});

test('an interruption ends it, and leaves no directory', async () => {
  const { repo } = await repoOf([{ passed: 1 }, { passed: 2 }]);
  const [dir, stop] = [await tempDir(), new AbortController()];
  const scorer: Scorer = { kind: 'command', command: 'sleep 60' };
  const running = curveOf(repo, { scorer, dir, signal: stop.signal });
  while (readdirSync(dir).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  await expect(running).rejects.toThrow(Interrupted);
  expect(readdirSync(dir)).toEqual([]);
});

test('nothing is run without a sandbox unless that is said, nor in the repository, nor without commits', async () => {
  const { repo } = await repoOf([{ passed: 1 }]);
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    await expect(curveOf(repo, { sandbox: 'required' })).rejects.toThrow(/--no-sandbox/);
  } finally {
    process.env['PATH'] = path;
  }
  const forced = await curveOf(repo, { sandbox: 'none' });
  expect([forced.sandbox, forced.points.at(-1)?.score]).toEqual(['none', 0.1]);
  await expect(curveOf(repo, { dir: repo.dir })).rejects.toThrow(/outside/);
  const corpus = await tempDir();
  const scorer: Scorer = { kind: 'engine', corpus, engine: 'x' };
  await expect(curveOf(repo, { dir: corpus, scorer })).rejects.toThrow(/is in the corpus/);
  await expect(curveOf(repo, { run: 'run-9' })).rejects.toThrow(/no run run-9/);
  await expect(curveOf(await newRepo())).rejects.toThrow(/no commits/);
});

test.skipIf(!hasSandbox)('the sandbox: no network, no store, no corpus for the build and the engine', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const corpus = await tempDir();
    await writeFiles(corpus, { 'one/a.test': 'statement ok\nSELECT 1\n' });
    const { repo } = await repoOf([{ passed: 1 }]);
    const connect = `require('net').connect(${port}, '127.0.0.1').on('connect', () => process.exit(7)).on('error', () => process.exit(0))`;
    await commit(repo, {
      'connect.cjs': connect,
      'engine.sh': `ls ${corpus} >&2; while read line; do test -n "$(ls ${corpus})" && echo error || echo ok; done\n`,
    });
    const outside = `node connect.cjs || exit 8; test -z "$(ls ${repo.dir}/.mound)" || exit 9`;
    const seesCorpus = `test -z "$(ls ${corpus})" || exit 10`;
    const scorer: Scorer = { kind: 'engine', corpus, engine: 'sh engine.sh' };
    const { points } = await curveOf(repo, { scorer, build: `${outside}; ${seesCorpus}`, from: 2 });
    expect(points.at(-1)).toMatchObject({ state: 'scored', passed: 1, total: 1, categories: [{ category: 'one' }] });
    // The same checks do find what they look for.
    const open = await curveOf(repo, { scorer, build: `${outside}; ${seesCorpus}`, from: 2, sandbox: 'none' });
    expect(open.points.at(-1)).toMatchObject({ state: 'build-failed', reason: expect.stringContaining('exit code 8') });
    const { points: seen } = await curveOf(repo, { scorer, from: 2, build: 'true', sandbox: 'none' });
    expect(seen.at(-1)).toMatchObject({ state: 'scored', passed: 0 });
  } finally {
    server.close();
  }
});

test('the control is asked though it does not build, for a score that looks at nothing must show', async () => {
  const { repo } = await repoOf([{ passed: 1 }, { passed: 8 }]);
  const strict = 'test -e passed';
  const seeing = await curveOf(repo, { build: strict });
  expect(seeing.control).toEqual({ state: 'crashed', score: 0, shows: true });
  const blind: Scorer = { kind: 'command', command: `echo '{"passed": 8, "total": 10}'` };
  const journal = join(await tempDir(), 'points.jsonl');
  const found = await curveOf(repo, { build: strict, scorer: blind, journal });
  expect(found.control).toEqual({ state: 'scored', score: 0.8, shows: false });
  // A journal may hold a control that was not asked.
  const unasked = { seq: -1, state: 'build-failed', passed: 0, total: 0, categories: [], buildSeconds: 0, scoreSeconds: 0, reason: '' }; // prettier-ignore
  writeFileSync(journal, `${readFileSync(journal, 'utf8').trimEnd().split('\n').slice(0, -1).join('\n')}\n${JSON.stringify(unasked)}\n`); // prettier-ignore
  expect((await curveOf(repo, { build: strict, scorer: blind, journal })).control).toEqual(found.control);
});
