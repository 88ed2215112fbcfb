import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRepo } from '@mound/vcs';
import {
  readRun,
  type GreenSettings,
  type RunView,
  type Script,
  type SwarmOptions,
  type WorkerBrief,
} from '@mound/swarm';
import { expect, test } from 'vitest';
import { call, finish, ofKind, repoWith, runScripts, write, type Ran } from './kit/swarm/coordination.ts';
import { mound, projectDir, start } from './kit/process.ts';
import { tempDir } from './kit/temp.ts';

/** What broke the build is found while others work, by a real command on real files. */

const fine = (id: string): string => `${id} is fine\n`;
const tasks = ['one', 'bad', 'two', 'three'];
/** One after another; `bad` says what it must not. */
const planner: Script = ({ turn }) => {
  const id = tasks[turn];
  return id === undefined
    ? { calls: [finish()] }
    : { calls: [call('delegate', { tasks: [{ id, title: id }] }), call('wait', {})] };
};
const worker: Script = ({ brief }) => {
  const { id } = (brief as WorkerBrief).task;
  if (id.startsWith('mend-')) return { calls: [write('src/bad', fine('bad')), finish()] };
  return { calls: [write(`src/${id}`, id === 'bad' ? 'broken\n' : fine(id)), finish()] };
};
/** Also notes where it ran. */
const command = (log: string): string => `pwd >> ${log}; ! grep -rq broken src`;
const green = (log: string, more: Partial<GreenSettings> = {}): GreenSettings => ({
  command: command(log),
  everyCommits: 1,
  everyMs: 60_000,
  policy: 'report',
  runs: 2,
  ...more,
});

interface Place {
  readonly log: string;
  readonly directory: string;
  readonly options: (settings: GreenSettings, more?: Partial<SwarmOptions>) => Partial<SwarmOptions>;
}

function place(): Place {
  const dir = tempDir();
  const [log, directory] = [join(dir, 'log'), join(dir, 'work')];
  const commands = { directory, environment: { PATH: process.env['PATH'] ?? '' } };
  const options: Place['options'] = (settings, more = {}) => ({ commands, policy: { green: settings }, ...more });
  return { log, directory, options };
}

const told = ({ events }: Ran): object[] =>
  ofKind(events, 'green.broken').map(({ seq, agent, role, task, action }) => ({ seq, agent, role, task, action }));

test('by policy what broke it is taken back; its agent, role and task are named, and the rate is told', async () => {
  const repo = await repoWith({ 'src/start': fine('start') });
  const { log, directory, options } = place();
  const ran = await runScripts(repo, { planner, worker }, options(green(log, { policy: 'revert' })));
  expect(ran.result.reason).toBe('finished');
  const list = repo.snapshot().list('src').map(({ path }) => path);
  expect(list).toEqual(['src/one', 'src/start', 'src/three', 'src/two']);
  expect(told(ran)).toMatchObject([{ agent: 'r1/worker-1', role: 'worker', task: 'r1/bad', action: 'reverted' }]);
  const seq = ofKind(ran.events, 'green.broken')[0]?.seq;
  const revert = [...repo.log()].find(({ message }) => message.startsWith(`Revert seq ${seq}`));
  expect(revert?.rationale).toContain(`'/bin/sh -c ${command(log)}' passes at seq`);
  expect(revert?.author.name).toBe('mound-swarm green');
  const head = repo.branch('main').seq;
  expect(ran.result.green).toMatchObject({ green: head, head, failed: 1, flaky: 0, culprits: [{ seq }] });
  const { passed = 0, passRate, overTime = [] } = ran.result.green ?? {};
  expect(passRate).toBe(passed / (passed + 1));
  expect(overTime.reduce((sum, { checks }) => sum + checks, 0)).toBe(passed + 1);
  // In directories of its own, of which nothing is left.
  for (const dir of readFileSync(log, 'utf8').trim().split('\n')) expect(dir).toContain(`${directory}/green/`);
  expect(existsSync(directory)).toBe(false);
  expect(repo.tags()).toMatchObject([{ name: 'green', seq: head }]);

  // The command line tells the same.
  const status = await mound(['swarm', 'status', 'r1', '--json', '--repo', repo.dir]);
  expect(JSON.parse(status.stdout)).toMatchObject({ green: { green: head, passRate, culprits: [{ action: 'reverted' }] } });
  const words = await mound(['swarm', 'status', 'r1', '--repo', repo.dir]);
  expect(words.stdout).toContain(`green is ${head}, the newest landing ${head}: ${passed} of ${passed + 1} checks passed`);
}); // prettier-ignore

