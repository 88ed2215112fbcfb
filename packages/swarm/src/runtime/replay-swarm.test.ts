import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { absent, openRepo, type Repo } from '@mound/vcs';
import type { JsonValue } from '../core/json.ts';
import { CassetteWriter, RecordingModel } from '../model/cassette/recording-model.ts';
import { ReplayModel } from '../model/cassette/replay-model.ts';
import type { Model } from '../model/model.ts';
import { ScriptedModel, type Script } from '../model/scripted-model.ts';
import { runSwarm, type SwarmResult } from './run-swarm.ts';
import { call, finish, numbered, planInBatches, readText, task, workFromInput } from './swarm.test.kit.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-replay-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function run(
  name: string,
  model: Model,
  agentsMax: number,
  before: number,
  goal = 'g',
): Promise<[SwarmResult, Record<string, string | undefined>]> {
  const repo: Repo = await openRepo(join(dir, name), { create: true });
  try {
    const author = { name: 'Ada', kind: 'human' as const };
    // Positions in the log differ from run to run.
    for (let number = 0; number < before; number++)
      await repo.land({ author, message: 'n', records: [{ key: `k${number}`, expect: absent, value: 'v' }] });
    await repo.put('list.txt', numbered(20), { author });
    // What an agent is told of others depends on who came first.
    const policy = { coordination: { 'fresh-reads': 'off' } } as const;
    const result = await runSwarm({ repo, goal, agentsMax, policy, models: { planner: model, worker: model } });
    const snapshot = repo.snapshot();
    return [result, Object.fromEntries(snapshot.list().map(({ path }) => [path, snapshot.readText(path)]))];
  } finally {
    await repo.close();
  }
}

/** Reads, then changes a line of what it read, naming the version; several do so at a time. */
const editor: Script = (view, signal) => {
  const { brief, turn, results } = view;
  if (brief.role !== 'worker' || !brief.task.id.startsWith('line-'))
    return typeof workFromInput === 'function' ? workFromInput(view, signal) : {};
  if (turn === 0) return { calls: [call('read', { path: 'list.txt' })] };
  const number = Number(brief.task.id.slice(5));
  const content = readText(view).replace(`line ${number}\n`, `line ${number} by ${brief.task.id}\n`);
  const version = results[0]?.value['version'] as number;
  return {
    calls: [call('commit', { changes: [{ path: 'list.txt', content, expect: version }], message: 'm' }), finish()],
  };
};

const batch: JsonValue[] = [
  ...[1, 9, 18].map((number) => task(`line-${number}`, null)),
  ...['a', 'b', 'c'].map((name) => task(name, [{ path: `${name}.txt`, content: name }])),
];

test('a recorded swarm gives the same tree offline: other ids, other positions, other agents at once', async () => {
  const file = join(dir, 'tape.jsonl');
  const scripted = new ScriptedModel({
    planner: planInBatches(batch, [task('last', [{ path: 'last.txt', content: 'x' }])]),
    worker: editor,
  });
  const [first, tree] = await run('recorded', new RecordingModel(scripted, new CassetteWriter(file)), 4, 0);
  expect(first).toMatchObject({ reason: 'finished', tasks: { created: 7, ended: 7 } });
  expect(tree['list.txt']).toContain('line 9 by line-9');
  for (const [agentsMax, before] of [
    [7, 3],
    [1, 11],
  ] as const) {
    const [again, sameTree] = await run(`replayed-${before}`, ReplayModel.from(file), agentsMax, before);
    expect(again).toMatchObject({ reason: 'finished', tasks: { created: 7, ended: 7, reopened: 0 } });
    expect(sameTree).toEqual(tree);
  }
});

test('a replay that diverges ends with where', async () => {
  const file = join(dir, 'tape.jsonl');
  const scripted = new ScriptedModel({ planner: planInBatches(batch), worker: editor });
  await run('recorded', new RecordingModel(scripted, new CassetteWriter(file)), 4, 0);
  const [result] = await run('replayed', ReplayModel.from(file), 4, 0, 'another goal');
  expect(result).toMatchObject({
    reason: 'planner-failed',
    detail: expect.stringContaining('messages[1].content[1].goal, from character 0: recorded "g", now "another goal"'),
  });
});
