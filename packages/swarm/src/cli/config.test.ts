import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { absent, openRepo, type Repo } from '@mound/vcs';
import { main } from './main.ts';

let out: string[];
let err: string[];
let dir: string;
beforeEach(async () => {
  out = [];
  err = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  vi.spyOn(console, 'error').mockImplementation((text: string) => void err.push(text));
  dir = await mkdtemp(join(tmpdir(), 'mound-config-'));
  const repo = await openRepo(dir, { create: true });
  await repo.put('a.txt', 'one\n', { author: { name: 'Ada', kind: 'human' }, expect: absent });
  await repo.close();
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true, force: true });
});

const config = (value: object): Promise<void> => writeFile(join(dir, 'swarm.config.json'), JSON.stringify(value));
const run = async (...more: string[]): Promise<Record<string, unknown>> => {
  expect([await main(['run', 'the goal', '--repo', dir, '--json', ...more]), err]).toEqual([0, []]);
  return JSON.parse(out.pop() ?? '') as Record<string, unknown>;
};
async function inRepo<T>(use: (repo: Repo) => T): Promise<T> {
  const repo = await openRepo(dir);
  try {
    return use(repo);
  } finally {
    await repo.close();
  }
}
const text = (path: string): Promise<string | undefined> => inRepo((repo) => repo.snapshot().readText(path));

/** A module of scripts, in TypeScript. */
const scripts = (body: string): Promise<void> =>
  writeFile(
    join(dir, 'scripts.ts'),
    `const call = (name: string, input: object) => ({ name, arguments: input });\nexport default { ${body} };\n`,
  );
const scripted = {
  models: { script: { kind: 'scripted', module: 'scripts.ts' } },
  roles: { planner: 'script', worker: 'script' },
};

test('flags before the environment before the file before defaults', async () => {
  const shell = (command: string): object => ({ kind: 'command', command: ['sh', '-c', command] });
  await config({
    models: { sh: shell('true') },
    roles: { planner: 'sh', worker: 'sh' },
    bounds: { agents: 2, tasks: 5 },
    budget: { usd: 7 },
  });
  vi.stubEnv('MOUND_AGENTS', '3');
  vi.stubEnv('MOUND_USD', '8');
  expect(await main(['run', '--repo', dir, '--print-config', '--usd', '9'])).toBe(0);
  expect(JSON.parse(out.join(''))).toMatchObject({
    bounds: { agents: 3, tasks: 5, planners: 16 },
    budget: { usd: 9, tokens: 'unlimited' },
    roles: { planner: 'sh', worker: 'sh' },
  });
  out = [];
  // A flag serves the role that it is for; the others stay with the file's.
  expect(await main(['run', '--repo', dir, '--print-config', '--command', 'echo hi', '--mailbox', 'box'])).toBe(0);
  expect(JSON.parse(out.join(''))).toMatchObject({ roles: { planner: 'sh', worker: 'command', merger: 'mailbox' } });
});

test('what is wrong in the file is said with its name, and nothing is run', async () => {
  await config({ buget: { usd: 7 } });
  expect(await main(['run', 'g', '--repo', dir, '--command', 'true'])).toBe(2);
  expect(err).toEqual([expect.stringMatching(/swarm\.config\.json: buget: unknown key; the nearest is 'budget'$/)]);
});

test('one worker alone runs commands on its own edits, and is done where the check passes', async () => {
  await scripts(`worker: [
    { calls: [call('read', { path: 'a.txt' }), call('edit', { path: 'a.txt', version: 1, edits: [{ search: 'one', replace: 'two' }] })] },
    { calls: [call('run', { command: 'cat a.txt; echo key=$MOUND_SECRET_KEY name=$MOUND_NAME; echo made > made.txt', keep: ['made.txt'] })] },
    { calls: [call('finish', { status: 'done' })] },
  ]`);
  await config({
    ...scripted,
    roles: { worker: 'script' },
    topology: { kind: 'solo' },
    check: 'grep -q two a.txt && test -f made.txt',
    score: 'wc -l < a.txt; ls | wc -l',
    commands: { mode: 'open', env: ['MOUND_NAME'] },
  });
  vi.stubEnv('MOUND_SECRET_KEY', 'k');
  vi.stubEnv('MOUND_NAME', 'n');
  const result = await run();
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 1 }, tasks: { created: 1, ended: 1 } });
  expect(result).toMatchObject({ scoreBefore: 1, score: 2 });
  expect([await text('a.txt'), await text('made.txt')]).toEqual(['two\n', 'made\n']);
  expect(await main(['trace', 'solo', '--repo', dir, '--jsonl'])).toBe(0);
  expect(out.join('\n')).toContain('key= name=n');
});

