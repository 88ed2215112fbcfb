import { readdir } from 'node:fs/promises';

import { describe, expect, test, vi } from 'vitest';

import { parseResultFile, type ResultFile, type Sample } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { W1 } from '../../workloads/w1.ts';
import { noProgress } from '../suite.ts';
import { GrowingRepo } from './growing-repo.ts';
import { commitAndNote } from './growth.ts';
import { Journal } from './journal.ts';
import { scaleParametersOf, type ScaleParameters } from './parameters.ts';
import { headFaults, logFaults } from './read-back.ts';
import { runScaleSuite } from './scale.ts';

const tiny: ScaleParameters = {
  files: 60,
  commits: 100,
  stretch: 40,
  inFlight: 10,
  forks: 12,
  readBack: 1_000,
  gitCommits: 5,
  scanMs: 100,
  compact: true,
  seed: 2,
};

async function run(parameters: ScaleParameters): Promise<{ result: ResultFile; exitCode: number; notes: string }> {
  return withTempDir(undefined, async (dir) => {
    const outcome = await runScaleSuite(parameters, {
      dir,
      signal: new AbortController().signal,
      progress: noProgress,
    });
    if (outcome.kind !== 'result') throw new Error('the scale suite makes a result file');
    expect(await readdir(dir)).toEqual([]);
    return { result: outcome.result, exitCode: outcome.exitCode, notes: outcome.result.notes.join('\n') };
  });
}

const pick = (samples: readonly Sample[], metric: string, subject = 'mound'): Sample[] =>
  samples.filter((sample) => sample.metric === metric && sample.subject === subject);

test('a tiny run: every figure is there, and everything is read back', async () => {
  const { result, exitCode, notes } = await run(tiny);
  expect(notes).not.toMatch(/failed/);
  expect(exitCode).toBe(0);
  expect(parseResultFile(JSON.stringify(result))).toMatchObject({ suite: 'scale' });
  const rates = pick(result.samples, 'commitsPerSecond');
  expect(rates.map(({ workload }) => workload['fromCommit'] ?? workload['at'] ?? workload['stretch'])).toEqual([
    0,
    40,
    80,
    'last',
    'one seq, all agents commit',
  ]);
  expect(pick(result.samples, 'ratioToFloor')).toHaveLength(3);
  expect(pick(result.samples, 'ratioToFirstStretch')).toHaveLength(1);
  expect(pick(result.samples, 'bytesPerCommit').at(-1)?.workload).toMatchObject({ stretch: 'all', files: 60 });
  for (const subject of ['git-packed', 'git-loose']) {
    expect(pick(result.samples, 'bytesPerCommit', subject)[0]?.median).toBeGreaterThan(0);
  }
  expect(pick(result.samples, 'listMs').map(({ workload }) => workload['at'])).toEqual([
    'one seq, nobody commits',
    'one seq, all agents commit',
    'head',
    'old seq',
    'before the first commit',
  ]);
  for (const metric of ['openMs', 'snapshotOpenUs', 'readUsP50', 'readUsP99', 'logMsP50', 'residentMiB', 'forkMsP50']) {
    expect(pick(result.samples, metric)[0]?.median).toBeGreaterThan(0);
  }
  expect(notes).toMatch(
    /^read back: (\d+) acknowledged commits are in the log once.*\nread back: \1 old versions \(all\)/m,
  );
  expect(notes).toMatch(/^target .*rate of the last stretch/m);
}, 60_000);

describe('what is not there is named', () => {
  test('by the read back of the log and of the heads', async () => {
    await withTempDir(undefined, async (dir) => {
      const grown = await GrowingRepo.make(tiny, dir, new AbortController().signal);
      await commitAndNote(grown, grown.stream.peek(30), 60_000);
      await grown.close();
      const { journal, workload } = grown;
      expect(await logFaults(grown.dir, journal)).toEqual([]);
      expect(await headFaults(grown.dir, journal, workload.files)).toEqual([]);

      const [next, after] = workload.stream(10).peek(32).slice(30);
      if (next === undefined || after === undefined) throw new Error('no more operations');
      journal.add(next, 7);
      expect(await logFaults(grown.dir, journal)).toEqual([`commit ${next.id} is not there`]);

      const moved = new Journal();
      const [first] = workload.stream(10).peek(1);
      if (first === undefined) throw new Error('no operation');
      moved.add(first, 1);
      const { seq } = journal.row(0);
      expect(await logFaults(grown.dir, moved)).toContain(`commit ${first.id} is at ${seq}, acknowledged at 1`);

      const garbled = new Journal();
      garbled.add({ ...first, changes: [{ path: first.changes[0]?.path ?? '', content: Buffer.from('x') }] }, seq);
      expect(await logFaults(grown.dir, garbled)).toContain(`commit ${first.id} holds other content than was put`);
      const faults = await headFaults(grown.dir, garbled, new W1({ files: 60, filesPerCommit: 1, seed: 2 }).files);
      expect(faults).toContain(`${first.changes[0]?.path ?? ''} has another head than was put`);
    });
  });

  test('a version whose bytes are not what was put', async () => {
    const original = Object.getOwnPropertyDescriptor(Journal.prototype, 'row')?.value as Journal['row'];
    vi.spyOn(Journal.prototype, 'row').mockImplementation(function (this: Journal, at: number) {
      const found = original.call(this, at);
      return at === 17 ? { ...found, blob: found.blob.replace(/^./, 'z') } : found;
    });
    const { exitCode, notes } = await run({ ...tiny, gitCommits: 0 });
    vi.restoreAllMocks();
    expect(notes).toMatch(/^failed: mound could not be read back: commit \S+ holds other content than was put/m);
    expect(notes).toMatch(/^failed: old versions could not be read back: \S+ at \d+ \(w1-2-10-17\) has other bytes/m);
    expect(exitCode).toBe(1);
  }, 60_000);
});

describe('scaleParametersOf', () => {
  test('cuts a short run into five stretches and a long one as the targets say', () => {
    expect(scaleParametersOf('default', { commits: 1000 })).toMatchObject({
      stretch: 200,
      files: 100_000,
      inFlight: 1000,
    });
    expect(scaleParametersOf('default', { commits: 1_000_000 }).stretch).toBe(100_000);
    expect(scaleParametersOf('quick', { stretch: 7 }).stretch).toBe(7);
  });

  test('refuses more in flight than files', () => {
    expect(() => scaleParametersOf('quick', { files: 10, inFlight: 11 })).toThrow('11 in flight need 11 files');
  });
});
