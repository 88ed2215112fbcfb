import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { gitVersion } from '../../harness/machine.ts';
import { parseResultFile } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import {
  corePath,
  extended,
  IntendedWork,
  settingsPath,
  settingsText,
  withEdit,
} from '../../workloads/intended-work.ts';
import { noProgress } from '../suite.ts';
import { judgeBuilds, judgeEdits, sampled } from './arm.ts';
import { Build } from './build.ts';
import { runCoordinationSuite } from './coordination.ts';
import { allJobs, areaPathOf, pathsOf, wantedOf, type Job } from './jobs.ts';
import { runOldStyleArm } from './old-style-arm.ts';
import { allArms } from './parameters.ts';

const tiny = { files: 12, subtrees: 2, tasksPerSubtree: 3 };
const work = new IntendedWork({ ...tiny, seed: 1 });
const never = new AbortController().signal;

test('a tiny run: every arm brings in what is wanted, and says what it cost', async () => {
  await withTempDir(undefined, async (dir) => {
    const arms = allArms.filter(({ name }) => ['all-on', 'no-split-brain', 'solo'].includes(name));
    const outcome = await runCoordinationSuite(
      { ...tiny, agents: 4, thinkMs: 4, seeds: 1, arms },
      { dir, signal: never, progress: noProgress },
    );
    if (outcome.kind !== 'result') throw new Error('no result file');
    const { samples, notes } = outcome.result;
    expect(parseResultFile(JSON.stringify(outcome.result))).toMatchObject({ suite: 'coordination' });
    const of = (subject: string, metric: string): number | undefined =>
      samples.find((sample) => sample.subject === subject && sample.metric === metric)?.median;
    for (const { name } of arms) {
      expect([name, of(name, 'acceptedEdits'), of(name, 'lostUpdates')]).toEqual([name, work.tokens.length, 0]);
    }
    expect(of('solo', 'conflictsPerAcceptedEdit')).toBe(0);
    expect(of('all-on', 'tokensTotal')).toBeGreaterThan(of('solo', 'tokensTotal') ?? 0);
    expect(notes.join('\n')).toMatch(/not measured, for it depends on what a model makes of it: .*field-guide/);
    expect([outcome.exitCode, readdirSync(dir)]).toEqual([0, []]);
  });
});

test('the old style gets there too, by locks and an integrator', async ({ skip }) => {
  if ((await gitVersion()) === undefined) skip('there is no git');
  await withTempDir(undefined, async (parent) => {
    const dir = join(parent, 'old');
    await mkdir(dir);
    const ran = await runOldStyleArm(work, dir, { agents: 3, thinkMs: 1, build: await Build.load(), signal: never });
    expect(ran).toMatchObject({ accepted: work.tokens.length, lost: 0, endsBuilding: true });
    // Two want one setting at once.
    expect(ran.conflicts).toBeGreaterThan(0);
  });
});

describe('what is judged', () => {
  const done = new Map(work.initialFiles());
  for (const { edits } of work.tasks) {
    for (const edit of edits) done.set(edit.path, withEdit(edit, done.get(edit.path) ?? '', 1));
  }
  const everybody = new Set(work.tasks.map(({ id }) => id));

  test('an edit that stands is accepted; one whose author was told so and that is gone is lost', () => {
    expect(judgeEdits(work, done, everybody)).toEqual({ accepted: work.tokens.length, lost: 0 });
    const [first] = work.tasks;
    const path = first?.edits[0]?.path ?? '';
    const gone = new Map(done).set(path, work.initialFiles().get(path) ?? '');
    const there = work.tasks.flatMap(({ edits }) => edits).filter((edit) => edit.path === path).length;
    expect(judgeEdits(work, gone, everybody)).toEqual({ accepted: work.tokens.length - there, lost: there });
    expect(judgeEdits(work, gone, new Set()).lost).toBe(0);
  });

  test('a tree that does not build is counted, and whether the last one does', async () => {
    const build = await Build.load();
    const broken = new Map(done).set(corePath, extended(done.get(corePath) ?? ''));
    expect(await judgeBuilds(build, [done, broken, done])).toEqual({ builds: 3, brokenBuilds: 1, endsBuilding: true });
    expect(await judgeBuilds(build, [done, broken])).toMatchObject({ brokenBuilds: 1, endsBuilding: false });
    expect(await judgeBuilds(undefined, [broken])).toMatchObject({ builds: 0, endsBuilding: undefined });
  });

  test('of many trees some are taken evenly, the last one always', () => {
    const taken = sampled(Array.from({ length: 1000 }, (_, at) => at));
    expect(taken.at(-1)).toBe(999);
    expect(taken.length).toBeLessThanOrEqual(40);
    expect(sampled([1, 2, 3])).toEqual([1, 2, 3]);
  });
});

describe('a job', () => {
  const seen = (job: Job, files: ReadonlyMap<string, string>): Map<string, string> =>
    new Map(pathsOf(work, job).flatMap((path) => (files.has(path) ? [[path, files.get(path) ?? ''] as const] : [])));

  test('all of them one after another make what is wanted, and a repair makes it build', async () => {
    const files = work.initialFiles();
    for (const job of [...allJobs(work), { kind: 'repair' } as const]) {
      for (const [path, text] of wantedOf(work, job, seen(job, files))) files.set(path, text);
    }
    expect(judgeEdits(work, files, new Set()).accepted).toBe(work.tokens.length);
    expect((await Build.load())?.faults(files)).toEqual([]);
  });

  test('of style wants nothing where it stands already', () => {
    const job = { kind: 'style', subtree: 0, style: 'short' } as const;
    const files = work.initialFiles();
    expect([...wantedOf(work, job, seen(job, files)).keys()]).toEqual([settingsPath, areaPathOf(0)]);
    for (const [path, text] of wantedOf(work, job, seen(job, files))) files.set(path, text);
    expect(wantedOf(work, job, seen(job, files)).size).toBe(0);
    files.set(settingsPath, settingsText('long'));
    expect([...wantedOf(work, job, seen(job, files)).keys()]).toEqual([settingsPath]);
  });
});
