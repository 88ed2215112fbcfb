import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openRepo } from '@mound/vcs';
import { expect, test, vi } from 'vitest';
import { moundBin, projectDir, run, start, type Finished } from './kit/process.ts';
import { answerer, type Asked } from './kit/swarm/answerer.ts';
import { tempDir } from './kit/temp.ts';

const call = (name: string, input: object): { name: string; arguments: object } => ({ name, arguments: input });
const usage = { inputTokens: 900, outputTokens: 100 };
const finish = call('finish', { status: 'done' });

/** A planner that hands out one task, and a worker that does it. */
function plainWork({ role, turn }: Asked): { calls: { name: string; arguments: object }[]; usage: typeof usage } {
  if (role === 'worker') {
    const changes = [{ path: 'a.txt', content: 'done\n' }];
    return { calls: [call('commit', { changes, message: 'work' }), finish], usage };
  }
  const delegate = call('delegate', { tasks: [{ id: 'one', title: 'One', unchecked: 'a test' }] });
  return { calls: turn === 0 ? [delegate, call('wait', {})] : [finish], usage };
}

/** What `mound swarm` runs: without `mound` before it each command starts in half the time. */
const swarmBin = join(projectDir, 'packages/swarm/bin/mound-swarm.js');

interface Place {
  readonly repo: string;
  readonly box: string;
  readonly swarm: (command: string, ...more: string[]) => Promise<Finished>;
}

async function place(): Promise<Place> {
  const dir = tempDir();
  const [repo, box] = [join(dir, 'repo'), join(dir, 'box')];
  await (await openRepo(repo, { create: true })).close();
  const swarm: Place['swarm'] = (command, ...more) =>
    run(process.execPath, [swarmBin, command, ...more, '--repo', repo]);
  return { repo, box, swarm };
}

const json = ({ stdout }: Finished): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;

const patience = { timeout: 120_000, interval: 50 };

test('a run that is killed is seen, resumed and finished by commands', { timeout: 240_000 }, async () => {
  const { repo, box, swarm } = await place();
  let isOpen = false;
  answerer(box, (asked) => (asked.role === 'worker' && !isOpen ? undefined : plainWork(asked)));
  const first = start(process.execPath, [moundBin, 'swarm', 'run', 'the goal', '--repo', repo, '--mailbox', box]);
  const asksWorker = (): boolean =>
    existsSync(join(box, 'requests')) && readdirSync(join(box, 'requests')).some((name) => name.startsWith('worker'));
  await vi.waitFor(() => expect(asksWorker()).toBe(true), { timeout: 120_000, interval: 20 });

  const running = json(await swarm('status', '--json'));
  expect(running).toMatchObject({ state: 'running', goal: 'the goal', tasks: { claimed: 1 } });
  const name = running['run'] as string;
  const twice = await swarm('resume', name, '--mailbox', box);
  expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('is running it; stop that first') });
  process.kill(running['pid'] as number, 'SIGKILL');
  await first.finished;

  const cut = await swarm('status');
  expect(cut.stdout).toMatch(/: cut off; the goal\n[^]*mound swarm resume/);
  expect(await swarm('pause')).toMatchObject({ code: 2, stderr: expect.stringContaining('no process runs') });
  expect(await swarm('tell', 'none', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no task 'none'"),
  });
  const changed = await swarm('resume', name, '--mailbox', box, '--agents', '3', '--depth', '1');
  expect(changed).toMatchObject({ code: 2, stderr: expect.stringContaining('(agentsMax, limits.depthMax)') });
  expect(changed.stderr).toContain('--accept-changes');
  isOpen = true;
  const resumed = await swarm('resume', name, '--mailbox', box, '--agents', '3', '--accept-changes', '--json');
  expect([resumed.code, resumed.stderr]).toEqual([0, '']);
  expect(json(resumed)).toMatchObject({ run: name, reason: 'finished', outcomes: { landed: 1 } });
  const after = await openRepo(repo);
  expect(after.snapshot().readText('a.txt')).toBe('done\n');
  await after.close();

  expect(json(await swarm('status', '--json'))).toMatchObject({ state: 'ended', reason: 'finished', processes: 2 });
  const byTask = await swarm('costs', '--by', 'task', '--json');
  expect(json(byTask)).toMatchObject({ sums: { one: {}, root: {} } });
  expect((await swarm('costs', name, '--by', 'model')).stdout).toMatch(/^mailbox: unknown; \d+ requests, ~?\d+ tokens/);
  const agent = Object.keys(json(await swarm('costs', '--by', 'agent', '--json'))['sums'] as object).find((one) =>
    one.startsWith('worker'),
  );
  const trace = await swarm('trace', agent ?? '');
  expect(trace.stdout).toMatch(/-> commit .*\n/);
  const lines = (await swarm('trace', 'one', '--jsonl')).stdout.trim().split('\n');
  const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
  expect([kinds[0], kinds.at(-1), kinds.filter((kind) => kind === 'start').length]).toEqual(['start', 'end', 2]);
  const again = await swarm('resume', '--mailbox', box);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('it has finished') });
});

