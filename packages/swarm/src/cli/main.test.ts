import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRepo } from '@mound/vcs';
import { main } from './main.ts';

let out: string[];
let err: string[];
beforeEach(() => {
  out = [];
  err = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  vi.spyOn(console, 'error').mockImplementation((text: string) => void err.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('demo runs eight tasks with a conflict to their end', async () => {
  expect(await main(['demo', '--json'])).toBe(0);
  expect(out).toHaveLength(1);
  expect(JSON.parse(out[0] ?? '')).toMatchObject({
    reason: 'finished',
    outcomes: { conflicted: 1, resolved: 1, rejected: 0 },
    tasks: { created: 8, ended: 8 },
  });
  const { outcomes } = JSON.parse(out[0] ?? '') as { outcomes: { landed: number; merged: number } };
  expect(outcomes.landed + outcomes.merged).toBe(7);
  expect(outcomes.merged).toBeGreaterThan(0);
});

test('demo keeps a repository that is named, and says when it is not empty', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'mound-cli-'));
  try {
    expect(await main(['demo', '--repo', dir])).toBe(0);
    expect(out.join('\n')).toContain('8 of 8 tasks ended');
    const repo = await openRepo(dir);
    const snapshot = repo.snapshot();
    expect(snapshot.readText('src/index.js')?.match(/^export/gm)).toHaveLength(5);
    expect(snapshot.readText('src/config.js')).toContain('retries: 5');
    expect(repo.conflicts()).toEqual([]);
    await repo.close();
    expect(await main(['demo', '--repo', dir])).toBe(1);
    expect(err).toEqual([expect.stringContaining('empty repository')]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test('run without an endpoint says in one line what to do', async () => {
  vi.stubEnv('MOUND_BASE_URL', '');
  expect(await main(['run', 'a goal'])).toBe(2);
  expect(err).toEqual([expect.stringMatching(/--base-url and --model.*demo/)]);
  expect(out).toEqual([]);
});

test('a wrong command line is one clear line and exit code 2', async () => {
  for (const [argv, says] of [
    [['demo', '--nope'], "unknown option '--nope'"],
    [['nope'], "unknown command 'nope'"],
    [['run'], 'missing required argument'],
    [['run', 'g', '--agents', 'x'], 'not a count'],
    [[], 'no command given'],
    [
      ['run', 'g', '--base-url', 'http://127.0.0.1:1/v1', '--model', 'm', '--api-key-env', 'MOUND_NO_KEY'],
      'MOUND_NO_KEY',
    ],
  ] as const) {
    err = [];
    expect(await main([...argv])).toBe(2);
    expect(err).toEqual([expect.stringContaining(says)]);
    expect(err[0]).not.toContain('\n');
  }
});

test('a directory that is no repository is exit code 42', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'mound-cli-'));
  try {
    const endpoint = ['--base-url', 'http://127.0.0.1:1/v1', '--model', 'm'];
    expect(await main(['run', 'g', '--repo', dir, ...endpoint])).toBe(42);
    expect(err).toHaveLength(1);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
