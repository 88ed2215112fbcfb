import { readdir } from 'node:fs/promises';

import { describe, expect, test } from 'vitest';

import { Interrupted } from '../../harness/interrupt.ts';
import { parseResultFile, type ResultFile, type Sample } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import type { ContendedSubject, ContendedTrunk } from '../../workloads/contended-trunk.ts';
import { moundContender, overwritingContender } from './mound.ts';
import { contentionParametersOf, type ContentionParameters } from './parameters.ts';

import { runContentionSuite } from './contention.ts';
import { noProgress } from '../suite.ts';

const tiny: ContentionParameters = {
  ...contentionParametersOf('quick', {}),
  files: 6,
  agents: 4,
  commits: 12,
  rounds: 2,
  budgetMs: 60_000,
};

interface Ran {
  readonly samples: readonly Sample[];
  readonly notes: string;
  readonly result: ResultFile;
  readonly text?: string;
  readonly exitCode: number;
}

async function run(parameters: ContentionParameters, signal = new AbortController().signal): Promise<Ran> {
  return withTempDir(undefined, async (dir) => {
    try {
      const outcome = await runContentionSuite(parameters, { dir, signal, progress: noProgress });
      if (outcome.kind !== 'result') throw new Error('the contention suite makes a result file');
      const { samples, notes } = outcome.result;
      return { ...outcome, samples, notes: notes.join('\n') };
    } finally {
      expect(await readdir(dir)).toEqual([]);
    }
  });
}

const find = ({ samples }: Ran, subject: string, metric: string): Sample | undefined =>
  samples.find((sample) => sample.subject === subject && sample.metric === metric);

const metrics = [
  'commitsPerSecond',
  'latencyMsP50',
  'latencyMsP99',
  'commitsPerRound',
  'conflictsPerCommit',
  'lostUpdates',
  'strandedEdits',
  'lockFailures',
  'racesLost',
];

test('a tiny run: structure, and every edit is read back from both arms', async () => {
  const ran = await run(tiny);
  expect(ran.notes).not.toMatch(/^failed/m);
  expect(ran.result.notes).toContain('p99 of a round with fewer than 100 commits is its slowest one');
  expect(ran.result.notes).toContain('control: not run; --control or --full runs it');
  expect(ran.exitCode).toBe(0);
  expect(Object.keys(ran.result)).toEqual([
    'suite',
    'formatVersion',
    'measuredAt',
    'machine',
    'versions',
    'seeds',
    'samples',
    'notes',
  ]);
  expect(parseResultFile(JSON.stringify(ran.result))).toMatchObject({ suite: 'contention' });
  for (const subject of tiny.subjects) {
    const { name } = subject;
    const found = await subject.available();
    expect(ran.notes.includes(`missing: ${name}`)).toBe(found !== true);
    if (found !== true) continue;
    for (const metric of metrics) {
      const sample = find(ran, name, metric);
      expect(sample).toMatchObject({ subject: name, n: 2 });
      expect(sample?.workload).toMatchObject({ files: 6, agents: 4, commits: 12, durability: 'flushed' });
    }
    expect(find(ran, name, 'commitsPerSecond')?.min).toBeGreaterThan(0);
    expect(find(ran, name, 'commitsPerRound')).toMatchObject({ min: 12, max: 12 });
    expect(find(ran, name, 'lostUpdates')).toMatchObject({ min: 0, max: 0 });
    expect(ran.text).toContain(`a conflict in ${name}: `);
  }
  expect(find(ran, 'mound', 'strandedEdits')).toMatchObject({ min: 0, max: 0 });
  expect(find(ran, 'mound', 'lockFailures')).toMatchObject({ min: 0, max: 0 });
  expect(ran.notes).toMatch(/read back from mound: \d+ edits stand, \d+ were replaced .*, \d+ lie aside whole, 0 lost/);
});

const onlyMound = { ...tiny, subjects: [moundContender], commits: 100 };

test("under heavy contention Mound's conflicts are there, whole", async () => {
  const ran = await run({ ...onlyMound, files: 1, agents: 8 });
  expect(ran.exitCode).toBe(0);
  expect(find(ran, 'mound', 'conflictsPerCommit')?.min).toBeGreaterThan(0);
  expect(ran.notes).toMatch(/[1-9]\d* lie aside whole, 0 lost/);
});

