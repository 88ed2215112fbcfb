import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseConfig, type EffectiveConfig } from './config.ts';
import { layered } from './layers.ts';
import { findConfig, loadConfig } from './load.ts';
import { redacted } from './redact.ts';
import { lastNumber } from './score.ts';
import { recordedLayer, settingsOf } from './settings.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'mound-config-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const parse = (value: unknown): EffectiveConfig => parseConfig(value, '/base');

test('nothing given is a tree of planners that name checks, all mechanisms on, no bound of money', () => {
  expect(parse({})).toMatchObject({
    topology: { kind: 'tree', depth: 3 },
    bounds: { agents: 8 },
    budget: { usd: 'unlimited' },
    coordination: { 'split-brain': 'on', merger: 'on' },
    commands: { mode: 'auto' },
    checks: 'required',
  });
});

test.each([
  [{ buget: {} }, "buget: unknown key; the nearest is 'budget'"],
  [{ budget: { ud: 2, dollars: 1 } }, "budget.ud: unknown key; the nearest is 'usd'"],
  [{ bounds: { turns: { woker: 3 } } }, "bounds.turns.woker: unknown key; the nearest is 'worker'"],
  [{ coordination: { merge: 'off' } }, "coordination.merge: unknown key; the nearest is 'merger'"],
  [{ coordination: { merger: 'no' } }, 'coordination.merger: '],
  [{ topology: { kind: 'solo', depth: 1 } }, 'topology.depth: unknown key; the nearest is'],
  [{ topology: { kind: 'ring' } }, 'topology.kind: there is no such kind'],
  [{ topology: { kind: 'pipeline', stages: [{ id: 'a', breif: '' }] } }, 'topology.stages.0'],
  [{ models: { m: { kind: 'comand', command: ['x'] } } }, 'models.m.kind: there is no such kind'],
  [{ models: { m: { kind: 'command', comand: ['x'] } } }, 'models.m'],
  [{ roles: { planner: 'm' } }, "roles.planner: there is no model 'm'"],
  [{ budget: { usd: -1 } }, 'budget.usd'],
  [{ review: { lenses: [{ name: 'a', sees: 'output', model: 'm' }] } }, "review.lenses: there is no model 'm'"],
  [{ review: { lenses: [{ name: 'a', sees: 'all' }] } }, 'review.lenses.0.sees'],
  [{ green: { everyCommits: 5 } }, 'green.command'],
  [{ green: { command: 'make', policy: 'tell' } }, 'green.policy'],
  [{ green: { command: 'make', everyMs: 0 } }, 'green.everyMs'],
  [{ green: { command: 'make' }, commands: { mode: 'off' } }, "commands.mode is 'off'"],
  [{ commands: { caches: { share: ['pip'] } } }, 'commands.caches.share.0'],
  [{ commands: { caches: { own: { X: { from: 'here' } } } } }, 'commands.caches.own.X.from: an absolute path'],
  [{ commands: { caches: { own: { X: { seed: 'copies' } } } } }, 'commands.caches.own.X.seed'],
  [{ commands: { artefacts: ['a/../../b'] } }, 'commands.artefacts.0: a path within the tree'],
  [{ commands: { artefacts: ['/target'] } }, 'commands.artefacts.0'],
  ['text', 'the whole'],
])('%j is refused in one line that says where', (value, says) => {
  expect(() => parse(value)).toThrow(TypeError);
  expect(() => parse(value)).toThrow(says);
  try {
    parse(value);
  } catch (error) {
    expect((error as Error).message).not.toContain('\n');
  }
});

test('a later layer goes before an earlier one, key by key; a mind and another topology replace', () => {
  const file = {
    bounds: { agents: 2, tasks: 5 },
    models: { m: { kind: 'mailbox', dir: 'a', fallbacks: [] } },
    topology: { kind: 'pipeline', stages: [] },
    commands: { env: ['A', 'B'] },
  };
  const flags = {
    bounds: { agents: 4 },
    models: { m: { kind: 'replay', file: 'f' }, n: { kind: 'mailbox', dir: 'b' } },
    topology: { kind: 'solo' },
    commands: { env: ['C'] },
  };
  expect(layered([file, flags])).toEqual({
    bounds: { agents: 4, tasks: 5 },
    models: flags.models,
    topology: { kind: 'solo' },
    commands: { env: ['C'] },
  });
  expect(layered([{ topology: { kind: 'tree', fanOut: 2 } }, { topology: { depth: 1 } }])).toEqual({
    topology: { kind: 'tree', fanOut: 2, depth: 1 },
  });
});

