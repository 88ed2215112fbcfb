import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test, vi } from 'vitest';

import { main } from '../../cli/main.ts';
import { runCommand } from '../../harness/child-process.ts';
import { gitVersion } from '../../harness/machine.ts';
import { parseResultFile, type ResultFile, type Sample } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { gitEnvironment } from '../../subjects/git/git-repo.ts';
import { mergeControls, mergePeers, moundDrivers } from '../../subjects/merges/index.ts';
import { cleanAs, moundMerges, moundTextMerges } from '../../subjects/merges/mound.ts';
import { noProgress } from '../suite.ts';
import { runMergesSuite } from './merges.ts';
import { mergesParametersOf, type MergesParameters } from './parameters.ts';

const tiny: MergesParameters = { ...mergesParametersOf('quick', {}), triples: 40, rounds: 0 };

interface Ran {
  readonly result: ResultFile;
  readonly notes: string;
  readonly exitCode: number;
}

async function run(parameters: MergesParameters): Promise<Ran> {
  const context = { dir: undefined, signal: new AbortController().signal, progress: noProgress };
  const outcome = await runMergesSuite(parameters, context);
  if (outcome.kind !== 'result') throw new Error('the merges suite gives a result file');
  return { result: outcome.result, notes: outcome.result.notes.join('\n'), exitCode: outcome.exitCode };
}

const find = ({ result }: Ran, subject: string, metric: string, peer?: string): Sample | undefined =>
  result.samples.find(
    (sample) => sample.subject === subject && sample.metric === metric && sample.workload['peer'] === peer,
  );

