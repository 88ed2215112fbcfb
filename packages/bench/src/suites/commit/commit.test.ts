import { readdir } from 'node:fs/promises';

import { describe, expect, test, vi } from 'vitest';

import type { ResultFile, Sample } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { floorSubject } from '../../subjects/floor.ts';
import { commitSubjects, slowedMoundSubject } from '../../subjects/index.ts';
import { moundSubject } from '../../subjects/mound.ts';
import { agentsOfFew, type Subject } from '../../subjects/subject.ts';
import { addRound, type ArmFigures, type CommitArm } from './arm.ts';
import { parametersOf, type CommitParameters } from './parameters.ts';
import { runCommitSuite } from './commit.ts';
import type { Load } from './load.ts';
import { HotEdits } from '../../workloads/hot-edits.ts';
import { ContentionArm } from '../contention/arm.ts';
import { noProgress } from '../suite.ts';
import { slowdownOf } from './samples.ts';
import { phases } from './shares.ts';

const load: Load = { files: 40, filesPerCommit: 2, skew: 'uniform', inFlight: 8, processes: 1 };

const tiny: CommitParameters = {
  subjects: commitSubjects,
  loads: [{ load: { ...load, inFlight: 1 } }, { load }],
  inFlightOfStreams: 8,
  rounds: 2,
  budgetMs: 200,
  warmUpMs: 0,
  commitsMax: 16,
  seed: 3,
  control: false,
  profile: false,
};

async function run(parameters: CommitParameters): Promise<{ result: ResultFile; exitCode: number }> {
  return withTempDir(undefined, async (dir) => {
    const { signal } = new AbortController();
    const outcome = await runCommitSuite(parameters, { dir, signal, progress: noProgress });
    if (outcome.kind !== 'result') throw new Error('the commit suite makes a result file');
    expect(await readdir(dir)).toEqual([]);
    return { result: outcome.result, exitCode: outcome.exitCode };
  });
}

const loadsOf = { 'in-flight': [1, 8], 'few-in-flight': [1, agentsOfFew], 'one-at-a-time': [1], stream: [8] };

const find = (samples: readonly Sample[], subject: string, inFlight: number, metric: string): Sample | undefined =>
  samples.find(
    (sample) => sample.subject === subject && sample.workload['inFlight'] === inFlight && sample.metric === metric,
  );

