import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRepo } from '@mound/vcs';
import {
  call,
  delta,
  faultServer,
  says as saying,
  status,
  streamOf,
  type Answer,
} from '../model/fault-server.test.kit.ts';
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
    expect(out.join('\n')).toMatch(/8 of 8 tasks ended[^]*'mound swarm trace planner-1 --repo .*' shows/);
    const repo = await openRepo(dir);
    const snapshot = repo.snapshot();
    expect(snapshot.readText('src/index.js')?.match(/^export/gm)).toHaveLength(5);
    expect(snapshot.readText('src/config.js')).toContain('retries: 5');
    expect(repo.conflicts()).toEqual([]);
    await repo.close();
    expect(await main(['demo', '--repo', dir])).toBe(2);
    expect(err).toEqual([expect.stringContaining('empty repository')]);
    err = [];
    expect(await main(['resume', '--repo', dir])).toBe(2);
    expect(err).toEqual([expect.stringMatching(/cannot be resumed: it has finished; 'mound swarm run'/)]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test('run without an endpoint says in one line what to do', async () => {
  vi.stubEnv('MOUND_BASE_URL', '');
  expect(await main(['run', 'a goal'])).toBe(2);
  expect(err).toEqual([
    expect.stringMatching(/--base-url and --model.*--command.*--mailbox.*swarm\.config.*doctor.*demo/),
  ]);
  expect(err[0]).not.toContain('\n');
  expect(out).toEqual([]);
});

test('a wrong command line is one clear line and exit code 2', async () => {
  for (const [argv, says] of [
    [['demo', '--nope'], "unknown option '--nope'"],
    [['nope'], "unknown command 'nope'"],
    [['run'], 'give a goal, or --goal-file FILE'],
    [['run', 'g', '--goal-file', 'f'], 'give a goal, or --goal-file FILE'],
    [['run', '--goal-file', '/no/such'], '/no/such'],
    [['run', 'g', '--base-url', 'nonsense', '--model', 'm'], 'endpoints.endpoint.baseURL'],
    [['run', 'g', '--config', '/no/such'], '/no/such'],
    [['run', 'g', '--model', 'm'], 'give its --base-url'],
    [['run', 'g', '--command', ' '], 'the command is empty'],
    [['run', 'g', '--topology', 'ring'], 'tree, solo, peers, pipeline'],
    [['run', 'g', '--command', 'true', '--topology', 'pipeline'], 'topology.stages'],
    [['run', 'g', '--agents', 'x'], 'not a count'],
    [[], 'no command given'],
    [['prompts', 'boss'], "there is no role 'boss'; there are planner"],
    [['run', 'g', '--usd', 'much'], 'not a number from 0'],
    [['resume', '--fan-out', '0'], 'not a count from 1'],
    [['costs', '--by', 'day'], 'role, task, agent, model'],
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

test('commands about runs say what is not there; prompts are shown with version and hash', async () => {
  await withRepo(async (dir) => {
    for (const argv of [['status'], ['costs', 'r1'], ['trace', 'a'], ['pause'], ['answer', 'q', 'yes']]) {
      err = [];
      expect(await main([...argv, '--repo', dir])).toBe(2);
      expect(err).toEqual([expect.stringContaining('this repository has no run')]);
    }
    expect(await main(['demo', '--repo', dir])).toBe(0);
    for (const [argv, says] of [
      [['status', 'r1'], "there is no run 'r1'; the newest are r"],
      [['trace', 'nobody'], "no agent or task 'nobody'"],
      [['stop'], 'has finished'],
    ] as const) {
      err = [];
      expect(await main([...argv, '--repo', dir])).toBe(2);
      expect(err).toEqual([expect.stringContaining(says)]);
    }
    out = [];
    expect(await main(['costs', '--by', 'agent', '--repo', dir])).toBe(0);
    expect(out).toContainEqual(expect.stringMatching(/^worker\S*: .*\d+ requests, ~\d+ tokens in/));
  });
  out = [];
  expect(await main(['prompts'])).toBe(0);
  expect(out[0]).toMatch(/^planner {2}version \d+ {2}[0-9a-f]{64}$/);
  expect(await main(['prompts', 'worker'])).toBe(0);
  expect(out.at(-1)?.split('\n').length).toBeGreaterThan(5);
});

/** A repository in a directory of its own. */
async function withRepo(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'mound-cli-'));
  try {
    await (await openRepo(dir, { create: true })).close();
    await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface Report {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly check: string;
    readonly state: string;
    readonly says: string;
    readonly next?: string;
  }[];
}

async function doctor(repo: string, answer: Answer, code: number, ...more: string[]): Promise<Report> {
  const { url } = await faultServer(answer);
  expect(await main(['doctor', '--repo', repo, '--base-url', url, '--model', 'gpt-4o-mini', '--json', ...more])).toBe(
    code,
  );
  return JSON.parse(out.pop() ?? '') as Report;
}

const probed = streamOf(
  call({ index: 0, id: 'a', function: { name: 'probe', arguments: '{"word":"mound"}' } }),
  delta({}, 'tool_calls'),
  { choices: [], usage: { prompt_tokens: 20, completion_tokens: 5 } },
  '[DONE]',
);

test('doctor says what is well, what is not, and what to do', async () => {
  vi.stubEnv('MOUND_TEST_KEY', 'k');
  await withRepo(async (dir) => {
    const stateOf = ({ checks }: Report): Record<string, string> =>
      Object.fromEntries(checks.map(({ check, state }) => [check, state]));
    const well = await doctor(dir, probed, 0, '--api-key-env', 'MOUND_TEST_KEY');
    expect(stateOf(well)).toEqual({
      [dir]: 'ok',
      commands: expect.stringMatching(/ok|warn/) as string,
      key: 'ok',
      reachable: 'ok',
      streams: 'ok',
      tools: 'ok',
      usage: 'ok',
      price: 'warn',
    });
    for (const [answer, check, next] of [
      [saying('I cannot'), 'tools', /choose a model that calls tools/],
      [saying('<tool_call>{"name":"probe","arguments":{}}</tool_call>'), 'tools', /salvageCalls/],
      [status(200, '<h1>Login</h1>'), 'streams', /\/v1/],
      [status(404, { error: { message: 'no such model' } }), 'streams', /model's name/],
      [status(402, { error: { message: 'pay' } }), 'streams', /no money/],
      [status(500), 'streams', /its log/],
    ] as const) {
      const report = await doctor(dir, answer, 1);
      expect(report.checks.find(({ state }) => state === 'fail')).toMatchObject({
        check,
        next: expect.stringMatching(next),
      });
      expect(report.checks.every(({ state, next: todo }) => state === 'ok' || (todo ?? '') !== '')).toBe(true);
    }
    expect(stateOf(await doctor(dir, probed, 1, '--api-key-env', 'MOUND_NO_KEY'))).toMatchObject({ key: 'fail' });
    expect(stateOf(await doctor(join(dir, 'none'), probed, 1))).toMatchObject({ [join(dir, 'none')]: 'fail' });
  });
});

test('without a model the doctor looks at the rest, and says what to give; a resume says what the run was made with', async () => {
  await withRepo(async (dir) => {
    expect(await main(['doctor', '--repo', dir])).toBe(1);
    expect(out[0]).toContain('ok    repository');
    expect(out.at(-1)).toMatch(/^fail {2}roles, minds: no model; give --base-url and --model/);
    expect(await main(['run', 'g', '--repo', dir, '--command', 'exit 3'])).toBe(1);
    err = [];
    expect(await main(['resume', '--repo', dir])).toBe(2);
    expect(err).toEqual([
      expect.stringMatching(/^mound-swarm: no model: .*was made with planner command, worker command/),
    ]);
  });
});

test('doctor looks at commands, mailboxes and cassettes', async () => {
  await withRepo(async (dir) => {
    const file = join(dir, 'swarm.json');
    const models = {
      good: { kind: 'command', command: ['sh'], env: ['MOUND_UNSET'] },
      bad: { kind: 'command', command: ['no-such-command'] },
      box: { kind: 'mailbox', dir: 'box' },
      tape: { kind: 'replay', file: 'tape.jsonl' },
    };
    await writeFile(file, JSON.stringify({ models, roles: { planner: 'box', worker: 'good' } }));
    expect(await main(['doctor', '--repo', dir, '--config', file])).toBe(1);
    expect(out.map((line) => line.replace(dir, 'DIR'))).toEqual([
      expect.stringContaining('ok    repository'),
      expect.stringMatching(/^ok {4}model good, command: .*sh$/),
      'warn  model good, environment: MOUND_UNSET is not set; export MOUND_UNSET=…',
      'fail  model bad, command: no-such-command is not found; install it, or give its whole path',
      expect.stringMatching(/^ok {4}model box, directory: DIR\/box/),
      expect.stringMatching(/^fail {2}model tape, cassette: .*--record FILE'$/),
      expect.stringMatching(/^(ok {4}|warn {2})workers, commands: /),
      expect.stringMatching(/^warn {2}roles, merger: no merger: conflicts stay open; /),
    ]);
  });
});

test('a configuration serves each role by its own mind, and what is wrong with one is said with its field', async () => {
  await withRepo(async (dir) => {
    const { url } = await faultServer(
      streamOf(
        call({
          index: 0,
          id: 'a',
          function: { name: 'delegate', arguments: '{"tasks":[{"id":"a","title":"A","unchecked":"text"}]}' },
        }),
        call({ index: 1, id: 'b', function: { name: 'wait', arguments: '' } }),
        delta({}, 'tool_calls'),
        { choices: [], usage: { prompt_tokens: 1000, completion_tokens: 100 } },
        '[DONE]',
      ),
      streamOf(
        call({ index: 0, id: 'a', function: { name: 'finish', arguments: '{"status":"done"}' } }),
        { choices: [], usage: { prompt_tokens: 1000, completion_tokens: 100 } },
        '[DONE]',
      ),
    );
    const config = {
      endpoints: { local: { baseURL: url } },
      models: {
        big: {
          kind: 'endpoint',
          endpoint: 'local',
          model: 'big',
          contextTokens: 32_000,
          quirks: { reasoning: 'echo' },
        },
        script: { kind: 'command', command: ['sh', '-c', 'echo hi > hi.txt'] },
      },
      roles: { planner: 'big', worker: 'script' },
      prices: [{ model: 'big', input: 1, output: 10, from: '2020-01-01' }],
      record: 'tape.jsonl',
    };
    const file = join(dir, 'swarm.json');
    await writeFile(file, JSON.stringify(config));
    expect(await main(['run', 'g', '--repo', dir, '--config', file, '--json'])).toBe(0);
    const result = JSON.parse(out.pop() ?? '') as { cost: { byRole: Record<string, object> } };
    expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 1 } });
    expect(result.cost.byRole).toMatchObject({
      planner: { nanoUsd: 4_000_000, unknownRequests: 0 },
      worker: { unknownRequests: 1 },
    });
    expect(readFileSync(join(dir, 'tape.jsonl'), 'utf8')).toContain('"name":"delegate"');

    for (const [change, wrong] of [
      [{ rolls: {} }, /rolls: unknown key; the nearest is 'roles'/],
      [{ roles: { planner: 'none', worker: 'big' } }, /roles\.planner: there is no model 'none'/],
      [{ endpoints: {} }, /models\.big\.endpoint/],
      [{ models: { ...config.models, big: { ...config.models.big, fallbacks: ['big'] } } }, /fallbacks/],
      [
        { models: { ...config.models, big: { ...config.models.big, qirks: 1 } } },
        /models\.big\.qirks: unknown key; the nearest is 'quirks'/,
      ],
      [{ prices: [{ model: 'm', input: -1, output: 1 }] }, /prices\.0\.input/],
    ] as const) {
      err = [];
      await writeFile(file, JSON.stringify({ ...config, ...change }));
      expect(await main(['run', 'g', '--repo', dir, '--config', file])).toBe(2);
      expect(err).toEqual([expect.stringMatching(wrong)]);
    }
  });
});

test('a recorded run is replayed from the command line, without its endpoint', async () => {
  const plan = `case "$MOUND_ROLE $(cat)" in planner*"wait answered"*) echo '{"calls":[{"name":"finish","arguments":{"status":"done"}}]}' > "$MOUND_STEP";; planner*) echo '{"calls":[{"name":"delegate","arguments":{"tasks":[{"id":"a","title":"A","unchecked":"text"}]}},{"name":"wait"}]}' > "$MOUND_STEP";; *) echo hi > hi.txt;; esac`;
  await withRepo(async (first) => {
    const tape = join(first, 'tape');
    expect(await main(['run', 'g', '--repo', first, '--command', plan, '--record', tape])).toBe(0);
    await withRepo(async (second) => {
      expect(await main(['run', 'g', '--repo', second, '--replay', tape, '--jsonl'])).toBe(0);
      const lines = out
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { kind?: string; reason?: string });
      expect(lines[0]).toMatchObject({ kind: 'run.started' });
      expect(lines.at(-1)).toMatchObject({ reason: 'finished', outcomes: { landed: 1 } });
    });
  });
});
