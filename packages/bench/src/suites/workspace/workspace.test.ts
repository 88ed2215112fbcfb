import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { gitVersion } from '../../harness/machine.ts';
import { parseResultFile, sampleOf } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { noProgress } from '../suite.ts';
import { treeFiles, wrongFilesBelow } from './tree-files.ts';
import { judge, runWorkspaceSuite } from './workspace.ts';

test('a tiny run: a figure for each subject, every file right, nothing left behind', async () => {
  const hasGit = (await gitVersion()) !== undefined;
  await withTempDir(undefined, async (dir) => {
    const outcome = await runWorkspaceSuite(
      { files: 120, bytes: 700, changed: 5, statusFiles: 150, rounds: 1, seed: 3 },
      { dir, signal: new AbortController().signal, progress: noProgress },
    );
    if (outcome.kind !== 'result') throw new Error('no result file');
    const { samples, notes } = outcome.result;
    expect(parseResultFile(JSON.stringify(outcome.result))).toMatchObject({ suite: 'workspace' });
    const wrong = samples.filter(({ metric }) => metric === 'wrongFiles');
    expect(wrong.map(({ subject, max }) => [subject, max])).toEqual(
      ['mound', 'mound-slow', ...(hasGit ? ['git-worktree'] : []), 'mound-links'].map((name) => [name, 0]),
    );
    const ours = samples.filter(({ subject, metric }) => subject === 'mound' && metric === 'ratioToPeer');
    expect(ours.map(({ workload }) => workload['peer'])).toEqual(
      hasGit ? ['git-worktree', 'git-worktree', 'lstat-scan'] : ['lstat-scan'],
    );
    const linked = samples.filter(({ subject }) => subject === 'mound-links').map(({ metric }) => metric);
    expect(linked).toEqual(['workspaceMs', 'ratioToPeer', 'wrongFiles']);
    expect(notes.filter((note) => note.startsWith('target'))).toHaveLength(hasGit ? 3 : 2);
    expect(readdirSync(dir)).toEqual([]);
  });
});

test('a file that is missing, changed or not asked for is a wrong one', async () => {
  await withTempDir(undefined, async (dir) => {
    const files = treeFiles(60, 600, 1);
    for (const [path, content] of files) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), content);
    }
    expect(wrongFilesBelow(dir, files)).toBe(0);
    const [first = '', second = ''] = files.keys();
    writeFileSync(join(dir, first), 'changed');
    expect(wrongFilesBelow(dir, files)).toBe(1);
    rmSync(join(dir, second));
    expect(wrongFilesBelow(dir, files)).toBe(2);
    writeFileSync(join(dir, 'extra'), '');
    expect(wrongFilesBelow(dir, files)).toBe(3);
  });
});

test('a control that does not show and a wrong file fail the run', () => {
  const workload = { workload: 'workspace-add', peer: 'mound' };
  const slow = sampleOf('mound-slow', workload, 'ratioToPeer', [0.2, 0.25, 0.3]);
  const even = sampleOf('mound-slow', workload, 'ratioToPeer', [0.9, 1, 1.1]);
  const wrong = (files: number): ReturnType<typeof sampleOf> => sampleOf('mound', {}, 'wrongFiles', [files]);
  expect(judge([slow, wrong(0)])).toMatchObject({ isRight: true });
  expect(judge([slow, wrong(2)])).toMatchObject({ isRight: false });
  const fooled = judge([even, wrong(0)]);
  expect(fooled.isRight).toBe(false);
  expect(fooled.notes.join('\n')).toContain('DOES NOT SHOW in workspace-add');
});