test('a file may be TypeScript, a module or JSON; it finds defineConfig without an installation', async () => {
  const source = "import { defineConfig } from '@mound/swarm';\nexport default defineConfig({ bounds: { agents: 3";
  const ts = write('swarm.config.ts', `type N = number;\n${source} as N } });\n`);
  expect(findConfig([join(dir, 'none'), dir])).toBe(ts);
  expect(await loadConfig(ts)).toEqual({ bounds: { agents: 3 } });
  expect(await loadConfig(write('b.mjs', `${source} } });\n`))).toEqual({ bounds: { agents: 3 } });
  const json = write('swarm.config.json', '{"bounds":{"agents":3}}');
  expect(await loadConfig(json)).toEqual({ bounds: { agents: 3 } });
  expect(() => findConfig([dir])).toThrow(/swarm\.config\.ts and .*swarm\.config\.json/);
  await expect(loadConfig(write('c.json', '{'))).rejects.toThrow(/c\.json: /);
  await expect(loadConfig(write('d.ts', 'export default {{'))).rejects.toThrow(/d\.ts: /);
  await expect(loadConfig(join(dir, 'none.ts'))).rejects.toThrow(/none\.ts: /);
});

test('what is printed holds no secret, and all names', () => {
  const config = parse({
    endpoints: { e: { baseURL: 'https://me:pw123@host/v1?api-key=abc', apiKeyEnv: 'THE_KEY' } },
    models: {
      m: { kind: 'endpoint', endpoint: 'e', model: 'x', outputTokensMax: 9, parameters: { apiKey: 'sk-1', seed: 4 } },
      c: {
        kind: 'command',
        command: ['agent', '--token', 'tok', '--api-key=abc', '--see', 'secret-value'],
        env: ['A_TOKEN'],
      },
    },
  });
  const text = JSON.stringify(redacted(config, { THE_KEY: 'secret-value', PATH: '/bin' }));
  for (const secret of ['pw123', 'abc', 'sk-1', 'tok"', 'secret-value']) expect(text).not.toContain(secret);
  for (const plain of ['THE_KEY', 'A_TOKEN', '"outputTokensMax":9', '"seed":4', '"--see"'])
    expect(text).toContain(plain);
});

test('a topology is tasks and roles, and a resume finds what it was', () => {
  const settings = (topology: unknown): ReturnType<typeof settingsOf> => settingsOf(parse({ topology }), 'Do it\nwell');
  expect(settings({ kind: 'tree', depth: 1, fanOut: 4 })).toMatchObject({ limits: { depthMax: 1, fanOutMax: 4 } });
  expect(settings({ kind: 'tree' }).tasks).toBeUndefined();
  expect(settings({ kind: 'solo' }).tasks).toMatchObject([{ id: 'solo', title: 'Do it', brief: 'Do it\nwell' }]);
  expect(settings({ kind: 'peers', count: 2 }).tasks).toMatchObject([{ role: 'peer' }, { role: 'peer' }]);
  const stages = ['plan', 'write', 'test'].map((id) => ({ id, brief: `${id} it` }));
  const pipeline = settings({ kind: 'pipeline', stages });
  expect(pipeline.tasks?.map(({ id, after }) => [id, after])).toEqual([
    ['plan', []],
    ['write', ['plan']],
    ['test', ['plan', 'write']],
  ]);
  const before = parse({
    topology: { kind: 'pipeline', stages },
    coordination: { merger: 'off' },
    bounds: { agents: 3, turns: { worker: 7 }, leaseMinutes: 2 },
    check: 'make test',
    guide: { folder: 'guide' },
    review: { lenses: [{ name: 'bounds', sees: 'output', paths: ['src'], rate: 0.5 }] },
  });
  const { agentsMax, limits = {}, policy = {}, settings: more = {} } = settingsOf(before, 'g');
  const recorded = {
    agentsMax,
    limits: Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, String(value)])),
    policy: JSON.parse(JSON.stringify(policy)) as object,
    more,
  };
  expect(parse(recordedLayer(recorded as never))).toEqual(before);
});

test('only bounds that are set go into the budget; turns and minds of roles are the configured ones', () => {
  const models = { m: { kind: 'mailbox', dir: 'm' } };
  const some = settingsOf(
    parse({ budget: { usd: 2.5, agentMinutes: 1 }, bounds: { turns: { worker: 7 } }, models, roles: { peer: 'm' } }),
    'g',
  );
  expect(some.budget).toEqual({ nanoUsd: 2_500_000_000, ms: 60_000 });
  expect(some.roles).toMatchObject({ worker: { maxTurns: 7, model: 'worker' }, peer: { model: 'peer' } });
  expect(settingsOf(parse({}), 'g').budget).toEqual({});
});

test('the example is a configuration', async () => {
  const example = new URL('../../../../docs/examples/swarm.config.ts', import.meta.url).pathname;
  expect(parse(await loadConfig(example))).toMatchObject({ topology: { depth: 2 }, budget: { usd: 25 } });
});

test.each([
  ['coverage 81.25 %', 81.25],
  ['1\n2\n-3e2\n', -300],
  ['none', undefined],
])('the last number of %j', (text, score) => expect(lastNumber(text)).toBe(score));
