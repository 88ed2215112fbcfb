import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { mechanisms, safeguards } from '@mound/swarm';
import { describe, expect, test } from 'vitest';

import { gitVersion } from '../../harness/machine.ts';
import { parseResultFile } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import {
  corePath,
  parametersOf,
  registryPath,
  sectionPathOf,
  settingsPath,
  settingsText,
  withParameters,
} from '../../workloads/intended-text.ts';
import { IntendedWork, withEdit } from '../../workloads/intended-work.ts';
import { noProgress } from '../suite.ts';
import { judgeBuilds, judgeEdits, parameterName, sampled, type ArmFigures } from './arm.ts';
import { Build } from './build.ts';
import { runCoordinationSuite } from './coordination.ts';
import { effectsOf } from './effects.ts';
import { allJobs, areaPathOf, needsListing, pathsOf, scopeOf, wantedOf, type Job } from './jobs.ts';
import { together } from './neutral-minds.ts';
import { runOldStyleArm } from './old-style-arm.ts';
import { allArms, coordinationParametersOf, variationsOf } from './parameters.ts';

const tiny = { files: 12, subtrees: 2, tasksPerSubtree: 4 };
const work = new IntendedWork({ ...tiny, seed: 1 });
const little = new IntendedWork({ ...tiny, tasksPerSubtree: 3, seed: 1 });
const never = new AbortController().signal;
const base = { ...tiny, agents: 4, thinkMs: 2, leaseMs: 300, seeds: 1, sweep: [] };

test('a tiny run: every arm brings in what is wanted, and says what it cost', async () => {
  await withTempDir(undefined, async (dir) => {
    const names = ['all-on', 'all-off', 'no-breakages', 'solo'];
    const arms = allArms.filter(({ name }) => names.includes(name));
    const outcome = await runCoordinationSuite({ ...base, arms }, { dir, signal: never, progress: noProgress });
    if (outcome.kind !== 'result') throw new Error('no result file');
    const { samples, notes } = outcome.result;
    expect(parseResultFile(JSON.stringify(outcome.result))).toMatchObject({ suite: 'coordination' });
    const of = (subject: string, metric: string): number | undefined =>
      samples.find((sample) => sample.subject === subject && sample.metric === metric)?.median;
    for (const { name } of arms) {
      expect([name, of(name, 'acceptedLines'), of(name, 'lostUpdates')]).toEqual([name, work.tokens.length, 0]);
    }
    expect(of('solo', 'conflictsPerAcceptedLine')).toBe(0);
    // Who is not told of a trap falls into it once a task; a second try of it is in every arm.
    expect(of('solo', 'refusedTries')).toBeGreaterThan(0);
    expect(of('all-on', 'toldTokens')).toBeGreaterThan(of('all-off', 'toldTokens') ?? 0);
    expect(of('all-on', 'buildPassRate')).toBeGreaterThan(0);
    expect(of('all-off', 'buildPassRate')).toBeUndefined();
    expect(notes.join('\n')).toMatch(/not measured, for it depends on what a model makes of it/);
    expect(notes.filter((note) => note.includes('beside all-on'))).toHaveLength(arms.length - 1);
    expect([outcome.exitCode, readdirSync(dir)]).toEqual([0, []]);
  });
}, 60_000);

test('there is an arm without each mechanism and each safeguard; assumptions are tried below and above', () => {
  const names = allArms.map(({ name }) => name);
  for (const name of [...mechanisms, ...safeguards]) expect(names).toContain(`no-${name}`);
  const parameters = coordinationParametersOf('default', {});
  expect(parameters.seeds).toBe(3);
  const { agents, thinkMs } = parameters;
  expect(variationsOf(parameters).map(({ assumed }) => assumed)).toEqual([
    { agents: agents / 2, thinkMs, skew: 1 },
    { agents: agents * 2, thinkMs, skew: 1 },
    { agents, thinkMs, skew: 0 },
    { agents, thinkMs, skew: 2 },
    { agents, thinkMs: thinkMs / 4, skew: 1 },
    { agents, thinkMs: thinkMs * 4, skew: 1 },
  ]);
});

test('a difference is told with its range; a sign that changes is said, no difference is said by nothing', () => {
  const zero = {
    accepted: 10,
    lost: 0,
    conflicts: 0,
    commits: 10,
    neutralCommits: 0,
    refusedTries: 0,
    duplicateWork: 0,
  };
  const rest = { oscillations: 0, builds: 4, brokenBuilds: 1, endsBuilding: true, tokens: 100, toldTokens: 5 };
  const more = { seconds: 10, passRate: undefined, mergeQueueMsP50: 0, mergeQueueMsP99: 0 };
  const same: ArmFigures = { ...zero, ...rest, ...more };
  const by = (change: Partial<ArmFigures>): ArmFigures => ({ ...same, ...change });
  expect(effectsOf([{ assumed: '', with: [same], without: [by({ seconds: 10.2 })] }])).toEqual([]);
  const own = { assumed: '', with: [same, same, same], without: [by({ lost: 1 }), by({ lost: 3 }), by({ lost: 2 })] };
  expect(effectsOf([own])).toEqual([{ says: 'lost +2 (+1 to +3)', isSteady: true }]);
  const turned = { assumed: '32 agents', with: [by({ lost: 4 })], without: [same] };
  expect(effectsOf([own, turned])[0]?.says).toBe('lost +2 (+1 to +3); THE SIGN CHANGES with 32 agents (-4)');
  const mixed = { assumed: '', with: [same, same], without: [by({ tokens: 90 }), by({ tokens: 120 })] };
  const says = 'tokens +5 (-10 to +20); THE SIGN CHANGES with the stream of work';
  expect(effectsOf([mixed])).toEqual([{ says, isSteady: false }]);
});

