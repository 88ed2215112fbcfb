import { readdirSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemTime, type Time } from '../core/time.ts';
import { until } from '../model/fault-server.test.kit.ts';
import { BoundedText } from './bounded-text.ts';
import { environmentFor } from './environment.ts';
import { isSame, startTimeOf, type ProcessIdentity } from './processes.ts';
import { runCommand, type CommandEnd, type CommandLimits } from './run-command.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-run-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const env = { PATH: process.env['PATH'] ?? '' };
const limits: CommandLimits = { seconds: 20, outputBytesMax: 2000, graceMs: 100 };
const node = (script: string): [string, ...string[]] => [process.execPath, '-e', script];
const run = (command: [string, ...string[]], more: object = {}): Promise<CommandEnd> =>
  runCommand({ command, cwd: dir, env, limits, signal: new AbortController().signal, ...more });
const startedIn = (where: string): string[] =>
  readdirSync(where).filter((name) => statSync(join(where, name)).size > 0);
const identityIn = async (file: string): Promise<ProcessIdentity> => {
  const pid = Number(await readFile(join(dir, file), 'utf8'));
  return { pid, startTime: startTimeOf(pid) };
};

test('input, output, exit code and directory', async () => {
  const script = 'process.stdin.pipe(process.stdout); console.error(process.cwd()); process.exitCode = 3';
  const end = await run(node(script), { stdin: 'grüß' });
  expect(end).toMatchObject({ kind: 'exited', code: 3, stdout: 'grüß', stderr: `${dir}\n` });
});

test('one that is not there, and one that a signal ends', async () => {
  expect(await run(['/no/such/command'])).toMatchObject({
    kind: 'not-started',
    says: expect.stringContaining('ENOENT'),
  });
  expect(await run(node("process.kill(process.pid, 'SIGKILL')"))).toMatchObject({
    kind: 'killed',
    says: expect.stringContaining('SIGKILL'),
  });
});

test('endless output is read, bounded, and said to be', async () => {
  const end = await run(
    node(
      "const line = 'x'.repeat(1023) + '\\n'; for (let at = 0; at < 20000; at++) require('fs').writeSync(1, line); console.log('the end')",
    ),
  );
  expect(end.code).toBe(0);
  expect(end.stdout.length).toBeLessThan(2200);
  expect(end.stdout).toMatch(/\[2047\d{4} bytes left out\]/);
  expect(end.stdout.endsWith('the end\n')).toBe(true);
});

test('one that prints or takes too much is ended', async () => {
  const endless = await run(node("for (;;) require('fs').writeSync(1, 'x'.repeat(4096))"), {
    limits: { ...limits, printedBytesMax: 1e6 },
  });
  expect(endless).toMatchObject({ kind: 'printed-too-much', says: expect.stringContaining('1000000 bytes') });
  const greedy = await run(node('const kept = []; setInterval(() => kept.push(Buffer.alloc(2e7, 1)), 5)'), {
    limits: { ...limits, memoryBytesMax: 2e8 },
  });
  expect(greedy).toMatchObject({ kind: 'too-much-memory', code: undefined });
});

test('errors and output in one, as they come', async () => {
  const end = await run(['sh', '-c', 'echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three'], { isMerged: true });
  expect(end).toMatchObject({ stdout: 'one\ntwo\nthree\n', stderr: '' });
});

test('a bounded text keeps beginning and end, whatever the pieces are', () => {
  for (const size of [1, 3, 7, 100, 5000]) {
    const text = new BoundedText(20);
    const whole = Array.from({ length: 500 }, (_, at) => `${at} `).join('');
    for (let at = 0; at < whole.length; at += size) text.push(Buffer.from(whole.slice(at, at + size)));
    expect(text.toString()).toBe(`${whole.slice(0, 10)}\n[${whole.length - 20} bytes left out]\n${whole.slice(-10)}`);
  }
  const short = new BoundedText(20);
  short.push(Buffer.from('abc'));
  expect(short.toString()).toBe('abc');
});

const deaf = (file: string): string => `trap "" TERM; echo $$ > ${file}; while :; do sleep 1; done`;
/** Ignores SIGTERM and has children that do so, too: one in its group, one that left it. */
const family = `trap "" TERM; sh -c '${deaf('inside')}' & setsid sh -c '${deaf('outside')}' & wait; while :; do sleep 1; done`;

test.skipIf(process.platform !== 'linux').each(['timed-out', 'aborted'] as const)(
  'one that ignores SIGTERM, with a child and one that left the group: all gone (%s)',
  async (kind) => {
    const stop = new AbortController();
    let self: ProcessIdentity | undefined;
    let alarm: (() => void) | undefined;
    /** The command's own time is over when the test says so. */
    const time: Time = {
      now: () => systemTime.now(),
      after(ms, act) {
        if (ms !== 20_000) return systemTime.after(ms, act);
        alarm = act;
        return () => undefined;
      },
    };
    const ending = run(['sh', '-c', family], {
      signal: stop.signal,
      time,
      onStarted: (_: string, identity: ProcessIdentity | undefined) => (self = identity),
    });
    await until(() => startedIn(dir).length === 2);
    const [inside, outside] = await Promise.all([identityIn('inside'), identityIn('outside')]);
    expect(isSame(inside) && isSame(outside)).toBe(true);
    if (kind === 'aborted') stop.abort();
    else alarm?.();
    expect((await ending).kind).toBe(kind);
    expect([self, inside, outside].map((one) => one !== undefined && isSame(one))).toEqual([false, false, false]);
  },
);

test('what a command leaves running in the background goes with it, and does not hold it up', async () => {
  const end = await run(['sh', '-c', 'sleep 60 & echo $! > left; echo done']);
  expect(end).toMatchObject({ kind: 'exited', code: 0, stdout: 'done\n' });
  const left = Number(await readFile(join(dir, 'left'), 'utf8'));
  await until(() => startTimeOf(left) === undefined);
  expect(startTimeOf(left)).toBeUndefined();
});

test('secrets of the environment are not inherited', async () => {
  const from = { PATH: env.PATH, HOME: '/home/x', SECRET_KEY: 's', WANTED_KEY: 'w' };
  const given = environmentFor(from, ['WANTED_KEY'], { MOUND_ROLE: 'worker' });
  expect(given).toEqual({ PATH: env.PATH, HOME: '/home/x', WANTED_KEY: 'w', MOUND_ROLE: 'worker' });
  const end = await run(node('console.log(Object.keys(process.env).sort().join())'), { env: given });
  expect(end.stdout).toBe('HOME,MOUND_COMMAND,MOUND_ROLE,PATH,WANTED_KEY\n');
});