/** Mound with something wrong about it. */
const changed = (name: string, change: (trunk: ContendedTrunk) => Partial<ContendedTrunk>): ContendedSubject => ({
  ...moundContender,
  name,
  prepare: async (...given) => {
    const trunk = await moundContender.prepare(...given);
    const honest: ContendedTrunk = {
      notes: trunk.notes,
      troubles: trunk.troubles,
      bring: (...call) => trunk.bring(...call),
      readTrunk: (...call) => trunk.readTrunk(...call),
      readAside: (...call) => trunk.readAside(...call),
      close: () => trunk.close(),
    };
    return { ...honest, ...change(trunk) };
  },
});

describe('the checks fail where they must', () => {
  test('an arm that overwrites loses updates, as the control', async () => {
    const ran = await run({ ...onlyMound, subjects: [moundContender, overwritingContender], control: true });
    expect(find(ran, 'mound', 'lostUpdates')?.max).toBe(0);
    expect(find(ran, 'mound-overwriting', 'lostUpdates')?.min).toBeGreaterThan(0);
    expect(ran.notes).toContain('control: an arm that overwrites shows as losing edits');
    expect(ran.exitCode).toBe(0);
  });

  test('a control that loses nothing is told of', async () => {
    const ran = await run({ ...onlyMound, control: true });
    expect(ran.notes).toContain('DOES NOT SHOW');
    expect(ran.exitCode).toBe(1);
  });

  test('Mound without one of its edits has broken its promise', async () => {
    const forgetful = changed('mound', (trunk) => ({
      bring: (edit, rewrite) => {
        if (edit.id.endsWith('-1-7')) return Promise.resolve({ kind: 'landed' });
        return trunk.bring(edit, rewrite);
      },
    }));
    const ran = await run({ ...onlyMound, subjects: [forgetful] });
    expect(ran.notes).toContain('failed: mound could not be read back: e1-1-7 lost');
    expect(find(ran, 'mound', 'lostUpdates')).toMatchObject({ min: 0, max: 1 });
    expect(ran.exitCode).toBe(1);
  });

  test('a conflict that is not in the store is a lost update', async () => {
    const empty = changed('empty', () => ({ readAside: () => Promise.resolve(new Map()) }));
    const ran = await run({ ...onlyMound, files: 1, agents: 8, subjects: [empty] });
    expect(find(ran, 'empty', 'lostUpdates')?.max).toBeGreaterThan(0);
    expect(ran.notes).toMatch(/0 lie aside whole, [1-9]/);
  });

  test('a conflict that is kept with other bytes is a lost update', async () => {
    const garbled = changed('garbled', (trunk) => ({
      readAside: async (edits) =>
        new Map([...(await trunk.readAside(edits))].map(([id, bytes]) => [id, bytes.subarray(1)])),
    }));
    const ran = await run({ ...onlyMound, files: 1, agents: 8, subjects: [garbled] });
    expect(find(ran, 'garbled', 'lostUpdates')?.max).toBeGreaterThan(0);
  });

  test('an edit that lands though its author was told otherwise, and a doubled line', async () => {
    const lying = changed('lying', (trunk) => ({
      bring: async (edit, rewrite) => {
        await trunk.bring(edit, rewrite);
        return { kind: 'stranded', because: 'tries', isRecorded: false };
      },
    }));
    const doubling = changed('doubling', (trunk) => ({
      readTrunk: async (paths) =>
        new Map([...(await trunk.readTrunk(paths))].map(([path, bytes]) => [path, Buffer.concat([bytes, bytes])])),
    }));
    const ran = await run({ ...onlyMound, subjects: [lying, doubling] });
    expect(ran.notes).toMatch(/failed: lying could not be read back: e1-\d+-\d+ is on the trunk though its author was/);
    expect(ran.notes).toMatch(/failed: doubling could not be read back: .* has 200 lines instead of 100; .* twice/);
    expect(ran.exitCode).toBe(1);
  });

  test('an arm that breaks is told of, while the other goes on', async () => {
    const breaking = changed('breaking', () => ({ bring: () => Promise.reject(new Error('out of ink')) }));
    const ran = await run({ ...onlyMound, subjects: [breaking, moundContender] });
    expect(ran.notes).toContain('failed: breaking could not commit: out of ink');
    expect(find(ran, 'mound', 'commitsPerSecond')).toBeDefined();
    expect(ran.exitCode).toBe(1);
  });
});

test('Ctrl-C ends it, and nothing is left', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 1_500);
  await expect(run({ ...tiny, agents: 8, commits: 4_000 }, controller.signal)).rejects.toThrow(Interrupted);
});