test('the old style gets there too, by locks and an integrator', async ({ skip }) => {
  if ((await gitVersion()) === undefined) skip('there is no git');
  await withTempDir(undefined, async (parent) => {
    const dir = join(parent, 'old');
    await mkdir(dir);
    const ran = await runOldStyleArm(little, dir, {
      agents: 3,
      thinkMs: 1,
      stallMs: 50,
      build: await Build.load(),
      signal: never,
    });
    expect(ran).toMatchObject({ accepted: little.tokens.length, lost: 0, endsBuilding: true });
    // Two want one setting at once.
    expect(ran.conflicts).toBeGreaterThan(0);
  });
});

describe('what is judged', () => {
  const done = new Map(work.initialFiles());
  for (const { edits } of work.tasks) {
    for (const edit of edits) done.set(edit.path, withEdit(edit, done.get(edit.path) ?? '', 1) ?? '');
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
    // A parameter that its task left to another is lost only where somebody was told that it is there.
    const plain = new Map(done).set(corePath, work.initialFiles().get(corePath) ?? '');
    const parameters = work.tasks.flatMap(({ edits }) => edits).filter(({ kind }) => kind === 'parameter').length;
    expect(judgeEdits(work, plain, everybody)).toEqual({ accepted: work.tokens.length - parameters, lost: 0 });
    const told = new Set(work.tasks.map(({ id }) => parameterName(id)));
    expect(judgeEdits(work, plain, told).lost).toBe(parameters);
  });

  test('a tree that does not build is counted, and whether the last one does', async () => {
    const build = await Build.load();
    const right = new Map(work.initialFiles());
    const core = right.get(corePath) ?? '';
    const broken = new Map(right).set(corePath, withParameters(core, [...parametersOf(core), 'more']));
    expect(await judgeBuilds(build, [right, broken, right])).toEqual({
      builds: 3,
      brokenBuilds: 1,
      endsBuilding: true,
    });
    expect(await judgeBuilds(build, [right, broken])).toMatchObject({ brokenBuilds: 1, endsBuilding: false });
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
  const seen = (job: Job, files: ReadonlyMap<string, string>): Map<string, string> => {
    const listed = needsListing(job) ? [...files.keys()] : [];
    const read = (paths: readonly string[]): Map<string, string> =>
      new Map(paths.flatMap((path) => (files.has(path) ? [[path, files.get(path) ?? ''] as const] : [])));
    const first = read(pathsOf(work, job, new Map(), listed));
    return new Map([...first, ...read(pathsOf(work, job, first, listed))]);
  };

  test('all of them one after another make what is wanted, and a repair makes it build', async () => {
    const files = work.initialFiles();
    for (const job of allJobs(work)) {
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

  test('finds its place where the registry was split, and goes elsewhere where a file has no room', () => {
    const task = work.tasks.find(({ edits }) => edits.some(({ kind }) => kind === 'entry'));
    const entry = task?.edits.find((edit) => edit.kind === 'entry');
    if (task === undefined || entry?.kind !== 'entry') throw new Error('no task has an entry');
    const job = { kind: 'task', task: task.id } as const;
    const module = sectionPathOf(entry.section);
    const files = new Map(work.initialFiles()).set(module, work.initialFiles().get(registryPath) ?? '');
    files.set(registryPath, `export * from './${module.slice('src/'.length)}';\n`);
    const full = new Set(task.edits.map(({ path }) => path.slice(0, path.lastIndexOf('/'))));
    const made = wantedOf(work, job, seen(job, files), { full, leavesCore: true });
    expect(made.get(module)).toContain(entry.token);
    const scope = scopeOf(work, job);
    for (const path of made.keys()) expect(scope.some((one) => path === one || path.startsWith(`${one}/`))).toBe(true);
    const lines = task.edits.filter(({ kind }) => kind === 'line' || kind === 'call');
    for (const { path } of lines) expect(made.has(path)).toBe(task.edits.some((edit) => edit.kind === 'list' && edit.path === path)); // prettier-ignore
  });
});

test('what both sides of a conflict added stands together, parameters too; one name is declared once', () => {
  const core = (names: string): string => `export const core = (${names}): number => 0;\n`;
  expect(parametersOf(together(corePath, core('a: number'), core('a: number, b: number'), core('a: number, c: number')))).toEqual(['a', 'b', 'c']); // prettier-ignore
  const before = '// place 0\nexport const base0 = core(1);\n';
  const current = '// place 0\nexport const x = 0;\nexport const base0 = core(1, 2);\n';
  const incoming = '// place 0\nexport const y = 0;\nexport const base0 = core(1, 2, 3);\n';
  expect(together('src/part0/a.ts', before, current, incoming)).toBe(
    '// place 0\nexport const y = 0;\nexport const x = 0;\nexport const base0 = core(1, 2);\n',
  );
});
