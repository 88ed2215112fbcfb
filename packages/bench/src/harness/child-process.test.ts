import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { runCommand, startCommand, type CommandOptions } from './child-process.ts';
import { CommandHost } from './command-host.ts';

const options = (signal: AbortSignal): CommandOptions => ({ cwd: tmpdir(), env: process.env, signal });

/** Dead, or dead and waiting for a parent that never asks (process 1 of many containers). */
const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return true;
  }
};

async function pidIn(file: string): Promise<number> {
  await expect.poll(() => readFile(file, 'utf8').catch(() => '')).toMatch(/^\d+\n$/);
  return Number(await readFile(file, 'utf8'));
}

/** Writes the process id of a child of its own, and waits. */
const script = `sleep 60 & echo $!; wait`;

test('startCommand gives the output, or an error that quotes the last words', async () => {
  const { signal } = new AbortController();
  const cat = startCommand('cat', [], options(signal));
  await cat.write('hello');
  expect((await cat.finish()).toString()).toBe('hello');
  expect(String(await runCommand('cat', [], { ...options(signal), input: 'again' }))).toBe('again');
  const broken = startCommand('sh', ['-c', 'echo broken >&2; exit 3'], options(signal));
  await expect(broken.finish()).rejects.toThrow('exit 3: broken');
  await expect(startCommand('no-such-command', [], options(signal)).finish()).rejects.toThrow('ENOENT');
});

test('an interruption kills a started command and its children', async () => {
  const controller = new AbortController();
  const file = join(await mkdtemp(join(tmpdir(), 'mound-bench-')), 'pid');
  const running = startCommand('sh', ['-c', script.replace('$!', `$! > ${file}`)], options(controller.signal));
  const pid = await pidIn(file);
  controller.abort();
  await expect(running.finish()).rejects.toThrow('interrupted');
  await expect.poll(() => isGone(pid)).toBe(true);
  await rm(dirname(file), { recursive: true });
});

describe('CommandHost', () => {
  test('runs commands, several at once', async () => {
    const host = new CommandHost(options(new AbortController().signal));
    const outputs = await Promise.all(['a', 'b', 'c'].map((input) => host.run('cat', [], { input })));
    expect(outputs.map(String)).toEqual(['a', 'b', 'c']);
    expect(String(await host.run('sh', ['-c', 'echo $X'], { env: { X: 'seen' } }))).toBe('seen\n');
    await expect(host.run('sh', ['-c', 'echo broken >&2; exit 3'])).rejects.toThrow('sh -c: exit 3: broken');
    await expect(host.run('no-such-command', [])).rejects.toThrow('ENOENT');
    await host.close();
    await expect(host.run('cat', [])).rejects.toThrow(/closed|ended/);
  });

  test('carries bytes both ways unchanged', async () => {
    const host = new CommandHost(options(new AbortController().signal));
    const input = Buffer.alloc(3_000_000, 'abc\u0000ÿ\n', 'latin1');
    expect((await host.run('cat', [], { input })).equals(input)).toBe(true);
    await host.close();
  });

  test('an interruption kills it, its commands and their children', async () => {
    const controller = new AbortController();
    const host = new CommandHost(options(controller.signal));
    const file = join(await mkdtemp(join(tmpdir(), 'mound-bench-')), 'pid');
    const running = host.run('sh', ['-c', script.replace('$!', `$! > ${file}`)]);
    const pid = await pidIn(file);
    controller.abort();
    await expect(running).rejects.toThrow('interrupted');
    await expect.poll(() => isGone(pid)).toBe(true);
    await rm(dirname(file), { recursive: true });
  });
});