/** A history with one clean merge that people changed, one clean one, and one conflict. */
async function makeHistory(dir: string): Promise<void> {
  const env = gitEnvironment();
  const { signal } = new AbortController();
  const lines = Array.from({ length: 9 }, (_, index) => `${index}\n`);
  const put = (name: string, ...edits: readonly (readonly [number, string])[]): string => {
    const copy = [...lines];
    for (const [at, text] of edits) copy[at] = `${text}\n`;
    const text = copy.join('');
    return `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  };
  const commit = (mark: number, parents: readonly number[], ...files: readonly string[]): string =>
    [
      `reset refs/heads/c${mark}\ncommit refs/heads/c${mark}\nmark :${mark}\n`,
      'committer bench <bench@mound.invalid> 1 +0000\ndata 0\n',
      ...parents.map((parent, at) => `${at === 0 ? 'from' : 'merge'} :${parent}\n`),
      ...files,
    ].join('');
  const input = [
    commit(1, [], put('kept'), put('changed'), put('torn')),
    commit(2, [1], put('kept', [1, 'c']), put('changed', [1, 'c']), put('torn', [4, 'c'])),
    commit(3, [1], put('kept', [7, 'i']), put('changed', [7, 'i']), put('torn', [4, 'i'])),
    commit(4, [2, 3], put('kept', [1, 'c'], [7, 'i']), put('changed', [1, 'c'], [7, 'x']), put('torn', [4, 'both'])),
  ].join('');
  await runCommand('git', ['init', '--quiet', '--bare', '--template=', '.'], { cwd: dir, env, signal });
  await runCommand('git', ['fast-import', '--quiet'], { cwd: dir, env, signal, input });
}

const hasGit = (await gitVersion()) !== undefined;

test('a tiny run on generated merges: structure, and no clean merge against git and GNU diff3', async () => {
  const ran = await run(tiny);
  expect(ran.exitCode).toBe(0);
  expect(parseResultFile(JSON.stringify(ran.result))).toMatchObject({ suite: 'merges' });
  expect(ran.result.notes).toContain('control: not run; --control or --full runs it');
  for (const subject of tiny.subjects) {
    const isThere = (await subject.available()) === true;
    expect(ran.notes.includes(`missing: ${subject.name}`)).toBe(!isThere);
    if (!isThere) continue;
    const counted = ['cleanMerges', 'conflictedMerges', 'refusedMerges'].map(
      (metric) => find(ran, subject.name, metric)?.median ?? -100,
    );
    expect(counted.reduce((sum, count) => sum + count)).toBe(40);
    expect(find(ran, subject.name, 'mergeMsP50')?.median).toBeGreaterThan(0);
    if (subject !== moundTextMerges) expect(find(ran, 'mound', 'agreement', subject.name)).toMatchObject({ n: 1 });
  }
  expect(find(ran, 'mound', 'cleanAgainstAll')?.max).toBe(0);
  expect(find(ran, 'mound', 'conflictedMerges')?.min).toBeGreaterThan(5);
  expect(find(ran, 'mound', 'cleanMerges')?.min).toBeGreaterThan(5);
});

describe.skipIf(!hasGit)('the merges of a history', () => {
  test('are found, merged, and held against what people committed', async () => {
    await withTempDir(undefined, async (dir) => {
      await makeHistory(dir);
      const before = await readdir(dir, { recursive: true });
      const ran = await run({ ...tiny, gitDir: dir, subjects: [moundTextMerges, ...mergePeers] });
      expect(await readdir(dir, { recursive: true })).toEqual(before);
      expect(ran.notes).toContain('1 of 1 merges with two parents read; 0 of them have several merge bases');
      expect(find(ran, 'mound', 'cleanMerges')).toMatchObject({
        median: 2,
        workload: { source: 'history', merges: 3 },
      });
      expect(find(ran, 'mound', 'conflictedMerges')?.median).toBe(1);
      expect(find(ran, 'mound', 'changedByPeople')?.median).toBe(1);
      expect(find(ran, 'mound', 'agreement', 'git-merge-file')?.median).toBe(1);
    });
  });

  test('a driver is laid beside the line merge: conflicts avoided, wrong merges introduced', async () => {
    const eager = moundMerges('mound-eager', (input) => cleanAs('eager', input.current));
    await withTempDir(undefined, async (dir) => {
      await makeHistory(dir);
      const subjects = [moundTextMerges, eager];
      const mounds = subjects.map(({ name }) => name);
      const ran = await run({ ...tiny, gitDir: dir, subjects, mounds });
      const figure = (metric: string): number | undefined => find(ran, 'mound-eager', metric, 'mound')?.median;
      expect([figure('conflictsAvoided'), figure('avoidedAsCommitted')]).toEqual([1, 0]);
      // In two files: the conflict, and the clean merge that people kept. The third was wrong before.
      expect(figure('wrongMergesIntroduced')).toBe(2);
      expect(figure('conflictsAdded')).toBe(0);
    });
  });

  test('what is not agreed on is written for a person to look at', async () => {
    await withTempDir(undefined, async (dir) => {
      const subjects = [moundTextMerges, ...mergeControls];
      const mounds = subjects.map(({ name }) => name);
      const disagreements = join(dir, 'found');
      await run({ ...tiny, subjects, mounds, disagreements });
      const folder = join(disagreements, 'mound-beside-mound-careless', 'clean-there-only');
      const files = await readdir(folder);
      expect(files.length).toBeGreaterThan(20);
      const origin = files.find((name) => name.endsWith('.origin')) ?? '';
      expect(await readFile(join(folder, origin), 'utf8')).toMatch(/^generated 1\/\d+\n$/);
    });
  });
});

test('the controls show, and one that does not show fails the run', async () => {
  const judges = mergePeers.filter(({ name }) => name === 'git-merge-file' || name === 'gnu-diff3');
  const withControls = { ...mergesParametersOf('quick', { control: true, subjects: judges }), triples: 20, rounds: 0 };
  const ran = await run(withControls);
  expect(ran.notes).toContain('control: a Mound that takes 1 ms longer for each merge shows as slower');
  expect(ran.notes).toContain("a Mound that takes current's lines in a conflict shows as merging what no other merges");
  expect(ran.exitCode).toBe(0);
  const honest = mergeControls.map(({ name }) => ({ ...moundTextMerges, name }));
  const subjects = [...Object.values(moundDrivers), ...honest, ...judges];
  const fooled = await run({ ...withControls, subjects });
  expect(fooled.notes.match(/DOES NOT SHOW/g)).toHaveLength(2);
  expect(fooled.exitCode).toBe(1);
});

test('timed lengths: a figure a round for each subject, ratios within rounds', async () => {
  const ran = await run({ ...tiny, triples: 1, rounds: 1, subjects: [moundTextMerges, ...mergePeers.slice(0, 1)] });
  const timed = ran.result.samples.filter(({ workload }) => workload['source'] === 'timed');
  expect(timed.filter(({ subject, metric }) => subject === 'mound' && metric === 'mergeMsP50')).toHaveLength(6);
  if (hasGit) expect(timed.filter(({ metric }) => metric === 'ratioToPeer')).toHaveLength(6);
});

test.each(['.', '/no-such-dir'])('what is no git repository is one clear line and exit code 42: %s', async (name) => {
  await withTempDir(undefined, async (dir) => {
    const lines: string[] = [];
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    const exitCode = await main(['merges', join(dir, name)]).finally(() => spy.mockRestore());
    expect(exitCode).toBe(42);
    expect(lines.join('')).toMatch(/^mound bench: '.*' is no git repository: give the directory of one\n$/);
  });
});
