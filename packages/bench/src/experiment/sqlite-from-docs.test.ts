import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { noProgress } from '../suites/suite.ts';
import { cellsOf } from './cells.ts';
import { loadExperiment } from './experiment-file.ts';
import { experimentSuite } from './experiment.ts';

const home = fileURLToPath(new URL('../../experiments/sqlite-from-docs', import.meta.url));
const file = join(home, 'experiment.json');

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'mound-docs-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('--dry-run holds the file good without a model, and says what is missing', async () => {
  const signal = new AbortController().signal;
  const values = { file, dryRun: true, out: join(dir, 'out') };
  const outcome = await experimentSuite.run({ size: 'default', values, dir: undefined, signal, progress: noProgress });
  if (outcome.kind !== 'own') throw new Error('not a dry run');
  expect(outcome.json).toMatchObject({
    mixes: ['one frontier model in both roles', 'frontier planner, cheap fast workers', 'one mix', 'another mix'],
    usdAtMost: 1400,
    missing: expect.arrayContaining(['variable: SQLLOGICTEST_DIR is not set', 'variable: FRONTIER_MODEL is not set']),
  });
  expect(readdirSync(dir)).toEqual([]);
});

test('agents are told nothing of what scores them, and have no network', async () => {
  const experiment = await loadExperiment(file, { SQLLOGICTEST_DIR: '/a/corpus' });
  for (const { config } of cellsOf(experiment)) {
    expect(JSON.stringify(config)).not.toMatch(/corpus|logictest|sqllogic/i);
    expect(config.commands.mode).toBe('sandbox');
  }
  expect(experiment.goal).not.toMatch(/logic ?test|corpus|score/i);
  expect(experiment.dependencies).toEqual({ allow: [] });
});

const hasDpkg = spawnSync('dpkg-deb', ['--version']).status === 0;

test.skipIf(!hasDpkg)(
  'the documentation comes from a package, without pages on tests (skipped without dpkg-deb)',
  () => {
    const pages = join(dir, 'package/usr/share/doc/sqlite3');
    mkdirSync(join(pages, 'syntax'), { recursive: true });
    for (const page of ['lang.html', 'syntax/expr.html', 'testing.html', 'requirements.html', 'doc_keyword_crossref.html', 'logo.gif']) writeFileSync(join(pages, page), page); // prettier-ignore
    mkdirSync(join(dir, 'package/DEBIAN'));
    writeFileSync(join(dir, 'package/DEBIAN/control'), 'Package: sqlite3-doc\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.invalid>\nDescription: d\n'); // prettier-ignore
    const deb = join(dir, 'doc.deb');
    expect(spawnSync('dpkg-deb', ['-b', join(dir, 'package'), deb]).status).toBe(0);
    const into = join(dir, 'into');
    mkdirSync(into);
    const get = (env: object): ReturnType<typeof spawnSync> =>
      spawnSync(join(home, 'get-documentation.sh'), [into], { env: { ...process.env, ...env }, encoding: 'utf8' });
    expect(get({ SQLITE_DOC_DEB: join(dir, 'none.deb') })).toMatchObject({
      status: 1,
      stderr: 'get-documentation: SQLITE_DOC_DEB names no file\n',
    });
    expect(get({ SQLITE_DOC_DEB: deb }).status).toBe(0);
    expect(readdirSync(into, { recursive: true, encoding: 'utf8' }).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'lang.html',
      'syntax',
      'syntax/expr.html',
    ]);
  },
);