test('a run ends at its budget with 53, and goes on with more', { timeout: 240_000 }, async () => {
  const { box, swarm } = await place();
  answerer(box, plainWork);
  const first = await swarm('run', 'g', '--mailbox', box, '--tokens', '9000', '--json');
  expect([first.code, json(first)['reason']]).toEqual([53, 'budget']);
  expect(first.stderr).toMatch(/^mound-swarm: the run stopped at its budget .*resume r[0-9a-f]+'.*\n$/);
  expect(json(await swarm('status', '--json'))).toMatchObject({ state: 'stopped', budget: { cap: { tokens: 9000 } } });
  const more = await swarm('resume', '--mailbox', box, '--tokens', '1000000', '--json');
  expect([more.code, json(more)['reason']]).toEqual([0, 'finished']);
  const late = await swarm('run', 'g', '--mailbox', box, '--minutes', '0');
  expect(late).toMatchObject({ code: 53, stderr: expect.stringContaining('at its time limit') });
});

test('a run is paused, answered, stopped and interrupted from outside', { timeout: 240_000 }, async () => {
  const { repo, box, swarm } = await place();
  answerer(box, ({ role, turn }) => {
    if (role === 'planner' && turn === 0) return { calls: [call('ask', { question: 'red or blue?' })] };
    return undefined;
  });
  const args = ['--repo', repo, '--mailbox', box];
  const first = start(process.execPath, [moundBin, 'swarm', 'run', 'g', ...args]);
  const question = await vi.waitFor(async () => {
    const status = json(await swarm('status', '--json'));
    const [asked] = status['questions'] as { id: string }[];
    if (asked === undefined) throw new Error('no question yet');
    return asked.id;
  }, patience);
  expect(await swarm('answer', 'nope', 'blue')).toMatchObject({ code: 2, stderr: expect.stringContaining(question) });
  expect(await swarm('answer', question, 'blue')).toMatchObject({ code: 0 });
  expect(await swarm('pause')).toMatchObject({ code: 0, stderr: '' });
  const shown = async (): Promise<string> => (await swarm('status')).stdout;
  await vi.waitFor(async () => expect(await shown()).toMatch(/^run \w+: paused; g\n[^]*mound swarm unpause/), patience);
  expect(await swarm('unpause')).toMatchObject({ code: 0, stderr: '' });
  expect(await swarm('goal', 'another goal')).toMatchObject({ code: 0, stderr: '' });
  await vi.waitFor(async () => expect(await shown()).toMatch(/^run \w+: running; another goal\n/), patience);
  expect(await swarm('stop', '--how', 'now')).toMatchObject({ code: 0 });
  expect(await first.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('mound swarm resume') });

  const pid = async (): Promise<number> => {
    const status = json(await swarm('status', '--json'));
    if (typeof status['pid'] !== 'number') throw new Error('not running');
    return status['pid'];
  };
  const second = start(process.execPath, [moundBin, 'swarm', 'resume', ...args]);
  const child = await vi.waitFor(pid, patience);
  // Its model is asked and does not answer: once asks for the end of the turn, twice does not wait for it.
  process.kill(child, 'SIGINT');
  const interrupt = setInterval(() => {
    try {
      process.kill(child, 'SIGINT');
    } catch {
      clearInterval(interrupt);
    }
  }, 300);
  const ended = await second.finished;
  clearInterval(interrupt);
  expect(ended.code).toBe(130);
  expect(json(await swarm('status', '--json'))).toMatchObject({ state: 'stopped', reason: 'aborted' });
});