test('with quarantine it stands whole on a branch; by report it stays, is told once, and is looked at in the end', async () => {
  const quarantined = await repoWith({ 'src/start': fine('start') });
  const first = place();
  const one = await runScripts(quarantined, { planner, worker }, first.options(green(first.log, { policy: 'quarantine' })));
  const seq = ofKind(one.events, 'green.broken')[0]?.seq;
  expect(quarantined.snapshot(undefined, `quarantine/${seq}`).readText('src/bad')).toBe('broken\n');
  expect(quarantined.snapshot().readText('src/bad')).toBeUndefined();

  const repo = await repoWith({ 'src/start': fine('start') });
  const { log, options } = place();
  // Never due while it goes on.
  const ran = await runScripts(repo, { planner, worker }, options(green(log, { everyCommits: 1000 })));
  expect(ofKind(ran.events, 'green.begun')).toHaveLength(2);
  expect(told(ran)).toMatchObject([{ task: 'r1/bad', action: 'told' }]);
  expect(ran.result.green).toMatchObject({ passed: 1, failed: 1 });
  expect(repo.snapshot().readText('src/bad')).toBe('broken\n');
}); // prettier-ignore

test('a task mends it, though the planner has finished; what fails now and then blames nobody', async () => {
  const repo = await repoWith({ 'src/start': fine('start') });
  const { log, options } = place();
  const ran = await runScripts(repo, { planner, worker }, options(green(log, { policy: 'task', everyCommits: 1000 })));
  const [broken] = ofKind(ran.events, 'green.broken');
  expect(broken).toMatchObject({ action: 'told', mendedBy: `mend-${broken?.seq}` });
  expect(repo.snapshot().readText('src/bad')).toBe(fine('bad'));
  expect(ran.result).toMatchObject({ reason: 'finished', green: { green: repo.branch('main').seq } });

  const shaky = await repoWith({ 'src/start': fine('start') });
  const other = place();
  const mark = tempDir();
  const now = `f=${mark}/$MOUND_CHECK_SEQ; [ -e $f ] || { touch $f; exit 1; }`;
  const policy = green(other.log, { command: now, policy: 'revert' });
  const again = await runScripts(shaky, { planner, worker }, other.options(policy));
  expect(told(again)).toEqual([]);
  expect(again.result.green).toMatchObject({ passed: 0, failed: 0, passRate: 1 });
  expect(again.result.green?.flaky).toBeGreaterThan(1);
  expect(ofKind(again.events, 'green.ended').at(-1)?.verdict).toBe('flaky');
});

test('switched off nothing is looked at; without commands it is refused', async () => {
  const repo = await repoWith({ 'src/start': fine('start') });
  const { log, options } = place();
  const policy = { green: green(log), coordination: { green: 'off' } as const };
  const ran = await runScripts(repo, { planner, worker }, options(green(log), { policy }));
  expect(ran.events.filter(({ kind }) => kind.startsWith('green.') || kind === 'trunk.landed')).toEqual([]);
  expect([ran.result.green, existsSync(log)]).toEqual([undefined, false]);
  await expect(runScripts(repo, { planner, worker }, { policy: { green: green(log) } })).rejects.toThrow(/policy\.green/);
}); // prettier-ignore

test('killed while it looks for what broke it, and resumed: one culprit, one task, no directory left', async () => {
  const dir = tempDir();
  const [repoDir, work, mark] = ['repo', 'work', 'mark'].map((name) => join(dir, name)) as [string, string, string];
  const seeded = await openRepo(repoDir, { create: true });
  await seeded.close();
  // The first look at what is broken does not end by itself.
  const hang = `grep -rq broken . || exit 0; [ -e ${mark} ] && exit 1; touch ${mark}; sleep 300`;
  const options = JSON.stringify({ dir: repoDir, place: work, command: hang });
  const runner = join(projectDir, 'test/kit/swarm/green-runner.js');
  const { child, finished } = start(process.execPath, [runner, options]);
  await new Promise<void>((resolve) => {
    const poll = setInterval(() => {
      if (!existsSync(mark)) return;
      clearInterval(poll);
      resolve();
    }, 10);
  });
  const left = readdirSync('/proc').filter((pid) => isHanging(pid));
  child.kill('SIGKILL');
  await finished;
  for (const pid of left) process.kill(Number(pid), 'SIGKILL');
  expect(readdirSync(join(work, 'green'))).toHaveLength(1);
  const end = await start(process.execPath, [runner, options]).finished;
  expect(end.stderr).toBe('');
  const lines = end.stdout.trim().split('\n');
  expect(lines.filter((line) => line.startsWith('green.broken'))).toHaveLength(1);
  const after = await openRepo(repoDir);
  try {
    const head = after.branch('main').seq;
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ reason: 'finished', green: { green: head, head } });
    expect(after.snapshot().readText('broken')).toBe('fine\n');
    const view = readRun(after, 'r1' as RunView['run']);
    expect(view?.tasks.filter(({ task }) => task.id.startsWith('mend-'))).toHaveLength(1);
    expect(existsSync(work)).toBe(false);
  } finally {
    await after.close();
  }

  function isHanging(pid: string): boolean {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark) && Number(pid) !== child.pid;
    } catch {
      return false;
    }
  }
}, 30_000);
