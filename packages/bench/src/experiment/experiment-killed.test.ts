import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openRepo } from '@mound/vcs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { noProgress } from '../suites/suite.ts';
import type { CellResult } from './cell-result.ts';
import { experimentSuite } from './experiment.ts';

const bench = fileURLToPath(new URL('../../bin/mound-bench.js', import.meta.url));

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'mound-killed-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The second task, and every task of the second seed, is not answered before the file `go` is there. */
const scriptOf = (at: string): string => `
import { appendFileSync, existsSync } from 'node:fs';
const call = (name, input) => ({ name, arguments: input });
const until = async (path) => { while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 20)); };
export default {
  planner: ({ turn }) => turn === 0
    ? { calls: [call('delegate', { tasks: [{ id: 'a', title: 'a', unchecked: 'text' }, { id: 'b', title: 'b', after: ['a'], unchecked: 'text' }] }), call('wait', {})] }
    : { calls: [call('finish', { status: 'done' })] },
  worker: async ({ brief }) => {
    const id = brief.task.id.split('/').at(-1);
    appendFileSync(${JSON.stringify(join(at, 'asked'))}, id + '\\n');
    if (id === 'b') await until(${JSON.stringify(join(at, 'go'))});
    return { calls: [call('write', { path: id + '.txt', content: id }), call('finish', { status: 'done' })] };
  },
};`;

test('kill -9: finished cells are kept, the one at work goes on where it was, nothing is done twice', async () => {
  writeFileSync(join(dir, 'goal.md'), 'Write a, then b.\n');
  writeFileSync(join(dir, 'script.mjs'), scriptOf(dir));
  const file = join(dir, 'experiment.json');
  const out = join(dir, 'out');
  writeFileSync(file, JSON.stringify({
    format: 1,
    name: 'killed',
    goal: 'goal.md',
    models: { script: { kind: 'scripted', module: 'script.mjs' } },
    mixes: { one: { planner: 'script', worker: 'script' } },
    swarm: { commands: { mode: 'off' } },
    seeds: 2,
    arms: ['solo', 'all-on'],
  })); // prettier-ignore
  const child = spawn(process.execPath, [bench, 'experiment', file, '--out', out], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const asked = (): string[] =>
    existsSync(join(dir, 'asked')) ? readFileSync(join(dir, 'asked'), 'utf8').trim().split('\n') : [];
  await vi.waitFor(() => expect(asked()).toEqual(['solo', 'a', 'b']), 60_000);
  child.kill('SIGKILL');
  await ended;
  const kept = readFileSync(join(out, 'cells', 'solo.one.1', 'cell.json'), 'utf8');
  expect(existsSync(join(out, 'cells', 'all-on.one.1', 'cell.json'))).toBe(false);

  writeFileSync(join(dir, 'go'), '');
  const values = { file, out };
  const signal = new AbortController().signal;
  const outcome = await experimentSuite.run({ size: 'default', values, dir: undefined, signal, progress: noProgress });
  if (outcome.kind !== 'result') throw new Error('no result');
  expect(outcome.exitCode).toBe(0);
  expect(outcome.result.notes).toContain('solo.one.1: finished before, kept');
  expect(outcome.result.notes).toContain('all-on.one.1: was cut off before its end; resumed');
  expect(readFileSync(join(out, 'cells', 'solo.one.1', 'cell.json'), 'utf8')).toBe(kept);
  // The first task was done before; of the second the answer that was cut off is asked for again.
  expect(asked().slice(3)).toEqual(['b', 'solo', 'a', 'b']);
  const cell = JSON.parse(readFileSync(join(out, 'cells', 'all-on.one.1', 'cell.json'), 'utf8')) as CellResult;
  expect(cell).toMatchObject({ how: 'resumed', reason: 'finished', commits: 2, tasks: 2 });
  const repo = await openRepo(join(out, 'cells', 'all-on.one.1', 'repo'));
  expect(['a.txt', 'b.txt'].map((path) => repo.snapshot().readText(path))).toEqual(['a', 'b']);
  await repo.close();
});
