import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { main } from '../../cli/main.ts';
import { gitVersion } from '../../harness/machine.ts';
import { parseResultFile, sampleOf } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { noProgress } from '../suite.ts';
import { runGitSuite } from './git.ts';
import { makeOddHistory } from './odd-history.ts';
import { gitParametersOf } from './parameters.ts';
import { control, importer, judge, spoiltExport } from './samples.ts';

const hasGit = (await gitVersion()) !== undefined;
const { signal } = new AbortController();

test.runIf(hasGit)(
  'a tiny run on a given repository: each figure, every id equal, nothing left behind',
  async () => {
    await withTempDir(undefined, async (dir) => {
      const gitDir = join(dir, 'given.git');
      await makeOddHistory(gitDir, { seed: 3, commits: 20, files: 8 }, signal);
      const parameters = { ...gitParametersOf('quick', { gitDir }), reads: 60 };
      const outcome = await runGitSuite(parameters, { dir, signal, progress: noProgress });
      if (outcome.kind !== 'result') throw new Error('no result file');
      const { samples, notes } = outcome.result;
      expect(parseResultFile(JSON.stringify(outcome.result))).toMatchObject({ suite: 'git' });
      const bad = notes.filter((note) => /WRONG|DOES NOT SHOW|failed|not compared/.test(note));
      expect([bad, outcome.exitCode]).toEqual([[], 0]);
      const figures = samples.filter(({ subject, metric }) => subject === importer && metric !== 'ratioToPeer');
      const isLinux = process.platform === 'linux';
      expect(figures.map(({ workload, metric }) => `${workload['workload']} ${metric}`)).toEqual([
        ...['wrongTrees', 'wrongRefs', 'missingObjects'].map((metric) => `git-comparison ${metric}`),
        ...['storeMiB', 'ratioToPackedSize', 'wrongReads', 'readUsP50', 'readUsP99'].map(
          (metric) => `git-store ${metric}`,
        ),
        ...['git-import', 'git-export'].flatMap((workload) =>
          ['wallSeconds', ...(isLinux ? ['cpuSeconds', 'peakResidentMiB'] : [])].map(
            (metric) => `${workload} ${metric}`,
          ),
        ),
      ]);
      const peers = samples.filter(({ metric, workload }) => metric === 'ratioToPeer' && workload['by'] === 'wall');
      expect(peers.map(({ subject, workload }) => `${subject} ${workload['workload']} ${workload['peer']}`)).toEqual([
        'mound git-import git-fast-import',
        'mound git-import git-cat-file',
        'mound-twice git-import mound',
        'mound git-export git-fast-import',
      ]);
      expect(readdirSync(dir)).toEqual(['given.git']);
    });
  },
  60_000,
);

test('what is wrong, what was not compared and a control that does not show fail the run', () => {
  const ratio = (by: string, value: number): ReturnType<typeof sampleOf> =>
    sampleOf(control, { workload: 'git-import', peer: importer, by }, 'ratioToPeer', [value]);
  const right = (['wrongTrees', 'wrongRefs', 'missingObjects', 'wrongReads'] as const).map((metric) =>
    sampleOf(importer, {}, metric, [0]),
  );
  const spoilt = (['wrongTrees', 'wrongRefs'] as const).map((metric) => sampleOf(spoiltExport, {}, metric, [1]));
  const good = [...right, ...spoilt, ratio('wall', 0.9), ratio('cpu', 0.5)];
  expect(judge(good)).toMatchObject({ isRight: true });
  expect(judge([...good, sampleOf(importer, {}, 'wrongTrees', [1])]).notes.join('\n')).toContain('1 wrongTrees: WRONG');
  for (const broken of [
    [...good, sampleOf(importer, {}, 'wrongReads', [1])],
    good.filter(({ metric }) => metric !== 'missingObjects'),
    [...right, ...spoilt, ratio('wall', 0.9)],
    [...right, ...spoilt],
    [...right, ratio('cpu', 0.5), sampleOf(spoiltExport, {}, 'wrongTrees', [0])],
  ]) {
    expect(judge(broken)).toMatchObject({ isRight: false });
  }
});

test('what is no git repository is one clear line and exit code 42', async () => {
  await withTempDir(undefined, async (dir) => {
    const lines: string[] = [];
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    const exitCode = await main(['git', dir]).finally(() => spy.mockRestore());
    expect(exitCode).toBe(42);
    expect(lines.join('')).toMatch(/^mound bench: '.*' is no git repository: give the directory of one\n$/);
  });
});
