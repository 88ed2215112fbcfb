import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRepo, type Repo } from '@mound/vcs';
import { readRun, runSwarm, sendControl, type SwarmOptions, type SwarmResult } from '@mound/swarm';
import { expect, test, vi } from 'vitest';
import { modelsOf } from './kit/swarm/hand-module.js';
import { projectDir, start } from './kit/process.ts';
import { agent, tempDir, tempRepo } from './kit/temp.ts';

const module = join(projectDir, 'test/kit/swarm/hand-module.js');

interface Options {
  readonly gate?: string;
  readonly dir?: string;
  readonly tokens?: number;
  readonly fails?: boolean;
}

const run = (repo: Repo, count: number, options: Options, more: Partial<SwarmOptions> = {}): Promise<SwarmResult> =>
  runSwarm({
    repo,
    goal: 'g',
    runId: 'r1',
    models: modelsOf(options),
    agentsMax: count,
    tasks: Array.from({ length: count }, (_, at) => ({ id: `t${at}` as never, title: 't', scope: [], brief: '' })),
    processes: { count: 3, module, options: { ...options } },
    ...more,
  });

const pidsIn = (repo: Repo): string[] =>
  repo
    .snapshot()
    .list()
    .map(({ path }) => repo.snapshot().readText(path) ?? '');
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A zombie has ended, and waits for its parent.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};
/** Tasks whose workers wait at the gate, and their processes. */
const waiting = (dir: string): Map<string, number> =>
  new Map(
    readdirSync(dir).flatMap((name) => {
      const pid = name.startsWith('at-') ? Number(readFileSync(join(dir, name), 'utf8')) : 0;
      return pid > 0 ? [[name, pid] as const] : [];
    }),
  );

test('agents of one run work in several processes, and all is counted in the first', async () => {
  const repo = await tempRepo();
  const kinds: string[] = [];
  const result = await run(repo, 9, {}, { onEvent: ({ kind }) => kinds.push(kind) });
  expect(result).toMatchObject({
    reason: 'finished',
    outcomes: { landed: 9 },
    landings: { count: 9 },
    tasks: { created: 9, ended: 9, reopened: 0 },
    roles: { worker: { agents: 9, turns: 27 } },
    cost: { total: { requests: 27, usage: { inputTokens: 270, outputTokens: 270 } } },
  });
  const pids = pidsIn(repo);
  expect(new Set(pids).size).toBe(3);
  expect(pids).toContain(`${process.pid}\n`);
  expect(kinds.filter((kind) => kind === 'task.claimed')).toHaveLength(9);
  const view = readRun(repo, 'r1' as never);
  expect(view?.agents).toHaveLength(9);
  expect(view?.tasks.every(({ task, record }) => task.id === 'root' || record.state === 'done')).toBe(true);
  for (const pid of new Set(pids.map(Number))) expect(pid === process.pid || !isAlive(pid)).toBe(true);
});

test('one budget holds for all processes: it is never overdrawn', async () => {
  const repo = await tempRepo();
  // A request may take some 9,000 tokens, and takes them: two are all that can be held.
  const result = await run(
    repo,
    12,
    { tokens: 4000 },
    { budget: { tokens: 20_000 }, limits: { outputTokensMax: 8192 } },
  );
  const root = readRun(repo, 'r1' as never)?.budgets.get('root' as never);
  expect(result.reason).toBe('budget');
  expect(root?.spent.tokens).toBe(result.cost.total.usage.inputTokens + result.cost.total.usage.outputTokens);
  expect(root?.spent.tokens).toBeLessThanOrEqual(60_000);
});

test('where a process is killed its tasks go on in others, its edits are kept and its costs are counted', async () => {
  const [repo, dir] = [await tempRepo(), tempDir()];
  const gate = join(dir, 'gate');
  const running = run(repo, 6, { gate, dir });
  await vi.waitFor(() => expect(waiting(dir).size).toBe(6), 60_000);
  const others = [...waiting(dir)].filter(([, pid]) => pid !== process.pid);
  const victim = others[0]?.[1] ?? 0;
  const lost = others.filter(([, pid]) => pid === victim).length;
  process.kill(victim, 'SIGKILL');
  await vi.waitFor(() => expect([...waiting(dir)].filter(([name]) => name.endsWith('-2'))).toHaveLength(lost), 60_000);
  writeFileSync(gate, '');
  const result = await running;
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 6 }, tasks: { ended: 6, reopened: lost } });
  // What they had edited before stands: nobody wrote it again.
  expect(pidsIn(repo).filter((pid) => Number(pid) === victim)).toHaveLength(lost);
  const reasons = readRun(repo, 'r1' as never)?.agents.map(({ reason }) => reason);
  expect(reasons?.filter((reason) => reason === 'lost')).toHaveLength(lost);
  expect(reasons?.filter((reason) => reason === 'finished')).toHaveLength(6);
});

test('pause, words to an agent and stop reach the agents of all processes', async () => {
  const [repo, dir] = [await tempRepo(), tempDir()];
  const gate = join(dir, 'gate');
  const running = run(repo, 3, { gate, dir });
  await vi.waitFor(() => expect(waiting(dir).size).toBe(3), 60_000);
  for (const task of ['t0', 't1', 't2'])
    await sendControl(repo, 'r1' as never, { kind: 'task', task, text: `hear ${task}` }, agent('me'));
  await sendControl(repo, 'r1' as never, { kind: 'pause', reason: 'test' }, agent('me'));
  await vi.waitFor(() => expect(repo.snapshot().records('swarm/r1/control/').length).toBeLessThanOrEqual(3), 60_000);
  writeFileSync(gate, '');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(repo.snapshot().list()).toEqual([]);
  await sendControl(repo, 'r1' as never, { kind: 'unpause' }, agent('me'));
  expect(await running).toMatchObject({ reason: 'finished' });
  const findings = readRun(repo, 'r1' as never)?.agents.map(({ task, report }) => [task, report?.handoff.findings[0]]);
  for (const [task, said] of findings ?? []) expect(said).toContain(`hear ${task}`);
  expect(repo.snapshot().records('swarm/r1/control/')).toEqual([]);
});

test('where the first process is killed the others end by themselves, and a resume finishes', async () => {
  const dir = tempDir();
  const [gate, place] = [join(dir, 'gate'), join(dir, 'repo')];
  await (await openRepo(place, { create: true })).close();
  const script = join(projectDir, 'test/kit/swarm/many-processes.js');
  const given = { repo: place, count: 4, processes: 2, options: { gate, dir } };
  const first = start(process.execPath, [script, JSON.stringify(given)]);
  await vi.waitFor(() => expect(waiting(dir).size).toBe(4), 60_000);
  const pids = new Set(waiting(dir).values());
  expect(pids.size).toBe(2);
  first.child.kill('SIGKILL');
  await first.finished;
  await vi.waitFor(() => expect([...pids].filter(isAlive)).toEqual([]), 60_000);
  expect(existsSync(gate)).toBe(false);
  writeFileSync(gate, '');
  const second = await start(process.execPath, [script, JSON.stringify({ ...given, resume: true })]).finished;
  expect([second.stderr, JSON.parse(second.stdout)]).toMatchObject([
    '',
    { reason: 'finished', outcomes: { landed: 4 } },
  ]);
});

test('a module that cannot make models is said before anything is recorded', async () => {
  const repo = await tempRepo();
  await expect(run(repo, 1, { fails: true })).rejects.toThrow('no minds here');
  expect(readRun(repo, 'r1' as never)).toBeUndefined();
  await expect(run(repo, 1, {}, { content: () => new Uint8Array() })).rejects.toThrow('functions of one process');
});
