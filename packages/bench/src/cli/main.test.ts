import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, describe, expect, test, vi } from 'vitest';

import { formatVersion, parseResultFile } from '../harness/result-file.ts';
import { withTempDir } from '../harness/temp-dir.ts';
import { main } from './main.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs the command line in this process. */
async function bench(...argv: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    });
  }
  const exitCode = await main(argv);
  vi.restoreAllMocks();
  return { exitCode, ...written };
}

const tinyRun = ['commit', '--subjects', 'floor,git-plumbing', '--files', '20', '--in-flight', '1,4'];
const tinyLoad = [...tinyRun, '--commits', '8', '--rounds', '1', '--no-profile'];

test('--list names the suites', async () => {
  const { exitCode, stdout, stderr } = await bench('--list');
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^commit +Durable commits/m);
  const { suites } = JSON.parse((await bench('--list', '--json')).stdout) as { suites: { name: string }[] };
  expect(suites.map(({ name }) => name)).toEqual(expect.arrayContaining(['commit', 'sqllogictest', 'experiment']));
});

test('--json is one result file on one line, and report makes a table of it', async () => {
  const { exitCode, stdout, stderr } = await bench(...tinyLoad, '--json');
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout.match(/\n/g)).toHaveLength(1);
  expect(stdout.endsWith('\n')).toBe(true);
  expect(parseResultFile(stdout)).toMatchObject({ suite: 'commit', formatVersion });
  await withTempDir(undefined, async (dir) => {
    const file = join(dir, 'result.json');
    await writeFile(file, stdout);
    const report = await bench('report', file, file);
    expect(report.exitCode).toBe(0);
    expect(report.stdout.match(/^## commit$/gm)).toHaveLength(2);
    expect(report.stdout).toMatch(/^\| floor \| 4 \| [\d,.]+ \|/m);
    expect(report.stdout).toMatch(/^- read back: \d+ acknowledged commits of 3 of 3 arms are all there$/m);
    const page = join(dir, 'page.html');
    expect(await bench('report', file, '--out', page)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await readFile(page, 'utf8')).toMatch(/^<!doctype html>[^]*<svg [^]*<\/html>\n$/);
    expect((await bench('report', file, '--html')).stdout).toMatch(/^<!doctype html>/);
    const nowhere = await bench('report', file, '--out', join(dir, 'no', 'page.html'));
    expect(nowhere).toMatchObject({ exitCode: 42, stderr: expect.stringMatching(/cannot be written \(ENOENT\)\n$/) });
  });
});

test('--json before the suite is the same', async () => {
  const { stdout } = await bench('--json', ...tinyLoad);
  expect(parseResultFile(stdout)).toMatchObject({ suite: 'commit', formatVersion });
});

test('without --json it is a table', async () => {
  const { exitCode, stdout } = await bench(...tinyLoad);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^subject +in flight +commits\/s/m);
  expect(stdout).toMatch(/^git-plumbing +1 /m);
});

describe('a wrong command line is one clear line and exit code 2', () => {
  test.each([
    [['commit', '--frobnicate'], "unknown option '--frobnicate'"],
    [['comit'], "no suite 'comit'; there are commit"],
    [[], 'no suite named; there are commit'],
    [['commit', '--files', 'many'], "--files: 'many' is no whole number from 1 to 1000000"],
    [['commit', '--in-flight', '1,0'], "--in-flight: '0' is no whole number"],
    [['commit', '--subjects', 'floor,svn'], "no subject 'svn'"],
    [['commit', '--quick', '--full'], "option '--quick' cannot be used with option '--full'"],
    [['commit', '--files', '10', '--in-flight', '100'], '100 in flight need 100 files or more'],
    [['report'], "missing required argument 'file'"],
    [['curve'], '--repo: name the directory'],
    [['curve', '--repo', 'R'], 'name what is scored by: --corpus with --engine, or --score'],
    [['curve', '--repo', 'R', '--score', 'x', '--engine', 'y'], '--score counts by itself; leave out --engine'],
    [['curve', '--repo', 'R', '--score', 'x', '--tolerance', 'much'], "--tolerance: 'much' is no percentage"],
  ])('%j', async (argv, line) => {
    const { exitCode, stdout, stderr } = await bench(...argv);
    expect(stderr).toContain(`mound bench: ${line}`);
    expect(stderr.trimEnd()).not.toContain('\n');
    expect([exitCode, stdout]).toEqual([2, '']);
  });
});

describe('report of what is no result file: one clear line and exit code 42', () => {
  test.each([
    ['', 'is not JSON'],
    ['{"suite":"commit"}', 'is not a result file'],
    ['{"suite":"commit","formatVersion":99,"machine":{},"samples":[],"notes":[]}', 'has result format 99'],
    [
      '{"suite":"commit","formatVersion":2,"machine":{},"samples":[{}],"notes":[]}',
      'holds a sample without its fields',
    ],
    [
      '{"suite":"commit","formatVersion":2,"machine":{},"samples":[{"subject":"a","metric":"speed","unit":"","workload":{},"median":1,"min":1,"max":1,"n":1}],"notes":[]}',
      'holds a metric that this program does not know: speed',
    ],
  ])('%s', async (text, line) => {
    await withTempDir(undefined, async (dir) => {
      const file = join(dir, 'result.json');
      await writeFile(file, text);
      const { exitCode, stdout, stderr } = await bench('report', file);
      expect([exitCode, stdout]).toEqual([42, '']);
      expect(stderr).toContain(`${file} ${line}`);
    });
  });

  test('a file that is not there', async () => {
    const { exitCode, stderr } = await bench('report', '/no/such/file');
    expect([exitCode, stderr]).toEqual([42, 'mound bench: /no/such/file cannot be read (ENOENT)\n']);
  });
});

test('a directory that cannot be used is named as it was given', async () => {
  const { exitCode, stderr } = await bench('commit', '--quick', '--dir', '/no/such/dir');
  const line = 'mound bench: /no/such/dir cannot be used (ENOENT); name another directory\n';
  expect([exitCode, stderr]).toEqual([1, line]);
});

test.each([
  [['--repo', '/no/such', '--score', 'x', '--no-sandbox'], '/no/such is no Mound repository'],
  [['--repo', 'R', '--corpus', '/no/such', '--engine', 'x'], '/no/such is no directory'],
])('a curve of what cannot be read: %j', async (argv, line) => {
  const { exitCode, stderr } = await bench('curve', ...argv);
  expect([exitCode, stderr]).toEqual([42, expect.stringContaining(line)]);
});

test('Ctrl-C: exit code 130, no directories left, no result', async () => {
  await withTempDir(undefined, async (dir) => {
    const running = bench('commit', '--subjects', 'git-plumbing,git-fast-import,floor', '--dir', dir, '--json');
    await vi.waitFor(async () => expect(await readdir(dir)).toHaveLength(1), 10_000);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    process.emit('SIGINT', 'SIGINT');
    const from = performance.now();
    const { exitCode, stdout, stderr } = await running;
    expect([exitCode, stdout, stderr]).toEqual([130, '', 'mound bench: interrupted\n']);
    expect(performance.now() - from).toBeLessThan(5_000);
    expect(await readdir(dir)).toEqual([]);
  });
});