test('a check that does not pass is not done; without commands it is refused before anything runs', async () => {
  await scripts(`worker: ({ turn }) => ({ calls: turn === 0
    ? [call('write', { path: 'b.txt', content: 'x' }), call('finish', { status: 'done' })]
    : [call('finish', { status: 'partial' })] })`);
  await config({ ...scripted, topology: { kind: 'solo' }, check: 'false', commands: { mode: 'open' } });
  expect(await main(['run', 'the goal', '--repo', dir, '--json'])).toBe(1);
  expect(JSON.parse(out.pop() ?? '')).toMatchObject({
    reason: 'finished',
    status: 'partial',
    outcomes: { landed: 0 },
    roles: { worker: { turns: 2 } },
  });
  expect(err).toEqual([expect.stringContaining('its goal is not reached (partial)')]);
  expect(await text('b.txt')).toBeUndefined();
});

test('stages of a pipeline go one after the other, each shown what came before', async () => {
  await scripts(`worker: ({ brief }) => ({ calls: [
    call('commit', { changes: [{ path: brief.task.id + '.txt', content: (brief.before ?? []).map((b) => b.task + ':' + b.handoff.findings).join(' ') }], message: 'm' }),
    call('finish', { status: 'done', findings: ['seen by ' + brief.task.id] }),
  ] })`);
  const stages = [
    { id: 'one', brief: 'first', scope: ['one.txt'] },
    { id: 'two', brief: 'second', scope: ['two.txt'] },
    { id: 'three', brief: 'third', scope: ['three.txt'] },
  ];
  await config({ ...scripted, topology: { kind: 'pipeline', stages } });
  expect(await run('--worker-commands', 'off')).toMatchObject({ reason: 'finished', outcomes: { landed: 3 } });
  expect(await text('three.txt')).toBe('one:seen by one two:seen by two');
});

test('peers claim what they do; each piece is done once', async () => {
  await scripts(`peer: async ({ brief, turn, results }) => {
    const pieces = ['a', 'b', 'c', 'd'];
    const won = results.findIndex(({ name, value }) => name === 'claim' && value.ok);
    if (turn === 0 || won < 0 && turn < pieces.length) return { calls: [call('claim', { topic: pieces[turn] })] };
    if (won < 0) return { calls: [call('finish', { status: 'nothing-to-do' })] };
    return { calls: [
      call('commit', { changes: [{ path: pieces[turn - 1] + '.txt', content: brief.agent }], message: 'm', more: true }),
      call('claim', { topic: pieces[turn] ?? 'a' }),
    ] };
  }`);
  await config({
    models: scripted.models,
    roles: { peer: 'script' },
    topology: { kind: 'peers', count: 3 },
    commands: { mode: 'off' },
  });
  const result = await run();
  expect(result).toMatchObject({ reason: 'finished', tasks: { created: 3, ended: 3 }, outcomes: { conflicted: 0 } });
});

test('peers without a script have the worker’s; a run whose tasks are given up says so and exits with 1', async () => {
  await scripts("worker: () => ({ calls: [call('finish', { status: 'nothing-to-do' })] })");
  const peers = { topology: { kind: 'peers', count: 1 }, commands: { mode: 'off' } };
  await config({ ...scripted, ...peers });
  expect(await run()).toMatchObject({ tasks: { ended: 1, reopened: 0 } });
  await writeFile(join(dir, 'none.ts'), 'export default { planner: [] };\n');
  await config({ models: { script: { kind: 'scripted', module: 'none.ts' } }, roles: { peer: 'script' }, ...peers });
  expect(await main(['run', 'g', '--repo', dir])).toBe(1);
  expect(out.join('\n')).toContain('1 of 1 tasks ended (3 tries came to nothing)');
  expect(err).toContain('task peer-1 is given up after 3 tries');
  expect(err.at(-1)).toMatch(/its goal is not reached \(failed\): given up were peer-1; .*mound swarm status/);
  out = [];
  expect(await main(['status', '--repo', dir])).toBe(0);
  expect(out.join('\n')).toMatch(/^run r\w+: ended \(finished, goal failed\); g\ntasks: 1 failed\ngiven up: peer-1\n/);
});

