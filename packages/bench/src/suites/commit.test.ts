import { readdir } from 'node:fs/promises';

import { describe, expect, test } from 'vitest';

import type { ResultFile, Sample } from '../harness/result-file.ts';
import { withTempDir } from '../harness/temp-dir.ts';
import { floorSubject } from '../subjects/floor.ts';
import { commitSubjects, slowedMoundSubject } from '../subjects/index.ts';
import { moundSubject } from '../subjects/mound.ts';
import type { Subject } from '../subjects/subject.ts';
import type { CommitParameters } from './commit-parameters.ts';
import { parametersOf } from './commit-parameters.ts';
import { runCommitSuite } from './commit.ts';
import { noProgress } from './suite.ts';

const tiny: CommitParameters = {
  subjects: commitSubjects,
  files: 40,
  filesPerCommit: 2,
  inFlight: [1, 8],
  rounds: 2,
  budgetMs: 200,
  commitsMax: 16,
  seed: 3,
  control: false,
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

const find = (samples: readonly Sample[], subject: string, inFlight: number, metric: string): Sample | undefined =>
  samples.find(
    (sample) => sample.subject === subject && sample.workload['inFlight'] === inFlight && sample.metric === metric,
  );

test('a tiny run of all subjects: structure, and everything acknowledged is read back', async () => {
  const { result, exitCode } = await run(tiny);
  expect(result.notes.filter((note) => note.startsWith('failed'))).toEqual([]);
  expect(exitCode).toBe(0);
  expect(Object.keys(result)).toEqual(['suite', 'formatVersion', 'machine', 'samples', 'notes']);
  for (const subject of commitSubjects) {
    const available = await subject.available();
    const missingNote = `missing: ${subject.name} (needs ${available === true ? '' : available.missing})`;
    expect(result.notes.includes(missingNote)).toBe(available !== true);
    if (available !== true) continue;
    for (const inFlight of subject.pace === 'in-flight' ? [1, 8] : [subject.pace === 'stream' ? 8 : 1]) {
      const rate = find(result.samples, subject.name, inFlight, 'commitsPerSecond');
      expect(rate).toMatchObject({ subject: subject.name, unit: 'commits/s', n: 2 });
      expect(rate?.min).toBeGreaterThan(0);
      expect(rate?.workload).toMatchObject({
        files: 40,
        filesPerCommit: 2,
        processes: 1,
        durability: subject.durability,
      });
      expect(find(result.samples, subject.name, inFlight, 'bytesPerCommit')).toBeDefined();
      const hasFloor = subject.name !== 'floor';
      expect(find(result.samples, subject.name, inFlight, 'ratioToFloor') !== undefined).toBe(hasFloor);
    }
  }
  for (const { median, min, max, n } of result.samples) {
    expect(min).toBeLessThanOrEqual(median);
    expect(median).toBeLessThanOrEqual(max);
    expect(n).toBe(2);
  }
  expect(find(result.samples, 'mound', 8, 'ratioTo:git-plumbing')?.workload['peerInFlight']).toBe(1);
  expect(result.notes.join('\n')).toMatch(/read back: \d+ acknowledged commits of 10 of 10 arms are all there/);
});

test('an injected slowdown shows', async () => {
  const { result, exitCode } = await run({
    ...tiny,
    subjects: [moundSubject(), slowedMoundSubject],
    filesPerCommit: 1,
    inFlight: [20],
    commitsMax: 400,
    control: true,
  });
  expect(result.notes).toContain('control: the injected slowdown of 1 ms a commit shows');
  expect(exitCode).toBe(0);
});

test('a control that is not slower is told of', async () => {
  const notSlowed = moundSubject({ name: slowedMoundSubject.name });
  const fast: Subject = {
    ...slowedMoundSubject,
    prepare: (files, dir, signal) => notSlowed.prepare(files, dir, signal),
  };
  const slow: Subject = { ...moundSubject({ name: 'mound', busyMsPerCommit: 2 }) };
  const { result, exitCode } = await run({ ...tiny, subjects: [slow, fast], inFlight: [8], control: true });
  expect(result.notes.join('\n')).toContain('DOES NOT SHOW');
  expect(exitCode).toBe(1);
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
      /failed: liar at 8 could not be read back: commit w1-3-8-0 is there 0 times/,
    );
    expect(exitCode).toBe(1);
  });

  test('a subject that breaks, while the others go on', async () => {
    const breaking = broken('breaking', { prepare: (_, dir) => Promise.reject(new Error(`no room in ${dir}`)) });
    const { result, exitCode } = await run({ ...tiny, subjects: [breaking, floorSubject] });
    expect(result.notes).toContain('failed: breaking at 1 could not be prepared: no room in DIR/breaking-1');
    expect(find(result.samples, 'floor', 8, 'commitsPerSecond')).toBeDefined();
    expect(exitCode).toBe(1);
  });
});

describe('parametersOf', () => {
  test('takes the size, then what was given', () => {
    const parameters = parametersOf('quick', { inFlight: [1, 10, 10], subjects: ['floor'], commits: 5 });
    expect(parameters).toMatchObject({ files: 2000, inFlight: [1, 10], commitsMax: 5, rounds: 2 });
    expect(parameters.subjects.map(({ name }) => name)).toEqual(['floor']);
  });

  test('the control brings Mound with and without the slowdown', () => {
    const parameters = parametersOf('default', { subjects: ['floor'], control: true });
    expect(parameters.subjects.map(({ name }) => name)).toEqual(['mound', 'floor', 'mound-slowed']);
  });

  test('refuses what cannot be', () => {
    expect(() => parametersOf('default', { subjects: ['svn'] })).toThrow("no subject 'svn'");
    expect(() => parametersOf('default', { files: 10, inFlight: [11] })).toThrow('11 in flight need 11 files or more');
  });
});
