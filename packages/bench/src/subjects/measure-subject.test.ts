import { join } from 'node:path';

import { expect, test } from 'vitest';

import { withTempDir } from '../harness/temp-dir.ts';
import type { CommitOperation } from '../workloads/operation.ts';
import { floorSubject } from './floor.ts';
import { gitPorcelainSubject } from './git-porcelain.ts';
import { measureSubject } from './measure-subject.ts';

const operations: CommitOperation[] = ['one', 'two', 'three'].map((id) => ({
  id,
  agent: 'agent',
  message: id,
  rationale: '',
  changes: [{ path: 'a.txt', content: Buffer.from(`${id}\n`) }],
}));

const run = { files: new Map(), operations, inFlight: 3, budgetMs: 60_000, signal: new AbortController().signal };

test('makes the given commits and reads them back', async () => {
  const finding = await withTempDir(undefined, (dir) =>
    measureSubject(gitPorcelainSubject, { ...run, dir: join(dir, 'store') }),
  );
  expect(finding).toMatchObject({ measurement: { acknowledged: 3 }, faults: [] });
  expect('commitsPerSecond' in finding && finding.commitsPerSecond > 0).toBe(true);
});

test('says what is missing', async () => {
  const absent = { ...floorSubject, available: () => Promise.resolve({ missing: 'a disk' }) };
  expect(await measureSubject(absent, { ...run, dir: '/no/such/parent' })).toEqual({ missing: 'a disk' });
});