test('a planner by command hands out a task with the check of the configuration, and a worker by command does it', async () => {
  const plan = `case "$(cat)" in *"wait answered"*) echo '{"calls":[{"name":"finish","arguments":{"status":"done"}}]}' > "$MOUND_STEP";; *) echo '{"calls":[{"name":"delegate","arguments":{"tasks":[{"id":"a","title":"A","scope":["hi.txt"]}]}},{"name":"wait"}]}' > "$MOUND_STEP";; esac`;
  await config({
    models: {
      plan: { kind: 'command', command: ['sh', '-c', plan] },
      work: { kind: 'command', command: ['sh', '-c', 'echo hi > hi.txt'] },
    },
    roles: { planner: 'plan', worker: 'work' },
    topology: { kind: 'tree', depth: 0, fanOut: 2 },
    check: 'test "$(cat hi.txt)" = hi',
    commands: { mode: 'open' },
  });
  expect(await run()).toMatchObject({ reason: 'finished', outcomes: { landed: 1 } });
  expect(await text('hi.txt')).toBe('hi\n');
  await inRepo((repo) => {
    const kept = repo
      .snapshot()
      .records('swarm/')
      .find(({ key }) => key.endsWith('handoff/a/1'));
    expect(JSON.parse(kept?.value.toString() ?? '{}')).toMatchObject({
      report: { handoff: { status: 'done', check: { code: 0 } } },
    });
  });
});

test('mechanisms are switched off: without a merger a conflict stays open, without breakage nothing leaves its scope', async () => {
  await scripts(`
    planner: ({ turn, brief }) => turn === 0
      ? { calls: [call('delegate', { tasks: ['x', 'y'].map((id) => ({ id, title: id, scope: ['a.txt'], base: brief.base, unchecked: 'text' })) }), call('wait', {})] }
      : { calls: [call('finish', { status: 'done' })] },
    merger: () => { throw new Error('asked'); },
    worker: ({ brief, turn }) => turn === 0
      ? { calls: [
          call('commit', { changes: [{ path: 'other.txt', content: 'x' }], message: 'm', breakage: 'I must' }),
          call('commit', { changes: [{ path: 'a.txt', content: brief.task.id }], message: 'm' }),
        ] }
      : { calls: [call('finish', { status: 'done' })] },
  `);
  await config({
    ...scripted,
    roles: { planner: 'script', worker: 'script', merger: 'script' },
    coordination: { merger: 'off', breakages: 'off' },
    commands: { mode: 'off' },
  });
  expect(await run()).toMatchObject({ reason: 'finished', outcomes: { conflicted: 1, resolved: 0 } });
  expect(await text('other.txt')).toBeUndefined();
});

test('a resume takes from the run what nobody says again, and refuses another topology by name', async () => {
  await scripts(`worker: ({ brief }) => brief.generation < 2
    ? { text: 'no' }
    : { calls: [call('commit', { changes: [{ path: 'b.txt', content: 'b' }], message: 'm' }), call('finish', { status: 'done' })] }`);
  await config({
    ...scripted,
    topology: { kind: 'solo' },
    bounds: { taskAttempts: 1, agents: 2 },
    commands: { mode: 'off' },
  });
  expect(await main(['run', 'g', '--repo', dir, '--minutes', '0', '--json'])).toBe(53);
  await config({ ...scripted });
  err = [];
  expect(await main(['resume', '--repo', dir, '--topology', 'peers', '--json'])).toBe(2);
  expect(err).toEqual([expect.stringMatching(/other settings \(more\.topology/)]);
  err = [];
  expect([await main(['resume', '--repo', dir, '--minutes', '1', '--json']), err]).toEqual([0, []]);
});

test('workers of several processes have minds of their own from the one configuration', async () => {
  await scripts(`peer: ({ brief }) => ({ calls: [
    call('commit', { changes: [{ path: brief.task.id, content: String(process.pid) }], message: 'm' }),
    call('finish', { status: 'done' }),
  ] })`);
  await config({ ...scripted, topology: { kind: 'peers', count: 4 }, commands: { mode: 'off' } });
  expect(await run('--processes', '2')).toMatchObject({ reason: 'finished', outcomes: { landed: 4 } });
  const pids = await Promise.all([1, 2, 3, 4].map((at) => text(`peer-${at}`)));
  expect(new Set(pids).size).toBe(2);
});

test('the command is the same from the shell', () => {
  const launcher = new URL('../../bin/mound-swarm.js', import.meta.url).pathname;
  const printed = execFileSync(process.execPath, [launcher, 'run', '--print-config', '--repo', dir, '--agents', '5'], {
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toMatchObject({ bounds: { agents: 5 } });
});