test('a tiny run of all subjects: structure, and everything acknowledged is read back', async () => {
  const { result, exitCode } = await run({ ...tiny, commitsMax: 8, rounds: 1 });
  expect(result.notes.filter((note) => note.startsWith('failed'))).toEqual([]);
  expect(exitCode).toBe(0);
  expect(Object.keys(result)).toEqual(['suite', 'formatVersion', 'measuredAt', 'machine', 'versions', 'seeds', 'samples', 'notes']); // prettier-ignore
  expect(result.versions).toMatchObject({
    'sqlite-wal': expect.stringMatching(/^3\./),
    'isomorphic-git': expect.any(String),
  });
  expect(result.notes).toContain('missing: mound-replicated (Mound is not replicated yet)');
  expect(result.notes).toContainEqual(expect.stringMatching(/^missing: jj \(there is no subject for it/));
  expect(result.notes).toContain('p99 of a round with fewer than 100 commits is its slowest one');
  expect(result.samples.filter(({ metric }) => metric === 'latencyMsP999')).toEqual([]);
  expect(result.notes).toContain('control: not run; --control or --full runs it');
  for (const subject of commitSubjects) {
    const available = await subject.available();
    const missingNote = `missing: ${subject.name} (needs ${available === true ? '' : available.missing})`;
    expect(result.notes.includes(missingNote)).toBe(available !== true);
    if (available !== true) continue;
    for (const inFlight of loadsOf[subject.pace]) {
      const rate = find(result.samples, subject.name, inFlight, 'commitsPerSecond');
      expect(rate).toMatchObject({ subject: subject.name, unit: 'commits/s', n: 1 });
      expect(rate?.min).toBeGreaterThan(0);
      expect(rate?.workload).toMatchObject({
        files: 40,
        filesPerCommit: 2,
        processes: 1,
        durability: subject.durability,
      });
      expect(find(result.samples, subject.name, inFlight, 'bytesPerCommit')).toBeDefined();
      const hasFloor = subject.name !== 'floor' && inFlight !== agentsOfFew;
      expect(find(result.samples, subject.name, inFlight, 'ratioToFloor') !== undefined).toBe(hasFloor);
    }
  }
  for (const { median, min, max, n } of result.samples) {
    expect(min).toBeLessThanOrEqual(median);
    expect(median).toBeLessThanOrEqual(max);
    expect(n).toBe(1);
  }
  const toPlumbing = result.samples.find(
    ({ workload }) => workload['peer'] === 'git-plumbing' && workload['inFlight'] === 8,
  );
  expect(toPlumbing?.workload['peerInFlight']).toBe(1);
  expect(result.notes.join('\n')).toMatch(/read back: \d+ acknowledged commits of (\d+) of \1 arms are all there/);
});

test('an injected slowdown shows', async () => {
  const { result, exitCode } = await run({
    ...tiny,
    subjects: [moundSubject(), slowedMoundSubject],
    loads: [{ load: { ...load, filesPerCommit: 1, inFlight: 20 } }],
    commitsMax: 400,
    control: true,
  });
  const shown = /^control: the injected slowdown of 1 ms a commit shows \([\d.]+ ms by load\)$/;
  expect(result.notes).toContainEqual(expect.stringMatching(shown));
  expect(exitCode).toBe(0);
});

test('a control that is not slower is told of', async () => {
  const notSlowed = moundSubject({ name: slowedMoundSubject.name });
  const fast: Subject = {
    ...slowedMoundSubject,
    prepare: (files, dir, signal) => notSlowed.prepare(files, dir, signal),
  };
  const slow: Subject = { ...moundSubject({ name: 'mound', busyMsPerCommit: 2 }) };
  const { result, exitCode } = await run({ ...tiny, subjects: [slow, fast], loads: [{ load }], control: true });
  expect(result.notes.join('\n')).toContain('DOES NOT SHOW');
  expect(exitCode).toBe(1);
});

test('the injected slowdown shows by half of it at least, where commits are faster than it', () => {
  const { subjects } = parametersOf('default', { subjects: ['mound'], control: true });
  const armsOf = (own: readonly number[], slowed: readonly number[]): CommitArm[] =>
    subjects.map((subject, at) => {
      const plan = { subject, load, fields: {} };
      return { plan, figures: { commitsPerSecond: [...(at === 0 ? own : slowed)] } } as unknown as CommitArm;
    });
  const shows = (own: readonly number[], slowed: readonly number[]): boolean =>
    slowdownOf(armsOf(own, slowed), slowedMoundSubject.name, 1).shows;
  expect(shows([5000, 5000, 4000], [800, 5100, 790])).toBe(true);
  // Noise in one direction is no slowdown of a millisecond.
  expect(shows([5000, 5000, 4000], [4900, 4900, 3900])).toBe(false);
  expect(shows([100, 100, 100], [90, 95, 101])).toBe(true);
  expect(shows([100, 100, 100], [101, 105, 90])).toBe(false);
  expect(shows([5000], [])).toBe(false);
});

test('p99.9 is told of rounds with a thousand commits', () => {
  const p999Of = (count: number): number[] | undefined => {
    const figures: ArmFigures = {};
    const latenciesMs = Float64Array.from({ length: count }, (_, at) => at);
    addRound(figures, load, { acknowledged: count, seconds: 1, latenciesMs });
    return figures.latencyMsP999;
  };
  expect([p999Of(999), p999Of(2000)]).toEqual([undefined, [1997]]);
});

const broken = (name: string, change: Partial<Subject>): Subject => ({ ...floorSubject, name, ...change });

describe('what goes wrong is said', () => {
  test('a missing subject', async () => {
    const missing = broken('absent', { available: () => Promise.resolve({ missing: 'a flux capacitor' }) });
    const { result, exitCode } = await run({ ...tiny, subjects: [floorSubject, missing] });
    expect(result.notes).toContain('missing: absent (needs a flux capacitor)');
    expect(result.samples.some(({ subject }) => subject === 'absent')).toBe(false);
    expect(exitCode).toBe(0);
  });

  test('a subject that loses a commit', async () => {
    const liar = broken('liar', {
      prepare: async (files, dir, signal) => {
        const honest = await floorSubject.prepare(files, dir, signal);
        return {
          ...honest,
          run: async (operations, options) => {
            const measured = await honest.run(operations.slice(1), options);
            return { ...measured, acknowledged: measured.acknowledged + 1 };
          },
        };
      },
    });
    const { result, exitCode } = await run({ ...tiny, subjects: [liar] });
    expect(result.notes.join('\n')).toMatch(
      /failed: liar at 8, 2 files a commit, 40 files could not be read back: commit w1-3-8-0 is there 0 times/,
    );
    expect(exitCode).toBe(1);
  });

  test('a subject that breaks, while the others go on', async () => {
    const breaking = broken('breaking', { prepare: (_, dir) => Promise.reject(new Error(`no room in ${dir}`)) });
    const { result, exitCode } = await run({ ...tiny, subjects: [breaking, floorSubject] });
    expect(result.notes).toContain(
      'failed: breaking at 1, 2 files a commit, 40 files could not be prepared: no room in DIR/breaking-1-2-files-a-commit-40-files',
    );
    expect(find(result.samples, 'floor', 8, 'commitsPerSecond')).toBeDefined();
    expect(exitCode).toBe(1);
  });
});

describe('other loads', () => {
  const one: Load = { ...load, filesPerCommit: 1, processes: 1 };
  const subjects = commitSubjects.filter(({ name }) => ['mound', 'floor', 'sqlite-wal', 'git-plumbing'].includes(name));

  test('several processes on one repository, each with its part of the agents', async () => {
    const loads = [{ load: one }, { load: { ...one, processes: 2 } }];
    const { result, exitCode } = await run({ ...tiny, subjects, loads });
    expect([exitCode, result.notes.filter((note) => note.startsWith('failed'))]).toEqual([0, []]);
    const shared = result.samples.filter(({ workload }) => workload['processes'] === 2);
    expect(new Set(shared.map(({ subject }) => subject))).toEqual(new Set(['mound', 'sqlite-wal', 'git-plumbing']));
    expect(find(shared, 'mound', 4, 'commitsPerSecond')?.min).toBeGreaterThan(0);
    expect(find(shared, 'mound', 4, 'commitsPerRound')).toMatchObject({ min: 16, max: 16 });
    expect(find(shared, 'mound', 4, 'commitsPerAgentMin')).toBeDefined();
    expect(find(shared, 'mound', 4, 'ratioToW1')?.n).toBe(2);
    expect(find(shared, 'mound', 4, 'ratioToFloor')?.n).toBe(2);
    expect(result.notes.join('\n')).toMatch(/are all there/);
  }, 30_000);

  test('hot files, merged, and where the time goes', async () => {
    const hot: Load = { ...one, files: 3, skew: 'zipf' };
    const parameters = { ...tiny, subjects, loads: [{ load: one }, { load: hot }], commitsMax: 80, profile: true };
    const { result, exitCode } = await run(parameters);
    expect([exitCode, result.notes.filter((note) => note.startsWith('failed'))]).toEqual([0, []]);
    const hotSamples = result.samples.filter(({ workload }) => workload['workload'] === 'hot-edits');
    expect(find(hotSamples, 'mound', 8, 'mergesPerCommit')?.min).toBeGreaterThan(0);
    expect(find(hotSamples, 'mound', 8, 'ratioToW1')?.n).toBe(2);
    const shares = result.samples.filter(({ metric, workload }) => metric === 'share' && workload['workload'] === 'w1');
    expect(shares.map(({ workload }) => workload['phase'])).toEqual(phases);
    expect(shares.reduce((sum, { median }) => sum + median, 0)).toBeCloseTo(1, 3);
  });

  test('a lost edit among hot ones is told of', async () => {
    const spy = vi.spyOn(ContentionArm.prototype, 'readBack').mockResolvedValue({
      lost: new HotEdits({ files: 3, agents: 8, seed: 3 }).round(0, 1),
      standing: 0,
      replaced: 0,
      aside: 0,
      faults: [],
    });
    const { result, exitCode } = await run({
      ...tiny,
      subjects,
      loads: [{ load: { ...one, files: 3, skew: 'zipf' } }],
    });
    spy.mockRestore();
    expect(result.notes.join('\n')).toContain(
      'failed: mound at 8, hot files could not be read back: edit e3-1-0 is lost',
    );
    expect(exitCode).toBe(1);
  });
});

describe('parametersOf', () => {
  test('takes the size, then what was given', () => {
    const parameters = parametersOf('quick', { inFlight: [1, 10, 10], subjects: ['floor'], commits: 5, seconds: 0.5 });
    expect(parameters).toMatchObject({ commitsMax: 5, rounds: 2, budgetMs: 500, warmUpMs: 0, inFlightOfStreams: 10 });
    expect(parametersOf('default', { warmUp: 1.5 }).warmUpMs).toBe(1500);
    expect(parametersOf('full', {}).warmUpMs).toBe(5000);
    expect(parameters.loads.map(({ load: { inFlight } }) => inFlight)).toEqual([1, 10]);
    expect(parameters.loads[0]?.load).toEqual({ ...load, files: 2000, filesPerCommit: 1, inFlight: 1 });
    expect(parameters.subjects.map(({ name }) => name)).toEqual(['floor']);
  });

  test('makes every combination of the loads that are named', () => {
    const { loads } = parametersOf('default', { inFlight: [100], processes: [1, 2, 4], filesPerCommit: [1, 5] });
    expect(loads).toHaveLength(6);
    const hot = parametersOf('default', { inFlight: [1000], skew: ['uniform', 'zipf'], filesPerCommit: [5] });
    expect(hot.loads.map(({ load: { skew, files, filesPerCommit } }) => [skew, files, filesPerCommit])).toEqual([
      ['uniform', 10_000, 5],
      ['zipf', 1000, 1],
    ]);
  });

  test('the control brings Mound with and without the slowdown', () => {
    const parameters = parametersOf('default', { subjects: ['floor'], control: true });
    expect(parameters.subjects.map(({ name }) => name)).toEqual(['mound', 'floor', 'mound-slowed']);
  });

  test('an arm of Mound is measured where it is named', () => {
    const named = parametersOf('default', { subjects: ['mound', 'mound-no-signals'] });
    expect(named.subjects.map(({ name }) => name)).toEqual(['mound', 'mound-no-signals']);
    expect(parametersOf('default', {}).subjects.map(({ name }) => name)).not.toContain('mound-no-signals');
  });

  test('refuses what cannot be', () => {
    expect(() => parametersOf('default', { subjects: ['svn'] })).toThrow("no subject 'svn'");
    expect(() => parametersOf('default', { subjects: ['mound', 'jj'] })).toThrow('jj: there is no subject for it');
    expect(() => parametersOf('default', { files: [10], inFlight: [11] })).toThrow(
      '11 in flight need 11 files or more',
    );
  });
});

test('a warm-up goes on until its time is over, and its commits count in no figure', async () => {
  const subjects = commitSubjects.filter(({ name }) => name === 'mound');
  const warm = { ...tiny, subjects, loads: [{ load: { ...load, inFlight: 1 } }], rounds: 1, warmUpMs: 300 };
  const { result } = await run(warm);
  const rounds = find(result.samples, 'mound', 1, 'commitsPerRound');
  expect(rounds).toMatchObject({ n: 1, max: 16 });
  const readBack = result.notes.find((note) => note.startsWith('read back: '));
  expect(Number(/^read back: (\d+)/.exec(readBack ?? '')?.[1])).toBeGreaterThan(32);
});
